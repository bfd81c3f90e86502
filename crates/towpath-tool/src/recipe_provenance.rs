//! Where a recipe comes from. A generated recipe carries the hash of its own content: once a user has
//! edited the file, text and hash no longer agree, and the recipe counts as written by the user, which
//! nothing repairs.

use crate::file_hash::hexadecimal;
use crate::read_recipe::write_recipe;
use crate::repair_metadata::RepairMetadata;
use crate::tool_recipe::ToolRecipe;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// `[provenance]` of a generated recipe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// What the recipe was generated from: `cargo:ripgrep`.
    pub generated_from: String,
    /// `sha256:` and the digest of the recipe without this key.
    pub hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<RepairMetadata>,
}

/// Who wrote a recipe file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    Generated,
    User,
}

impl Origin {
    /// A file is generated only if it is, byte for byte, what was written with its hash.
    pub fn of(recipe: &ToolRecipe, text: &str) -> Origin {
        let Some(provenance) = &recipe.provenance else { return Origin::User };
        let same = provenance.hash == content_hash(recipe) && write_recipe(recipe) == text;
        if same { Origin::Generated } else { Origin::User }
    }
}

impl ToolRecipe {
    /// The recipe as generated, with a hash of its content.
    #[must_use]
    pub fn generated(&self, from: &str, repair: Option<RepairMetadata>) -> ToolRecipe {
        let (generated_from, hash) = (from.to_owned(), String::new());
        let mut recipe = self.clone();
        recipe.provenance = Some(Provenance { generated_from, hash, repair });
        let hash = content_hash(&recipe);
        recipe.provenance.iter_mut().for_each(|provenance| provenance.hash.clone_from(&hash));
        recipe
    }
}

/// The hash of everything in a recipe but the hash itself.
pub fn content_hash(recipe: &ToolRecipe) -> String {
    let mut content = recipe.clone();
    content.provenance.iter_mut().for_each(|provenance| provenance.hash.clear());
    let digest = Sha256::digest(write_recipe(&content).as_bytes());
    format!("sha256:{}", hexadecimal(&digest))
}
