//! State machines: recipes whose steps report outcomes that choose the next step. All problems
//! are reported at once, each with its step, its outcome and its location in its own file. Which recipes a
//! restart means is found out by `resolver`; whether the machine can come to an end is looked at in
//! `crate::machine_analysis`.

mod compose;
mod fields;
mod library;
mod step;
mod transitions;

pub(crate) use step::WORK;

use super::section::{FieldMap, Part};
use super::{ReadContext, Reader};
use crate::draft::Draft;
use crate::field_table::{Section, TIERS};
use crate::recipe::{Guardrails, LimitSpans, Machine, RecipeFields};
use compose::{Composed, StepParts, compose};
use library::Library;
use std::collections::HashMap;
use std::sync::Arc;
use towpath_core::spanned_tree::{Entry, Kind, Node};
use towpath_core::{Diagnostic, Source, nearest};

/// Whether a file is a state machine: its `steps` are a map, or it has what only machines have.
pub(super) fn is_machine(root: &Node) -> bool {
    let has = |name: &str| root.get(name).is_some();
    match root.get("steps").map(|steps| &steps.value.kind) {
        Some(Kind::Map(_)) => true,
        _ => (has("initialStep") || has("guardrails")) && !has("name"),
    }
}

/// The error for a map of steps in a file that has nothing else of a machine: its author forgot the
/// dashes of a list, and whatever else could be reported would follow from that.
pub(super) fn steps_meant_as_list(source: &Arc<Source>, root: &Node) -> Option<Diagnostic> {
    let steps = root.get("steps")?;
    let Kind::Map(named) = &steps.value.kind else { return None };
    let of_machine = |e: &Entry| match &e.value.kind {
        Kind::Map(_) => has_one_of(e, &["outcomes", "onOutcome", library::REF]),
        _ => e.key == library::INCLUDE,
    };
    let has = |name: &str| root.get(name).is_some();
    let is_machine = ["initialStep", "guardrails", "label"].into_iter().any(has)
        || (has("id") && !has("name"))
        || named.iter().any(of_machine);
    if is_machine {
        return None;
    }
    let begin = match named.first() {
        Some(dash) if dash.key.starts_with('-') => {
            format!("a space is missing after the `-`: write `- {}: …`", &dash.key[1..])
        }
        // One step, written as if it were the list.
        Some(_) if named.iter().any(|field| ["id", "command", "prompt"].contains(&field.key.as_str())
            && !matches!(field.value.kind, Kind::Map(_))) =>
        {
            "begin each step with a `-`: write `- id: …` and indent its other fields by 2 more spaces"
                .to_owned()
        }
        Some(step) => format!("begin each step with `- id: {}`", step.key),
        None => "begin each step with `- id: NAME`".to_owned(),
    };
    let problem = Diagnostic::error("steps-map", "`steps` is a map: did you mean a list?");
    let problem = problem.at(source, steps.key_defined, begin);
    Some(problem.help("a map of steps is a state machine, which has an `initialStep`"))
}

/// Whether a file is one of steps for machines to include. It is no recipe.
pub(super) fn is_steps_file(root: &Node) -> bool {
    let step = |e: &Entry| match &e.value.kind {
        Kind::Map(_) => has_one_of(e, &["onOutcome", library::REF]),
        _ => e.key == library::INCLUDE || library::is_of_others(&e.key),
    };
    let entries = root.entries();
    !entries.is_empty() && entries.iter().all(|e| library::is_of_others(&e.key) || step(e))
}

fn has_one_of(step: &Entry, fields: &[&str]) -> bool {
    fields.iter().any(|field| step.value.get(field).is_some())
}

