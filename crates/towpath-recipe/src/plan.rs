//! The plan: every recipe reachable from the root, as text, with the inputs. It is stored with the
//! run; a run never reads recipe files again.

use crate::model::Recipe;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;
use towpath_core::{Diagnostic, Map, Source};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The root is the first.
    pub recipes: Vec<PlannedRecipe>,
    /// What the person set, over the root recipe's context.
    pub inputs: Map,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedRecipe {
    /// What a person knows the text by: a path as they would type it, or `built-in NAME`.
    pub source: String,
    /// The file it was read from, absolute; none for a built-in or a pipe. Used only to tell
    /// whether the file was edited since.
    pub path: Option<String>,
    pub text: String,
    /// What each `recipe:` name in this text means: an index into `recipes`.
    pub calls: BTreeMap<String, usize>,
}

/// A plan whose texts have been read again into recipes, same indices.
#[derive(Debug, Clone)]
pub struct Program {
    pub plan: Arc<Plan>,
    pub recipes: Vec<Arc<Recipe>>,
}

impl Plan {
    /// Reads every text of the plan. A stored plan was checked before it was stored, so an error
    /// here means that it was damaged or made by another version.
    pub fn load(self) -> Result<Program, Vec<Diagnostic>> {
        let mut recipes = Vec::new();
        let mut problems = Vec::new();
        for planned in &self.recipes {
            let source = Source::new(planned.source.clone(), planned.text.clone());
            let read = crate::read(&source);
            problems.extend(read.problems.into_iter().filter(Diagnostic::is_error));
            recipes.extend(read.recipe.map(Arc::new));
        }
        if problems.is_empty() && recipes.len() == self.recipes.len() {
            Ok(Program { plan: Arc::new(self), recipes })
        } else {
            Err(problems)
        }
    }
}

/// The SHA-256 of everything a plan can run: all texts and what their calls mean, not the inputs.
/// Trust is remembered by it, so two different plans must never share one: every part is written
/// with its length before it.
pub fn plan_hash(plan: &Plan) -> String {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(b"towpath plan 1");
    for recipe in &plan.recipes {
        part(recipe.text.as_bytes());
        part(&(recipe.calls.len() as u64).to_le_bytes());
        for (name, callee) in &recipe.calls {
            part(name.as_bytes());
            part(&(*callee as u64).to_le_bytes());
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Program {
    pub fn root(&self) -> &Arc<Recipe> {
        &self.recipes[0]
    }

    /// The index of the recipe that `name` means when it is called from `caller`.
    pub fn callee(&self, caller: usize, name: &str) -> Option<usize> {
        self.plan.recipes.get(caller)?.calls.get(name).copied()
    }
}
