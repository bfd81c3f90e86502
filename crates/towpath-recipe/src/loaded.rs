//! One recipe that was found, as the checks across recipes see it.

use crate::draft::{Draft, StepDraft};
use crate::recipe::Recipe;
use crate::recipe_file::RecipeFile;
use crate::recipe_search::Origin;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A recipe with what came of reading it.
pub(crate) struct Loaded {
    pub file: RecipeFile,
    pub origin: Origin,
    pub recipe: Option<Arc<Recipe>>,
    pub draft: Draft,
    pub calls: BTreeMap<String, usize>,
    pub extends: Option<usize>,
    /// It is the root or some step calls it; else it is only extended.
    pub is_called: bool,
    /// What it includes, by the paths from its directory.
    pub files: BTreeMap<String, String>,
}

impl Loaded {
    /// Whether a recipe that it calls was not found.
    pub fn lacks_a_call(&self) -> bool {
        let mut calls = self.draft.steps.iter().filter_map(StepDraft::calls);
        calls.any(|call| !self.calls.contains_key(&call.name))
    }

    /// The recipe's name, or else that of its text.
    pub fn name(&self) -> &str {
        self.recipe.as_ref().map_or(&self.draft.source.name, |recipe| &recipe.name)
    }
}
