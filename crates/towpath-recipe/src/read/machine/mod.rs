//! State machines: recipes whose steps report outcomes that choose the next step. All problems
//! are reported at once, each with its step, its outcome and its location in its own file. Which recipes a
//! restart means is found out by `resolver`; whether the machine can come to an end is looked at in
//! `crate::machine_analysis`.

mod compose;
mod fields;
mod include_paths;
mod library;
mod step;
mod transitions;

pub(crate) use step::WORK;

use super::{Read, ReadContext, Reader, tidy};
use crate::draft::Outline;
use crate::field_table::Section;
use crate::recipe::{Flow, Guardrails, Hooks, LimitSpans, Machine, Recipe, Recursion, Step, TIERS};
use compose::{Composed, Part, StepParts, compose};
use fields::{MachineFields, plain};
use library::Library;
use std::collections::HashMap;
use std::sync::Arc;
use towpath_core::spanned_tree::{Entry, Kind, Node, Tree};
use towpath_core::{Diagnostic, Source, Span, nearest};

/// Whether a file is a state machine: its `steps` are a map, or it has what only machines have.
pub(super) fn is_machine(root: &Node) -> bool {
    let Kind::Map(entries) = &root.kind else { return false };
    let value = |name: &str| entries.iter().find(|e| e.key == name).map(|e| &e.value.kind);
    match value("steps") {
        Some(Kind::Map(_)) => true,
        _ => {
            let own = value("initialStep").is_some() || value("guardrails").is_some();
            own && value("name").is_none()
        }
    }
}

/// The error for a map of steps in a file that has nothing else of a machine: its author forgot the
/// dashes of a list, and whatever else could be reported would follow from that.
pub(super) fn steps_meant_as_list(source: &Arc<Source>, root: &Node) -> Option<Diagnostic> {
    let Kind::Map(entries) = &root.kind else { return None };
    let steps = entries.iter().find(|e| e.key == "steps")?;
    let Kind::Map(named) = &steps.value.kind else { return None };
    let own = ["initialStep", "guardrails", "label"];
    let of_machine = |e: &Entry| match &e.value.kind {
        Kind::Map(fields) => {
            fields.iter().any(|f| ["outcomes", "onOutcome", "$ref"].contains(&f.key.as_str()))
        }
        _ => e.key == library::INCLUDE,
    };
    let has = |name: &str| entries.iter().any(|e| e.key == name);
    let is_machine =
        own.into_iter().any(has) || (has("id") && !has("name")) || named.iter().any(of_machine);
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
    let Kind::Map(entries) = &root.kind else { return false };
    let step = |e: &Entry| match &e.value.kind {
        Kind::Map(fields) => fields.iter().any(|f| ["onOutcome", "$ref"].contains(&f.key.as_str())),
        _ => e.key == library::INCLUDE || library::is_of_others(&e.key),
    };
    !entries.is_empty() && entries.iter().all(|e| library::is_of_others(&e.key) || step(e))
}

/// Reads a state machine with all the files it is made of.
pub(super) fn read(source: &Arc<Source>, tree: Tree, context: &ReadContext<'_>) -> Read {
    let Some(root) = tree.root else {
        return Read { recipe: None, problems: tree.problems, outline: Outline::default() };
    };
    let mut library = Library::load(source, &root, context.files);
    let mut problems = tree.problems;
    problems.append(&mut library.problems);
    let Composed { steps, complete, problems: found } = compose(&library);
    problems.extend(found);
    let mut reader = Reader::new(&library.files[0].source, problems, context);
    reader.outline.is_machine = true;
    // Without a context of its own it may be text for another program that is full of braces.
    if !has_context(&root) {
        reader.known = Some(context.inputs.keys().cloned().chain(outputs(&steps)).collect());
    }
    let mut machine = MachineReader { reader: &mut reader, library: &library, complete };
    let recipe = machine.recipe(&root, &steps);
    let problems = tidy(reader.fields.problems);
    let broken = problems.iter().any(Diagnostic::is_error);
    Read { recipe: recipe.filter(|_| !broken), problems, outline: reader.outline }
}

fn has_context(root: &Node) -> bool {
    let Kind::Map(fields) = &root.kind else { return false };
    fields.iter().any(|field| field.key == "context")
}

