//! A recipe that has been read and checked. An invalid recipe has no value of these types.

use crate::condition::Condition;
use crate::dialect::Dialect;
use crate::field_table::StepKind;
use crate::step_options::{CommandOptions, StepOptions};
use serde::{Deserialize, Serialize};
use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use towpath_core::{Map, Requirement, Source, Span, Template, Value, VarPath};
use towpath_document::{DocumentSet, Roots};
use towpath_shell::{FailFast, ShellText};

/// A recipe that can run: what was read of it, with what is sure once it is sound.
#[derive(Debug, Clone)]
pub struct Recipe {
    pub name: String,
    pub flow: Flow,
    /// In the file's order; a machine's included steps are where they are included.
    pub steps: Vec<Step>,
    pub(crate) fields: Arc<RecipeFields>,
    /// See [`Recipe::batches`]; found once.
    pub(crate) batches: OnceLock<Vec<Range<usize>>>,
}

/// The fields of a recipe that it has also while others of them are wrong.
#[derive(Debug, Clone, Default)]
pub struct RecipeFields {
    pub source: Arc<Source>,
    pub version: String,
    pub description: String,
    pub author: String,
    pub tags: Vec<String>,
    /// Default values, in the file's order.
    pub context: Map,
    /// The recipe this one builds on. What it gives is in the fields here once the plan is made.
    pub extends: Option<Named>,
    /// Variables that must have a value before the first step.
    pub required_context: Vec<String>,
    /// Programs that must be there before the first step.
    pub requires: Vec<RequiredProgram>,
    /// For the steps that do not state them.
    pub options: StepOptions,
    /// By whose rules it was read.
    pub dialect: Dialect,
    pub recursion: Recursion,
    pub hooks: Hooks,
}

impl Deref for Recipe {
    type Target = RecipeFields;

    fn deref(&self) -> &RecipeFields {
        &self.fields
    }
}

/// How the next step is chosen.
#[derive(Debug, Clone, Default)]
pub enum Flow {
    /// By the order of the steps.
    #[default]
    Sequence,
    /// By the outcome of the last one.
    Machine(Machine),
}

/// The parts of a state machine beside its steps. The recipe's `name` is the machine's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    pub label: String,
    /// The index of the step it begins with.
    pub initial: usize,
    pub guardrails: Guardrails,
    /// Where its own limits are written, as far as they are.
    pub(crate) limits: LimitSpans,
    /// The model tier of steps that name none.
    pub model: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guardrails {
    /// How often one step may be entered in one session.
    pub max_step_visits: u32,
    /// How many steps one session may have.
    pub max_total_steps: u32,
    pub exit_on_other: bool,
}

impl Default for Guardrails {
    fn default() -> Guardrails {
        Guardrails { max_step_visits: 3, max_total_steps: 100, exit_on_other: true }
    }
}

/// Locations that only the findings need.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LimitSpans {
    pub max_step_visits: Option<Span>,
    pub max_total_steps: Option<Span>,
}

/// One thing a machine's step may report, and what follows from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub name: String,
    pub then: Transition,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transition {
    /// The index of the next step.
    Next(usize),
    Exit {
        reason: String,
        ending: Ending,
    },
    /// The same frame restarts with that recipe's first step, in a session of its own.
    Restart {
        recipe: String,
        span: Span,
    },
}

/// The meaning of an exit for the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// The run is done.
    #[default]
    Success,
    /// An exit without success: the run has failed.
    Failure,
    /// `action: fail`: the run has failed, under every name of the program.
    Fail,
    /// The user must decide before the run continues.
    Ask,
}

impl Ending {
    /// The ending of an exit that does not state one. `other` is never success by itself.
    pub fn unstated(outcome: &str) -> Ending {
        if outcome == OTHER { Ending::Failure } else { Ending::Success }
    }

    pub fn failed(self) -> bool {
        matches!(self, Ending::Failure | Ending::Fail)
    }

    /// Before the reason: `exit done`, `fail gave-up`, `ask clarification-needed`.
    pub fn as_str(self) -> &'static str {
        match self {
            Ending::Success => "exit",
            Ending::Failure | Ending::Fail => "fail",
            Ending::Ask => "ask",
        }
    }
}

/// The outcome that every step should have: none of the others fits.
pub const OTHER: &str = "other";

/// A name by which another recipe, an agent or a mode is meant, where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub name: String,
    pub source: Arc<Source>,
    pub span: Span,
}

/// Limits as the recipe states them; what it does not state does not bind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Recursion {
    pub max_depth: Option<u32>,
    pub max_total_steps: Option<u32>,
}

impl Recursion {
    pub const DEFAULT_MAX_DEPTH: u32 = 6;
    pub const DEFAULT_MAX_TOTAL_STEPS: u32 = 200;
}

