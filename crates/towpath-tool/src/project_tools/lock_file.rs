//! `tools.lock`: for each tool its source, its version, its recipe with the check that passed, and the
//! hash of what was fetched, by platform. It is written by installs and read back as it was written.

use crate::recipe_file::{read_recipe, write_recipe};
use crate::sources::SourceRef;
use crate::tool_recipe::ToolRecipe;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use towpath_core::Source;

const FORM: u32 = 1;
const HEADER: &str = "# Written by installs of the tools in tools.toml. Commit both files.\n\n";

/// Where an artifact was fetched: others get other files.
pub const PLATFORM: &str = if cfg!(target_arch = "aarch64") {
    "linux-aarch64"
} else if cfg!(target_arch = "x86_64") {
    "linux-x86-64"
} else {
    "other"
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockFile {
    form: u32,
    #[serde(default, rename = "tool", skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<LockedTool>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedTool {
    pub name: String,
    pub from: String,
    pub version: String,
    /// A whole tool recipe, as its file would be.
    recipe: String,
    /// By platform.
    pub integrity: BTreeMap<String, String>,
}

#[derive(Debug, thiserror::Error)]
pub enum LockFileError {
    #[error("line {line}: {message}")]
    Toml { line: usize, message: String },
    #[error("it was written by a newer version of this program (form {0})")]
    Newer(u32),
    #[error("the recipe of `{tool}`: {problem}")]
    Recipe { tool: String, problem: String },
}

impl Default for LockFile {
    fn default() -> LockFile {
        LockFile { form: FORM, tools: Vec::new() }
    }
}

impl LockFile {
    pub fn read(text: &str) -> Result<LockFile, LockFileError> {
        let file: LockFile = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = text.get(..start).map_or(1, |before| before.matches('\n').count() + 1);
            LockFileError::Toml { line, message: error.message().to_owned() }
        })?;
        if file.form > FORM {
            return Err(LockFileError::Newer(file.form));
        }
        for tool in &file.tools {
            tool.recipe()?;
        }
        Ok(file)
    }

    pub fn write(&self) -> String {
        let text = toml::to_string(self).expect("a lock file has only strings and tables");
        format!("{HEADER}{text}")
    }

    pub fn find(&self, name: &str) -> Option<&LockedTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Puts a tool in, for the one of the same name. What other platforms have fetched of the same
    /// version stays.
    pub fn put(&mut self, mut tool: LockedTool) {
        let same = |known: &LockedTool| known.from == tool.from && known.version == tool.version;
        if let Some(known) = self.find(&tool.name).filter(|known| same(known)) {
            for (platform, hash) in &known.integrity {
                tool.integrity.entry(platform.clone()).or_insert_with(|| hash.clone());
            }
        }
        self.tools.retain(|known| known.name != tool.name);
        self.tools.push(tool);
        self.tools.sort_by(|one, other| one.name.cmp(&other.name));
    }
}

impl LockedTool {
    pub fn new(
        name: &str,
        from: &SourceRef,
        version: &str,
        recipe: &ToolRecipe,
        integrity: &str,
    ) -> LockedTool {
        LockedTool {
            name: name.to_owned(),
            from: from.to_string(),
            version: version.to_owned(),
            recipe: write_recipe(recipe),
            integrity: BTreeMap::from([(PLATFORM.to_owned(), integrity.to_owned())]),
        }
    }

    pub fn recipe(&self) -> Result<ToolRecipe, LockFileError> {
        let source = Source::new(format!("{} in tools.lock", self.name), self.recipe.as_str());
        read_recipe(&source).map_err(|problems| LockFileError::Recipe {
            tool: self.name.clone(),
            problem: problems.first().map_or(String::new(), |problem| problem.message.clone()),
        })
    }

    /// The hash of what is fetched on this platform, if that was installed before.
    pub fn integrity_here(&self) -> Option<&str> {
        self.integrity.get(PLATFORM).map(String::as_str)
    }
}
