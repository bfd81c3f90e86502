//! What can only be seen by looking at several steps together: ids, parallel groups and the
//! variables their members write and read. It looks at one recipe; what other recipes provide is
//! the business of `resolve`.

use crate::read::PlacedStep;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use towpath_core::{Diagnostic, Map, Source, Span};

pub(crate) fn across_steps(
    source: &Arc<Source>,
    context: &Map,
    steps: &[PlacedStep],
) -> Vec<Diagnostic> {
    let checker = Checker { source, context, steps };
    let mut problems = checker.scattered_groups();
    for group in checker.groups() {
        problems.extend(checker.same_writers(group));
        problems.extend(checker.reads_of_mates(group));
    }
    problems.extend(checker.hidden_steps());
    problems
}

pub(crate) fn same_ids(source: &Arc<Source>, ids: &[(String, Span)]) -> Vec<Diagnostic> {
    let mut first: HashMap<&str, Span> = HashMap::new();
    let mut problems = Vec::new();
    for (id, span) in ids {
        match first.get(id.as_str()) {
            None => drop(first.insert(id, *span)),
            Some(earlier) => problems.push(
                Diagnostic::error("duplicate-id", format!("two steps have the id `{id}`"))
                    .at(source, *span, "again here")
                    .at(source, *earlier, "first here"),
            ),
        }
    }
    problems
}

struct Checker<'a> {
    source: &'a Arc<Source>,
    context: &'a Map,
    steps: &'a [PlacedStep],
}

impl<'a> Checker<'a> {
    /// Neighbours with the same group name, as slices of the steps.
    fn groups(&self) -> impl Iterator<Item = &'a [PlacedStep]> {
        self.steps
            .chunk_by(|a, b| a.step.parallel_group == b.step.parallel_group)
            .filter(|chunk| chunk[0].step.parallel_group.is_some())
    }

    fn scattered_groups(&self) -> Vec<Diagnostic> {
        let mut ended: HashMap<&str, &PlacedStep> = HashMap::new();
        let mut problems = Vec::new();
        for group in self.groups() {
            let (here, last) = (&group[0], &group[group.len() - 1]);
            let Some(name) = here.step.parallel_group.as_deref() else { continue };
            if let Some(earlier) = ended.insert(name, last) {
                let message = format!("the steps of group `{name}` are not next to each other");
                problems.push(
                    Diagnostic::error("scattered-group", message)
                        .at(self.source, group_span(here), "again here")
                        .at(self.source, group_span(earlier), "the group ended here")
                        .help("move the steps together, or give one of the groups another name"),
                );
            }
        }
        problems
    }

    /// The variable that gets a step's output.
    fn written(&self, placed: &'a PlacedStep) -> Option<(&'a str, Span)> {
        let step = &placed.step;
        match (&step.output, placed.output_span) {
            (Some(name), Some(span)) => Some((name, span)),
            _ if self.context.contains_key(&step.id) => None,
            _ => Some((&step.id, placed.id_span)),
        }
    }

    fn same_writers(&self, group: &'a [PlacedStep]) -> Vec<Diagnostic> {
        let mut writers: HashMap<&str, Span> = HashMap::new();
        let mut problems = Vec::new();
        for (name, span) in group.iter().filter_map(|p| self.written(p)) {
            if let Some(earlier) = writers.insert(name, span) {
                let message = format!("two steps of one parallel group write `{name}`");
                problems.push(
                    Diagnostic::error("two-writers", message)
                        .at(self.source, span, "again here")
                        .at(self.source, earlier, "first here")
                        .help("which one would win is chance: give each its own `output`"),
                );
            }
        }
        problems
    }

    fn reads_of_mates(&self, group: &'a [PlacedStep]) -> Vec<Diagnostic> {
        let mut writers: HashMap<&str, &PlacedStep> = HashMap::new();
        for mate in group {
            if !self.context.contains_key(&mate.step.id) {
                writers.insert(&mate.step.id, mate);
            }
        }
        for mate in group {
            if let Some((name, _)) = self.written(mate) {
                writers.insert(name, mate);
            }
        }
        let ids: HashMap<&str, &PlacedStep> =
            group.iter().map(|p| (p.step.id.as_str(), p)).collect();
        let mut problems = Vec::new();
        for placed in group {
            for variable in &placed.step.uses {
                let mut segments = variable.path.segments();
                let mate = match (segments.next(), segments.next()) {
                    (Some("steps"), Some(id)) if !self.context.contains_key("steps") => ids.get(id),
                    (Some(root), _) => writers.get(root),
                    _ => None,
                };
                if let Some(mate) = mate.filter(|mate| mate.step.id != placed.step.id) {
                    problems.push(self.read_of_mate(placed, mate, variable.span));
                }
            }
        }
        problems
    }

    fn read_of_mate(&self, reader: &PlacedStep, mate: &PlacedStep, span: Span) -> Diagnostic {
        let (reader, writer) = (&reader.step.id, &mate.step.id);
        let message =
            format!("step `{reader}` reads what `{writer}` writes, but both run at the same time");
        Diagnostic::error("reads-mate", message)
            .at(self.source, span, "not there yet")
            .at(self.source, mate.output_span.unwrap_or(mate.id_span), "written here")
            .help(format!("take step `{reader}` out of the parallel group"))
    }

    /// `{{steps.ID.…}}` tells how steps went; a variable of that name hides it.
    fn hidden_steps(&self) -> Vec<Diagnostic> {
        let named = |placed: &PlacedStep| {
            self.written(placed).filter(|(name, _)| *name == "steps").map(|(_, span)| span)
        };
        let spans: HashSet<Span> = self.steps.iter().filter_map(named).collect();
        spans
            .into_iter()
            .map(|span| {
                Diagnostic::warning(
                    "hides-steps",
                    "an output named `steps` hides the steps' results",
                )
                .at(
                    self.source,
                    span,
                    "`{{steps.ID.status}}` will not work after this step",
                )
            })
            .collect()
    }
}

fn group_span(placed: &PlacedStep) -> Span {
    placed.group_span.unwrap_or(placed.id_span)
}