#[derive(Debug, Clone, Default)]
pub struct Hooks {
    pub pre_step: Option<ShellText>,
    pub post_step: Option<ShellText>,
    pub on_error: Option<ShellText>,
    /// The variables the hooks read.
    pub uses: Vec<VariableUse>,
}

/// The field of a use in the prose of a `prompt_file`.
pub(crate) const DOCUMENT_PROSE: &str = "prompt_file";
/// The field of a use in a command, an argument, a string or a path of a `prompt_file`.
pub(crate) const DOCUMENT_VALUE: &str = "prompt_file directive";

/// A program that must be there, where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredProgram {
    pub requirement: Requirement,
    /// The file it is in: a step may come from a recipe that this one extends.
    pub source: Arc<Source>,
    pub span: Span,
}

/// One use of a variable in a recipe's source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableUse {
    pub path: VarPath,
    /// The file it is in: a step may come from a recipe that this one extends.
    pub source: Arc<Source>,
    pub span: Span,
    /// The field it is in, such as `command`.
    pub field: &'static str,
    /// The text itself has a default for a missing value.
    pub has_default: bool,
}

impl VariableUse {
    /// The consequence of a variable without a value.
    pub(crate) fn without_value(&self) -> &'static str {
        match self.field {
            DOCUMENT_PROSE => "it stays as it is written",
            DOCUMENT_VALUE => "the step will fail",
            _ => "it will be empty",
        }
    }

    /// In a condition an unset variable is null by design; elsewhere it is probably a slip.
    pub fn is_condition(&self) -> bool {
        self.field == "condition"
    }
}

/// A step that can run: what was read of it, with what is sure once it is sound.
#[derive(Debug, Clone)]
pub struct Step {
    pub id: String,
    pub condition: Option<Condition>,
    pub work: Work,
    /// The outcomes that a machine's step may report, in their order; none in a sequence.
    pub outcomes: Vec<Outcome>,
    pub(crate) fields: Arc<StepFields>,
}

/// The fields of a step that it has also while others of them are wrong.
#[derive(Debug, Clone, Default)]
pub struct StepFields {
    /// The text the step is written in: the recipe's own, or that of one it extends.
    pub source: Arc<Source>,
    /// The whole step in its source, for comparing an edited recipe and for messages.
    pub span: Span,
    pub(crate) spans: StepSpans,
    /// Where else it is written: the steps that a machine's step refers to.
    pub(crate) also: Vec<(Arc<Source>, Span)>,
    /// The variable that gets the output; see [`Recipe::output_name`] for a step without it.
    pub output: Option<String>,
    pub continue_on_error: bool,
    pub timeout: Option<Duration>,
    pub working_dir: Option<Template>,
    pub parallel_group: Option<String>,
    /// Variables for this step only, or overrides for the recipe it calls.
    pub context: Vec<(String, ValueTemplate)>,
    pub effect: Effect,
    /// Programs that must be there before the first step of the run.
    pub requires: Vec<RequiredProgram>,
    /// As the step states them; see [`Recipe::command_options`].
    pub options: StepOptions,
    /// The step runs only when one of these is asked for; without any it always does.
    pub when_tags: Vec<String>,
    pub parse_json: ParseJson,
    /// The variables the step reads, in all its fields.
    pub uses: Vec<VariableUse>,
}

impl Deref for Step {
    type Target = StepFields;

    fn deref(&self) -> &StepFields {
        &self.fields
    }
}

/// Locations that only the checks across steps need.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StepSpans {
    pub id: Span,
    pub output: Option<Span>,
    pub group: Option<Span>,
}

/// Whether the JSON is taken out of an output, and what it means when there is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ParseJson {
    #[default]
    No,
    /// Without JSON the step is degraded and its text stays text.
    Wanted,
    /// Without JSON the step fails.
    Required,
}

/// Whether an effect that was interrupted may run again without asking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Effect {
    #[default]
    Repeatable,
    Once,
}

#[derive(Debug, Clone)]
pub enum Work {
    Bash { command: ShellText },
    Agent(AgentWork),
    Recipe { name: String, name_span: Span, recovery: bool },
}

#[derive(Debug, Clone)]
pub struct AgentWork {
    /// Where the prompt is made of a document, that document's text.
    pub prompt: Template,
    pub document: Option<Arc<PromptDocument>>,
    /// Whose instructions the agent gets, by reference.
    pub agent: Option<Named>,
    pub model: Option<String>,
    /// How the agent is to work, in the words of its program.
    pub mode: Option<Named>,
    /// Whether the files it changes are staged in git.
    pub auto_stage: bool,
}