/// The names under which the steps of a machine keep their outputs.
fn outputs(steps: &[StepParts<'_>]) -> impl Iterator<Item = String> {
    let fields = steps.iter().flat_map(|step| &step.fields);
    fields.filter_map(|part| match (part.entry.key.as_str(), &part.entry.value.kind) {
        ("output", Kind::Text(name)) => Some(name.clone()),
        _ => None,
    })
}

/// What the steps of a machine are read with.
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

struct MachineReader<'r, 'l> {
    reader: &'r mut Reader<'l>,
    library: &'l Library,
    complete: bool,
}

impl<'l> MachineReader<'_, 'l> {
    fn source(&self, file: usize) -> &'l Arc<Source> {
        &self.library.files[file].source
    }

    /// Reports a problem of the file that is being read.
    fn error(&mut self, code: &'static str, message: String, span: Span, label: &str) {
        let problem = Diagnostic::error(code, message).at(self.reader.source, span, label);
        self.reader.problems.push(problem);
    }

    /// Reads something in the file it is written in.
    fn within<T>(&mut self, part: Part<'l>, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.reader.source;
        self.reader.source = self.source(part.file);
        let value = read(self);
        self.reader.source = before;
        value
    }

    fn recipe(&mut self, root: &'l Node, steps: &[StepParts<'l>]) -> Option<Recipe> {
        let Kind::Map(entries) = &root.kind else { return None };
        let parts = entries.iter().map(|entry| Part { file: 0, entry });
        let fields = self.fields(parts, Section::Machine, "recipe");
        self.reader.outline.open |= fields.has_misspelt("context") || fields.has_misspelt("steps");
        self.missing(&fields, "", self.reader.source.line_from(root.span.start));
        let id = self.id(&fields);
        let label = self.non_empty_text(&fields, "label");
        let description = self.non_empty_text(&fields, "description");
        let guardrails = self.guardrails(&fields);
        let model = self.model(&fields, "at recipe level");
        let context = self.reader.context(&plain(&fields));
        let requires = self.reader.requirements(plain(&fields).get("requires"));
        let sandbox = self.reader.sandbox(plain(&fields).get("sandbox"));
        let fail_fast = self.reader.bool(plain(&fields).get("fail_fast"));
        self.steps_shape(&fields);
        let names = steps.iter().enumerate();
        let around = Around {
            names: names.map(|(index, step)| (step.site.entry.key.as_str(), index)).collect(),
            complete: self.complete,
            exit_on_other: guardrails.is_none_or(|(limits, _)| limits.exit_on_other),
        };
        let initial = self.initial(&fields, &around);
        let steps: Vec<Option<Step>> = steps.iter().map(|step| self.step(step, &around)).collect();
        let steps: Vec<Step> = steps.into_iter().collect::<Option<_>>()?;
        let (guardrails, limits) = guardrails?;
        let machine = Machine { label: label?.0, initial: initial?, guardrails, limits, model };
        Some(Recipe {
            source: Arc::clone(self.source(0)),
            name: id?,
            version: String::new(),
            description: description?.0,
            author: String::new(),
            tags: Vec::new(),
            context,
            extends: None,
            required_context: Vec::new(),
            requires,
            sandbox,
            fail_fast,
            dialect: self.reader.dialect,
            recursion: Recursion::default(),
            hooks: Hooks::default(),
            flow: Flow::Machine(machine),
            steps,
            batches: std::sync::OnceLock::new(),
        })
    }

    fn id(&mut self, fields: &MachineFields<'l>) -> Option<String> {
        let (id, span) = self.non_empty_text(fields, "id")?;
        if !is_kebab_case(&id) {
            let label = "use small letters and digits, with `-` between words";
            self.error("bad-id", format!("Recipe id '{id}' is not kebab-case"), span, label);
            return None;
        }
        self.reader.outline.id = Some((id.clone(), span));
        Some(id)
    }

    fn initial(&mut self, fields: &MachineFields<'l>, around: &Around<'_>) -> Option<usize> {
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

    fn steps_shape(&mut self, fields: &MachineFields<'l>) {
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

    fn guardrails(&mut self, fields: &MachineFields<'l>) -> Option<(Guardrails, LimitSpans)> {
        let part = fields.get("guardrails")?;
        let Kind::Map(entries) = &part.entry.value.kind else {
            let message = "'guardrails' must be an object; `{}` takes the defaults".to_owned();
            self.error("wrong-type", message, part.entry.key_defined, "");
            return None;
        };
        let before = self.reader.problems.len();
        let parts = entries.iter().map(|entry| Part { file: part.file, entry });
        let limits = self.fields(parts, Section::Guardrails, "guardrails");
        let default = Guardrails::default();
        let read = Guardrails {
            max_step_visits: self
                .limit(&limits, "maxStepVisits")
                .unwrap_or(default.max_step_visits),
            max_total_steps: self
                .limit(&limits, "maxTotalSteps")
                .unwrap_or(default.max_total_steps),
            exit_on_other: self.flag(&limits, "exitOnOther").unwrap_or(default.exit_on_other),
        };
        let span = |name: &str| limits.get(name).map(|part| part.entry.value.defined);
        let spans = LimitSpans {
            max_step_visits: span("maxStepVisits"),
            max_total_steps: span("maxTotalSteps"),
        };
        (self.reader.problems.len() == before).then_some((read, spans))
    }

    fn limit(&mut self, limits: &MachineFields<'l>, name: &str) -> Option<u32> {
        let node = &limits.get(name)?.entry.value;
        let number = match &node.kind {
            Kind::Number(number) => number.to_string().parse::<u32>().ok().filter(|n| *n > 0),
            _ => None,
        };
        let what = format!("Guardrail '{name}'");
        if number.is_none() && !self.reader.too_great(node, &what, u32::MAX.into()) {
            let message = format!("{what} must be a positive integer");
            self.error("wrong-type", message, node.defined, "");
        }
        number
    }

    fn flag(&mut self, limits: &MachineFields<'l>, name: &str) -> Option<bool> {
        let node = &limits.get(name)?.entry.value;
        if let Kind::Bool(value) = node.kind {
            return Some(value);
        }
        let message = format!("Guardrail '{name}' must be true or false");
        self.error("wrong-type", message, node.defined, "");
        None
    }

    /// A model tier; null counts as absent.
    fn model(&mut self, fields: &MachineFields<'l>, level: &str) -> Option<String> {
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