/// Reads a state machine with all the files it is made of.
pub(super) fn read(
    source: &Arc<Source>,
    root: &Node,
    mut draft: Draft,
    mut problems: Vec<Diagnostic>,
    context: &ReadContext<'_>,
) -> (Draft, Vec<Diagnostic>) {
    let mut library = Library::load(source, root, context.files);
    problems.append(&mut library.problems);
    let Composed { steps, complete, problems: found } = compose(&library);
    problems.extend(found);
    draft.is_machine = true;
    draft.open = !problems.is_empty();
    let mut reader = Reader::new(source, draft, problems, context);
    // Without a context of its own it may be text for another program that is full of braces.
    if root.get("context").is_none() {
        reader.known = Some(context.inputs.keys().cloned().chain(outputs(&steps)).collect());
    }
    reader.machine(root, &steps, complete);
    (reader.draft, reader.fields.problems)
}

/// The names under which the steps of a machine keep their outputs.
fn outputs(steps: &[StepParts<'_>]) -> impl Iterator<Item = String> {
    let fields = steps.iter().flat_map(|step| &step.fields).map(|part| part.entry);
    let outputs = fields.filter(|entry| entry.key == "output");
    outputs.filter_map(|entry| entry.value.text().map(str::to_owned))
}

/// The other steps and the limits that a step of a machine is read with.
struct Around<'l> {
    /// The indices of the steps by their names.
    names: HashMap<&'l str, usize>,
    /// All files with steps could be read. Else it is unknown which names there are.
    complete: bool,
    exit_on_other: bool,
}

impl Around<'_> {
    /// The label under a step's name that is not there.
    fn label(&self, name: &str) -> String {
        if name.starts_with(library::OTHERS) {
            return format!("what begins with '{}' is left alone and is no step", library::OTHERS);
        }
        near(name, self.names.keys().copied())
    }
}