/// A document that a prompt is made of.
#[derive(Debug)]
pub struct PromptDocument {
    /// With its imports; it was checked.
    pub set: DocumentSet,
    /// Where its relative paths begin, with `/` at its end; none where the recipe is no file.
    pub directory: Option<String>,
    pub roots: Roots,
}

impl Work {
    pub fn kind(&self) -> StepKind {
        match self {
            Work::Bash { .. } => StepKind::Bash,
            Work::Agent(_) => StepKind::Agent,
            Work::Recipe { .. } => StepKind::Recipe,
        }
    }
}

/// A context value whose strings are templates, at any depth.
#[derive(Debug, Clone, PartialEq)]
pub enum ValueTemplate {
    Plain(Value),
    Text(Template),
    List(Vec<ValueTemplate>),
    Map(Vec<(String, ValueTemplate)>),
}

impl ValueTemplate {
    pub fn new(value: &Value) -> ValueTemplate {
        ValueTemplate::known(value, &|_| true)
    }

    /// Only names that are known make a placeholder.
    pub fn known(value: &Value, known: &dyn Fn(&VarPath) -> bool) -> ValueTemplate {
        let inner = |value: &Value| ValueTemplate::known(value, known);
        match value {
            Value::String(text) => ValueTemplate::Text(Template::parse_where(text, known)),
            Value::Array(items) => ValueTemplate::List(items.iter().map(inner).collect()),
            Value::Object(map) => {
                ValueTemplate::Map(map.iter().map(|(k, v)| (k.clone(), inner(v))).collect())
            }
            plain => ValueTemplate::Plain(plain.clone()),
        }
    }

    pub fn render(&self, scope: &Map) -> Value {
        match self {
            ValueTemplate::Plain(value) => value.clone(),
            ValueTemplate::Text(template) => template.render_value(scope),
            ValueTemplate::List(items) => items.iter().map(|i| i.render(scope)).collect(),
            ValueTemplate::Map(items) => {
                items.iter().map(|(k, v)| (k.clone(), v.render(scope))).collect::<Map>().into()
            }
        }
    }
}

impl Recipe {
    pub fn step_index(&self, id: &str) -> Option<usize> {
        self.steps.iter().position(|s| s.id == id)
    }

    pub fn machine(&self) -> Option<&Machine> {
        match &self.flow {
            Flow::Machine(machine) => Some(machine),
            Flow::Sequence => None,
        }
    }

    /// The text of a step as its author wrote it.
    pub fn step_text<'a>(&self, step: &'a Step) -> &'a str {
        step.source.text.get(step.span.range()).unwrap_or("")
    }

    /// Takes out the programs that it and its steps require: who runs it replaces what needs them.
    pub fn require_nothing(&mut self) {
        Arc::make_mut(&mut self.fields).requires.clear();
        self.steps.iter_mut().for_each(|step| Arc::make_mut(&mut step.fields).requires.clear());
    }

    /// How a step's command runs; nothing but a command has these options.
    pub fn command_options(&self, step: &Step) -> CommandOptions {
        let stated = step.options.or(self.options);
        stated.of_command(step.work.kind() == StepKind::Bash, self.dialect)
    }

    /// Whether a step's work runs in a sandbox. Only a command does.
    pub fn is_sandboxed(&self, step: &Step) -> bool {
        self.command_options(step).sandbox
    }

    /// Which failures end a step's command, or a hook where there is no step.
    pub fn fails_on(&self, step: Option<&Step>) -> FailFast {
        let stated = step.map_or(self.options, |step| step.options.or(self.options));
        stated.fails_on(self.dialect)
    }

    /// The name under which a step's output is stored, if it is: without one of its own that is the
    /// step's id, unless a context key has that name. A machine keeps only what is named.
    pub fn output_name<'a>(&'a self, step: &'a Step) -> Option<&'a str> {
        match &step.output {
            Some(name) => Some(name),
            None if self.machine().is_some() || self.context.contains_key(&step.id) => None,
            None => Some(&step.id),
        }
    }

    /// The steps in the order they run: single steps, and parallel groups as one range.
    pub fn batches(&self) -> &[Range<usize>] {
        self.batches.get_or_init(|| batches(&self.steps))
    }
}

/// Steps with the same `parallel_group` form a batch where they follow each other; any other step is
/// a batch by itself.
pub(crate) fn batches<S: Deref<Target = StepFields>>(steps: &[S]) -> Vec<Range<usize>> {
    let mut next = 0;
    let mates = |a: &S, b: &S| a.parallel_group.is_some() && a.parallel_group == b.parallel_group;
    let range = |batch: &[S]| {
        let start = next;
        next += batch.len();
        start..next
    };
    steps.chunk_by(mates).map(range).collect()
}
