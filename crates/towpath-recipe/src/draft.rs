//! A recipe as it was read, also when parts of it are broken: one value that the checks look at, that
//! takes over what the recipe extends, and that the [`Recipe`] is made from once it is sound.

use crate::condition::Condition;
use crate::context_rule::ContextRule;
use crate::field_table::StepKind;
use crate::recipe::{
    Flow, Hooks, Machine, Named, Outcome, Recipe, RecipeFields, Recursion, Step, StepFields,
    StepSpans, Work, batches,
};
use crate::stray_braces::StrayBraces;
use crate::text_map::TextMap;
use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};
use towpath_core::{Map, Source, Span};

/// A longer chain of recipes that extend each other is a mistake, or an attack on the reader.
pub(crate) const MAX_LEVELS: usize = 32;

#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub name: Option<String>,
    pub fields: Arc<RecipeFields>,
    pub steps: Vec<StepDraft>,
    /// Other names under which its variables can be set, each with the variable's own.
    pub aliases: Vec<(String, String)>,
    /// Rules for its variables where it is the recipe that is run.
    pub rules: Vec<ContextRule>,
    /// Double braces in its texts that are no placeholder.
    pub stray_braces: Vec<StrayBraces>,
    /// Its steps choose the next one, and only names that it declares are placeholders.
    pub is_machine: bool,
    /// None when that could not be read.
    pub machine: Option<Machine>,
    pub restarts: Vec<Restart>,
    /// The location of a machine's id.
    pub id: Option<Span>,
    /// Its context, its steps or what it extends could not be read: they may set anything.
    pub open: bool,
    /// Something in it is an error.
    pub broken: bool,
}

/// One transition that begins a recipe in a new session.
#[derive(Debug, Clone)]
pub(crate) struct Restart {
    pub named: Named,
    /// The step and the outcome, for messages.
    pub spot: String,
}

#[derive(Debug, Clone)]
pub(crate) struct StepDraft {
    pub id: Option<String>,
    pub fields: Arc<StepFields>,
    pub gate: Gate,
    /// None when that could not be read.
    pub work: Option<Work>,
    /// The recipe or agent that its work names: also of work that could not be read.
    pub names: Option<(StepKind, Named)>,
    pub outcomes: Option<Vec<Outcome>>,
    /// Its id, its output or its context could not be read: it may set any variable.
    pub unsure: bool,
}

/// The condition under which a step runs.
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

impl Deref for Draft {
    type Target = RecipeFields;

    fn deref(&self) -> &RecipeFields {
        &self.fields
    }
}

impl Deref for StepDraft {
    type Target = StepFields;

    fn deref(&self) -> &StepFields {
        &self.fields
    }
}

impl Draft {
    /// The recipe, if it is sound.
    pub fn recipe(&self) -> Option<Recipe> {
        if self.broken {
            return None;
        }
        Some(Recipe {
            name: self.name.clone()?,
            flow: match self.is_machine {
                true => Flow::Machine(self.machine.clone()?),
                false => Flow::Sequence,
            },
            steps: self.steps.iter().map(StepDraft::step).collect::<Option<_>>()?,
            fields: Arc::clone(&self.fields),
            batches: OnceLock::new(),
        })
    }

    /// The names that have or get a value before the first step.
    pub fn declared(&self) -> impl Iterator<Item = &str> {
        let ruled = self.rules.iter().map(|rule| &rule.variable);
        self.context.keys().chain(&self.required_context).chain(ruled).map(String::as_str)
    }

    /// The steps in the order they run: single steps, and parallel groups as one slice.
    pub fn batches(&self) -> impl Iterator<Item = (Range<usize>, &[StepDraft])> {
        batches(&self.steps).into_iter().map(|range| (range.clone(), &self.steps[range]))
    }

    /// The recipe joined with the one it extends. The parent's steps come first; a step of the child
    /// with the id of one of the parent's replaces it; context, hooks, options, limits and
    /// required variables are joined key by key, and the child wins; of required programs both count.
    pub fn extending(&self, parent: &Draft) -> Draft {
        let ruled =
            |rule: &&ContextRule| !self.rules.iter().any(|own| own.variable == rule.variable);
        let fields = RecipeFields {
            context: joined_contexts(&parent.context, &self.context),
            required_context: joined_names(&parent.required_context, &self.required_context),
            options: self.options.or(parent.options),
            requires: parent.requires.iter().chain(&self.requires).cloned().collect(),
            recursion: self.recursion.or(parent.recursion),
            hooks: self.hooks.or(&parent.hooks),
            ..(*self.fields).clone()
        };
        Draft {
            name: self.name.clone(),
            fields: Arc::new(fields),
            steps: self.steps_over(&parent.steps),
            aliases: parent.aliases.iter().chain(&self.aliases).cloned().collect(),
            rules: parent.rules.iter().filter(ruled).chain(&self.rules).cloned().collect(),
            stray_braces: parent.stray_braces.iter().chain(&self.stray_braces).cloned().collect(),
            open: self.open || parent.open,
            broken: self.broken || parent.broken,
            ..Draft::default()
        }
    }

