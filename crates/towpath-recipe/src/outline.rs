//! What a recipe sets, reads and calls, also when parts of it are broken: the matter of the
//! analysis across recipes. It holds names and places, nothing that could be run.

use crate::model::VariableUse;
use std::sync::Arc;
use towpath_core::{Source, Span};

#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// The keys of the recipe's context.
    pub context: Vec<String>,
    pub steps: Vec<StepOutline>,
    pub hook_uses: Vec<VariableUse>,
    /// Something that may set variables could not be read: nothing is said about unset ones.
    pub open: bool,
    /// Its steps choose the next one, and only names that it declares are places.
    pub is_machine: bool,
    pub restarts: Vec<Restart>,
    /// A machine's id with its place.
    pub id: Option<(String, Span)>,
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

#[derive(Debug, Clone, Default)]
pub(crate) struct StepOutline {
    pub id: Option<String>,
    pub output: Option<String>,
    /// The keys of the step's own context.
    pub context: Vec<String>,
    pub uses: Vec<VariableUse>,
    pub group: Option<String>,
    pub calls: Option<String>,
}

impl StepOutline {
    /// The names under which the step can be read by later ones.
    pub fn writes(&self) -> impl Iterator<Item = &str> {
        self.id.iter().chain(&self.output).map(String::as_str)
    }
}