impl<'l> Reader<'l> {
    fn machine(&mut self, root: &'l Node, steps: &[StepParts<'l>], complete: bool) {
        let source = self.source;
        let parts = root.entries().iter().map(|entry| Part { file: 0, source, entry });
        let fields = self.machine_fields(parts, Section::Machine, "recipe");
        self.draft.open |= fields.has_misspelt("context") || fields.has_misspelt("steps");
        self.missing_fields(&fields, "", source.line_from(root.span.start));
        self.draft.name = self.machine_id(&fields);
        let label = self.non_empty_text(&fields, "label");
        let description = self.non_empty_text(&fields, "description");
        let guardrails = self.guardrails(&fields);
        let model = self.model(&fields, "at recipe level");
        let recipe = RecipeFields {
            description: description.map_or(String::new(), |(text, _)| text),
            context: self.context(&fields),
            requires: self.requirements(fields.get("requires")),
            options: self.step_options(&fields),
            ..(*self.draft.fields).clone()
        };
        self.draft.fields = Arc::new(recipe);
        self.steps_shape(&fields);
        let names = steps.iter().enumerate();
        let around = Around {
            names: names.map(|(index, step)| (step.site.entry.key.as_str(), index)).collect(),
            complete,
            exit_on_other: guardrails.is_none_or(|(limits, _)| limits.exit_on_other),
        };
        let initial = self.initial(&fields, &around);
        for step in steps {
            self.within(step.site, |reader| reader.machine_step(step, &around));
        }
        if let (Some((guardrails, limits)), Some((label, _)), Some(initial)) =
            (guardrails, label, initial)
        {
            self.draft.machine = Some(Machine { label, initial, guardrails, limits, model });
        }
    }

    fn machine_id(&mut self, fields: &FieldMap<'l>) -> Option<String> {
        let (id, span) = self.non_empty_text(fields, "id")?;
        if !is_kebab_case(&id) {
            let label = "use small letters and digits, with `-` between words";
            self.error("bad-id", format!("Recipe id '{id}' is not kebab-case"), span, label);
            return None;
        }
        self.draft.id = Some(span);
        Some(id)
    }

    fn initial(&mut self, fields: &FieldMap<'l>, around: &Around<'_>) -> Option<usize> {
        let (name, span) = self.non_empty_text(fields, "initialStep")?;
        // Without steps that can be read, one problem is enough.
        if !matches!(fields.get("steps")?.entry.value.kind, Kind::Map(_)) {
            return None;
        }
        let found = around.names.get(name.as_str()).copied();
        if found.is_none() && around.complete {
            let message = format!("Initial step not found in steps: {name}");
            let label = around.label(&name);
            self.error("unknown-step", message, span, &label);
        }
        found
    }

    fn steps_shape(&mut self, fields: &FieldMap<'l>) {
        let Some(part) = fields.get("steps") else { return };
        if !matches!(part.entry.value.kind, Kind::Map(_)) {
            let is = part.entry.value.describe();
            let message = format!("'steps' must be an object of steps, this is {is}");
            let label = match &part.entry.value.kind {
                Kind::List(_) => {
                    "write each step as `NAME:` with its fields below it, without `- id`"
                }
                _ => "",
            };
            self.error("wrong-type", message, part.entry.key_defined, label);
        }
    }

    fn guardrails(&mut self, fields: &FieldMap<'l>) -> Option<(Guardrails, LimitSpans)> {
        let part = fields.get("guardrails")?;
        let Kind::Map(entries) = &part.entry.value.kind else {
            let message = "'guardrails' must be an object; `{}` takes the defaults".to_owned();
            self.error("wrong-type", message, part.entry.key_defined, "");
            return None;
        };
        let before = self.problems.len();
        let parts = entries.iter().map(|entry| Part { entry, ..part });
        let limits = self.machine_fields(parts, Section::Guardrails, "guardrails");
        let default = Guardrails::default();
        let read = Guardrails {
            max_step_visits: self
                .limit(&limits, "maxStepVisits")
                .unwrap_or(default.max_step_visits),
            max_total_steps: self
                .limit(&limits, "maxTotalSteps")
                .unwrap_or(default.max_total_steps),
            exit_on_other: self.guardrail(&limits, "exitOnOther").unwrap_or(default.exit_on_other),
        };
        let span = |name: &str| limits.get(name).map(|part| part.entry.value.defined);
        let spans = LimitSpans {
            max_step_visits: span("maxStepVisits"),
            max_total_steps: span("maxTotalSteps"),
        };
        (self.problems.len() == before).then_some((read, spans))
    }

    fn limit(&mut self, limits: &FieldMap<'l>, name: &str) -> Option<u32> {
        let node = &limits.get(name)?.entry.value;
        let number = match &node.kind {
            Kind::Number(number) => number.to_string().parse::<u32>().ok().filter(|n| *n > 0),
            _ => None,
        };
        let what = format!("Guardrail '{name}'");
        if number.is_none() && !self.too_great(node, &what, u32::MAX.into()) {
            let message = format!("{what} must be a positive integer");
            self.error("wrong-type", message, node.defined, "");
        }
        number
    }

    fn guardrail(&mut self, limits: &FieldMap<'l>, name: &str) -> Option<bool> {
        let node = &limits.get(name)?.entry.value;
        if let Kind::Bool(value) = node.kind {
            return Some(value);
        }
        let message = format!("Guardrail '{name}' must be true or false");
        self.error("wrong-type", message, node.defined, "");
        None
    }

    /// A model tier; null counts as absent.
    fn model(&mut self, fields: &FieldMap<'l>, level: &str) -> Option<String> {
        let part = fields.get("model")?;
        let node = &part.entry.value;
        let written = match &node.kind {
            Kind::Null => return None,
            Kind::Text(text) if TIERS.contains(&text.as_str()) => return Some(text.clone()),
            Kind::Text(text) => text.clone(),
            _ => node.value().to_string(),
        };
        let message =
            format!("Invalid model '{written}' {level}. Valid models: {}", TIERS.join(", "));
        let label = near(&written.to_lowercase(), TIERS);
        self.within(part, |read| read.error("bad-choice", message, node.defined, &label));
        None
    }
}

/// The end of a message about a name that is not there.
fn near<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let mut known: Vec<&str> = known.into_iter().collect();
    known.sort_unstable();
    nearest(name, known).map_or(String::new(), |near| format!("did you mean '{near}'?"))
}

/// Small letters and digits, with `-` between words.
pub fn is_kebab_case(id: &str) -> bool {
    let word = |word: &str| {
        let small = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        !word.is_empty() && word.chars().all(small)
    };
    id.split('-').all(word)
}
