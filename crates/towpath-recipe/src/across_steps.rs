//! What can only be seen by looking at several steps together: ids, parallel groups and the
//! variables their members write and read. It looks at one recipe; what other recipes provide is
//! the business of `resolver`.

use crate::draft::{Draft, StepDraft};
use std::collections::{HashMap, HashSet};
use towpath_core::{Diagnostic, Map, Span};

pub(crate) fn across_steps(draft: &Draft) -> Vec<Diagnostic> {
    let checker = Checker { context: &draft.context, steps: &draft.steps };
    let mut problems = checker.scattered_groups();
    for group in checker.groups() {
        problems.extend(checker.same_writers(group));
        problems.extend(checker.reads_of_mates(group));
    }
    problems.extend(checker.hidden_steps());
    problems
}

pub(crate) fn same_ids(steps: &[StepDraft]) -> Vec<Diagnostic> {
    let mut first: HashMap<&str, &StepDraft> = HashMap::new();
    let mut problems = Vec::new();
    for (step, id) in steps.iter().filter_map(|step| Some((step, step.id.as_deref()?))) {
        match first.get(id) {
            None => drop(first.insert(id, step)),
            Some(earlier) => problems.push(
                Diagnostic::error("duplicate-id", format!("two steps have the id `{id}`"))
                    .at(&step.source, step.spans.id, "again here")
                    .at(&earlier.source, earlier.spans.id, "first here"),
            ),
        }
    }
    problems
}

struct Checker<'a> {
    context: &'a Map,
    steps: &'a [StepDraft],
}

impl<'a> Checker<'a> {
    /// Neighbours with the same group name, as slices of the steps.
    fn groups(&self) -> impl Iterator<Item = &'a [StepDraft]> {
        self.steps
            .chunk_by(|a, b| a.parallel_group == b.parallel_group)
            .filter(|chunk| chunk[0].parallel_group.is_some())
    }

    fn scattered_groups(&self) -> Vec<Diagnostic> {
        // A step that could not be read may be the missing link.
        if self.steps.iter().any(|step| step.unsure) {
            return Vec::new();
        }
        let mut ended: HashMap<&str, &StepDraft> = HashMap::new();
        let mut problems = Vec::new();
        for group in self.groups() {
            let (here, last) = (&group[0], &group[group.len() - 1]);
            let Some(name) = here.parallel_group.as_deref() else { continue };
            if let Some(earlier) = ended.insert(name, last) {
                let message = format!("the steps of group `{name}` are not next to each other");
                problems.push(
                    Diagnostic::error("scattered-group", message)
                        .at(&here.source, group_span(here), "again here")
                        .at(&earlier.source, group_span(earlier), "the group ended here")
                        .help("move the steps together, or give one of the groups another name"),
                );
            }
        }
        problems
    }

    /// The variable that gets a step's output.
    fn written(&self, step: &'a StepDraft) -> Option<(&'a str, Span)> {
        match (&step.output, step.spans.output) {
            (Some(name), Some(span)) => Some((name, span)),
            _ => self.id(step).map(|id| (id, step.spans.id)),
        }
    }

    /// The step's id, where a variable of that name is the step's.
    fn id(&self, step: &'a StepDraft) -> Option<&'a str> {
        step.id.as_deref().filter(|id| !self.context.contains_key(*id))
    }

    fn same_writers(&self, group: &'a [StepDraft]) -> Vec<Diagnostic> {
        let mut writers: HashMap<&str, (&StepDraft, Span)> = HashMap::new();
        let mut problems = Vec::new();
        for (step, (name, span)) in group.iter().filter_map(|s| Some((s, self.written(s)?))) {
            if let Some((first, earlier)) = writers.insert(name, (step, span)) {
                let message = format!("two steps of one parallel group write `{name}`");
                problems.push(
                    Diagnostic::error("two-writers", message)
                        .at(&step.source, span, "again here")
                        .at(&first.source, earlier, "first here")
                        .help("which one would win is chance: give each its own `output`"),
                );
            }
        }
        problems
    }

    fn reads_of_mates(&self, group: &'a [StepDraft]) -> Vec<Diagnostic> {
        let mut writers: HashMap<&str, &StepDraft> = HashMap::new();
        for mate in group {
            if let Some(id) = self.id(mate) {
                writers.insert(id, mate);
            }
        }
        for mate in group {
            if let Some((name, _)) = self.written(mate) {
                writers.insert(name, mate);
            }
        }
        let ids: HashMap<&str, &StepDraft> =
            group.iter().filter_map(|p| Some((p.id.as_deref()?, p))).collect();
        let mut problems = Vec::new();
        for reading in group {
            for variable in &reading.uses {
                let mut segments = variable.path.segments();
                let mate = match (segments.next(), segments.next()) {
                    (Some("steps"), Some(id)) if !self.context.contains_key("steps") => ids.get(id),
                    (Some(root), _) => writers.get(root),
                    _ => None,
                };
                if let Some(mate) = mate.filter(|mate| mate.id != reading.id) {
                    problems.push(self.read_of_mate(reading, mate, variable.span));
                }
            }
        }
        problems
    }

    fn read_of_mate(&self, reading: &StepDraft, mate: &StepDraft, span: Span) -> Diagnostic {
        let (reader, writer) = (reading.shown_id(), mate.shown_id());
        let message =
            format!("step `{reader}` reads what `{writer}` writes, but both run at the same time");
        Diagnostic::error("reads-mate", message)
            .at(&reading.source, span, "not there yet")
            .at(&mate.source, mate.spans.output.unwrap_or(mate.spans.id), "written here")
            .help(format!("take step `{reader}` out of the parallel group"))
    }

    /// `{{steps.ID.…}}` is how a step ended; a variable of that name hides it.
    fn hidden_steps(&self) -> Vec<Diagnostic> {
        let mut seen = HashSet::new();
        let named = self.steps.iter().filter_map(|step| {
            let (_, span) = self.written(step).filter(|(name, _)| *name == "steps")?;
            seen.insert(span).then_some((step, span))
        });
        named
            .map(|(step, span)| {
                let message = "an output named `steps` hides the steps' results";
                Diagnostic::warning("hides-steps", message).at(
                    &step.source,
                    span,
                    "`{{steps.ID.status}}` will not work after this step",
                )
            })
            .collect()
    }
}

fn group_span(step: &StepDraft) -> Span {
    step.spans.group.unwrap_or(step.spans.id)
}