    /// The parent's steps, replaced by those with the same id here, then the others from here.
    fn steps_over(&self, parent: &[StepDraft]) -> Vec<StepDraft> {
        let same = |a: &StepDraft, b: &StepDraft| a.id.is_some() && a.id == b.id;
        let replacing = |old| self.steps.iter().find(|new| same(old, new)).unwrap_or(old);
        let added = self.steps.iter().filter(|new| !parent.iter().any(|old| same(old, new)));
        parent.iter().map(replacing).chain(added).cloned().collect()
    }
}

fn joined_contexts(parent: &Map, child: &Map) -> Map {
    let mut context = parent.clone();
    context.extend(child.clone());
    context
}

fn joined_names(parent: &[String], child: &[String]) -> Vec<String> {
    let added = child.iter().filter(|name| !parent.contains(name));
    parent.iter().chain(added).cloned().collect()
}

impl Recursion {
    fn or(self, parent: Recursion) -> Recursion {
        Recursion {
            max_depth: self.max_depth.or(parent.max_depth),
            max_total_steps: self.max_total_steps.or(parent.max_total_steps),
        }
    }
}

impl Hooks {
    fn or(&self, parent: &Hooks) -> Hooks {
        let own = [
            ("pre_step", &self.pre_step),
            ("post_step", &self.post_step),
            ("on_error", &self.on_error),
        ];
        let replaced =
            |field: &str| own.iter().any(|(name, hook)| *name == field && hook.is_some());
        let inherited = parent.uses.iter().filter(|used| !replaced(used.field));
        Hooks {
            pre_step: self.pre_step.clone().or_else(|| parent.pre_step.clone()),
            post_step: self.post_step.clone().or_else(|| parent.post_step.clone()),
            on_error: self.on_error.clone().or_else(|| parent.on_error.clone()),
            uses: inherited.chain(&self.uses).cloned().collect(),
        }
    }
}

impl StepDraft {
    /// A step of which nothing could be read.
    pub fn unreadable(source: &Arc<Source>, span: Span) -> StepDraft {
        let spans = StepSpans { id: span, ..StepSpans::default() };
        let fields =
            StepFields { source: Arc::clone(source), span, spans, ..StepFields::default() };
        StepDraft {
            id: None,
            fields: Arc::new(fields),
            gate: Gate::Always,
            work: None,
            names: None,
            outcomes: None,
            unsure: true,
        }
    }

    fn step(&self) -> Option<Step> {
        Some(Step {
            id: self.id.clone()?,
            condition: match &self.gate {
                Gate::Condition(located) => Some(located.condition.clone()),
                Gate::Always | Gate::Broken => None,
            },
            work: self.work.clone()?,
            outcomes: self.outcomes.clone()?,
            fields: Arc::clone(&self.fields),
        })
    }

    /// The worker of the step, as far as it is known.
    pub fn kind(&self) -> Option<StepKind> {
        self.work.as_ref().map(Work::kind).or_else(|| Some(self.names.as_ref()?.0))
    }

    /// The recipe that the step calls.
    pub fn calls(&self) -> Option<&Named> {
        self.named(StepKind::Recipe)
    }

    /// The agent whose instructions it gets.
    pub fn agent(&self) -> Option<&Named> {
        self.named(StepKind::Agent)
    }

    fn named(&self, wanted: StepKind) -> Option<&Named> {
        self.names.as_ref().filter(|(kind, _)| *kind == wanted).map(|(_, named)| named)
    }

    /// Whether its output is what a command prints or an agent answers.
    pub fn gives_text(&self) -> bool {
        matches!(self.kind(), Some(StepKind::Bash | StepKind::Agent))
    }

    /// The names under which the step can be read by later ones: a called recipe's outputs are there
    /// under the step's id, beside its own output.
    pub fn writes(&self) -> impl Iterator<Item = &str> {
        let by_id = self.output.is_none() || !self.gives_text();
        let id = self.id.as_deref().filter(|_| by_id);
        id.into_iter().chain(self.output.as_deref())
    }

    pub fn shown_id(&self) -> &str {
        self.id.as_deref().unwrap_or("?")
    }

    pub fn sets_for_itself(&self, name: &str) -> bool {
        self.context.iter().any(|(key, _)| key == name)
    }
}
