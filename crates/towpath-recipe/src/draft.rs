//! What a recipe sets, reads and calls, also when parts of it are broken: what the analysis across
//! steps and recipes works on, so that all problems come at once. It contains names, values and
//! locations, nothing that could be run.

use crate::condition::Condition;
use crate::context_validation::ContextRule;
use crate::printed_word_for_no::{asked_no, printed_no};
use crate::recipe::{ParseJson, Recursion, StepSpans, ValueTemplate, VariableUse, Work};
use crate::stray_braces::StrayBraces;
use crate::text_map::TextMap;
use std::sync::Arc;
use towpath_core::{Map, Source, Span};

#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// The default values of the recipe's context.
    pub context: Map,
    pub required: Vec<String>,
    /// Other names under which its variables can be set, each with the variable's own.
    pub aliases: Vec<(String, String)>,
    /// What its variables must be where it is the recipe that is run.
    pub rules: Vec<ContextRule>,
    pub extends: Option<Named>,
    pub recursion: Recursion,
    pub steps: Vec<StepOutline>,
    pub hook_uses: Vec<VariableUse>,
    /// Double braces in its texts that are no placeholder.
    pub stray_braces: Vec<StrayBraces>,
    /// Its context, its steps or what it extends could not be read: they may set
    /// anything.
    pub open: bool,
    /// Its steps choose the next one, and only names that it declares are placeholders.
    pub is_machine: bool,
    pub restarts: Vec<Restart>,
    /// A machine's id with its location.
    pub id: Option<(String, Span)>,
}

/// A name by which another recipe or an agent is meant, where it is written.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub name: String,
    pub source: Arc<Source>,
    pub span: Span,
}

/// One transition that begins a recipe in a new session.
#[derive(Debug, Clone)]
pub(crate) struct Restart {
    pub recipe: String,
    /// The step and the outcome, for messages.
    pub spot: String,
    pub source: Arc<Source>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub(crate) struct StepOutline {
    pub id: Option<String>,
    pub source: Arc<Source>,
    pub span: Span,
    pub spans: StepSpans,
    pub output: Option<String>,
    /// The step's own context.
    pub context: Vec<(String, ValueTemplate)>,
    pub uses: Vec<VariableUse>,
    pub group: Option<String>,
    pub gate: Gate,
    pub continue_on_error: bool,
    pub when_tags: Vec<String>,
    pub parse_json: ParseJson,
    /// None when that could not be read.
    pub task: Option<Task>,
    /// Its id, its output or its context could not be read: it may set any variable.
    pub unsure: bool,
}

/// What a step does, as far as others need to know.
#[derive(Debug, Clone)]
pub(crate) enum Task {
    Bash {
        /// A word for "no" that it prints.
        no: Option<&'static str>,
    },
    Agent {
        named: Option<Named>,
        no: Option<&'static str>,
    },
    Call {
        recipe: Named,
        recovery: bool,
    },
}

impl Task {
    /// What a piece of work is, seen from outside; it is written in this text.
    pub fn of(work: &Work, source: &Arc<Source>) -> Task {
        let named = |name: &String, span: Span| Named {
            name: name.clone(),
            source: Arc::clone(source),
            span,
        };
        match work {
            Work::Bash { command } => Task::Bash { no: printed_no(command.text()) },
            Work::Agent(work) => Task::Agent {
                named: work.agent.as_ref().map(|a| named(&a.name, a.span)),
                no: asked_no(work.prompt.source()),
            },
            Work::Recipe { name, name_span, recovery } => {
                Task::Call { recipe: named(name, *name_span), recovery: *recovery }
            }
        }
    }
}

/// What decides whether a step runs.
#[derive(Debug, Clone, Default)]
pub(crate) enum Gate {
    #[default]
    Always,
    /// A condition that could not be read.
    Broken,
    Condition(Arc<LocatedCondition>),
}

/// A condition with the way back to the file.
#[derive(Debug)]
pub(crate) struct LocatedCondition {
    pub condition: Condition,
    pub map: TextMap,
    pub source: Arc<Source>,
    /// Its result is the same for all values; that is reported where it is read.
    pub is_constant: bool,
}

impl Gate {
    pub fn is_always(&self) -> bool {
        matches!(self, Gate::Always)
    }
}

impl Outline {
    /// The names that have or get a value before the first step.
    pub fn declared(&self) -> impl Iterator<Item = &str> {
        let ruled = self.rules.iter().map(|rule| &rule.variable);
        self.context.keys().chain(&self.required).chain(ruled).map(String::as_str)
    }

    /// The steps in the order they run: single steps, and parallel groups as one slice.
    pub fn batches(&self) -> impl Iterator<Item = &[StepOutline]> {
        self.steps.chunk_by(|a, b| a.group.is_some() && a.group == b.group)
    }
}

impl StepOutline {
    /// A step of which nothing could be read.
    pub fn unreadable(source: &Arc<Source>, span: Span) -> StepOutline {
        StepOutline {
            id: None,
            source: Arc::clone(source),
            span,
            spans: StepSpans { id: span, ..StepSpans::default() },
            output: None,
            context: Vec::new(),
            uses: Vec::new(),
            group: None,
            gate: Gate::Always,
            continue_on_error: false,
            when_tags: Vec::new(),
            parse_json: ParseJson::No,
            task: None,
            unsure: true,
        }
    }

    /// The names under which the step can be read by later ones: a called recipe's outputs are there
    /// under the step's id, beside its own output.
    pub fn writes(&self) -> impl Iterator<Item = &str> {
        let by_id = self.output.is_none()
            || !matches!(self.task, Some(Task::Bash { .. } | Task::Agent { .. }));
        let id = self.id.as_deref().filter(|_| by_id);
        id.into_iter().chain(self.output.as_deref())
    }

    pub fn shown_id(&self) -> &str {
        self.id.as_deref().unwrap_or("?")
    }

    /// The recipe that the step calls.
    pub fn calls(&self) -> Option<&Named> {
        match &self.task {
            Some(Task::Call { recipe, .. }) => Some(recipe),
            _ => None,
        }
    }

    pub fn sets_for_itself(&self, name: &str) -> bool {
        self.context.iter().any(|(key, _)| key == name)
    }
}
