//! `tools.lock`: for each tool its source, its version, its recipe with the check that passed, and all that was
//! resolved for it, with addresses and hashes, as the lock file of its source's client. A program of the
//! system has only the version that it had. It is written by installs and read back as it was written.

use crate::attestation::Attestation;
use crate::read_recipe::read_recipe;
use crate::sources::{Locks, SourceRef};
use crate::tool_recipe::ToolRecipe;
use crate::tool_request::SYSTEM;
use serde::{Deserialize, Serialize};
use towpath_core::Source;

const FORM: u32 = 3;
const HEADER: &str = "# Written by installs of the tools in tools.toml. Commit both files.\n\n";

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
    /// Empty for a program of the system that prints none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Who has built it, as its registry has attested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attestation: Option<Attestation>,
    /// A whole tool recipe, as its file would be; empty for a program of the system.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    recipe: String,
    /// The clients' own lock files, by step, and by platform where that matters.
    #[serde(default, skip_serializing_if = "Locks::is_empty")]
    pub locks: Locks,
}

#[derive(Debug, thiserror::Error)]
pub enum LockFileError {
    #[error("line {line}: {message}")]
    Toml { line: usize, message: String },
    #[error("it was written by another version of this program (form {0})")]
    OtherForm(u32),
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
        if file.form != FORM {
            return Err(LockFileError::OtherForm(file.form));
        }
        for tool in file.tools.iter().filter(|tool| !tool.is_of_system()) {
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
            // Whoever installs what is locked asks nobody.
            tool.attestation = tool.attestation.or_else(|| known.attestation.clone());
            for (part, lock) in &known.locks {
                tool.locks.entry(part.clone()).or_insert_with(|| lock.clone());
            }
        }
        self.tools.retain(|known| known.name != tool.name);
        self.tools.push(tool);
        self.tools.sort_by(|one, other| one.name.cmp(&other.name));
    }
}

impl LockedTool {
    /// `recipe` is a whole tool recipe, as its file would be.
    pub fn new(name: &str, from: &SourceRef, version: &str, recipe: String, locks: Locks) -> Self {
        let (name, from, version) = (name.to_owned(), from.to_string(), version.to_owned());
        LockedTool { name, from, version, attestation: None, recipe, locks }
    }

    /// A program that the system had in this version.
    pub fn of_system(name: &str, version: Option<&str>) -> LockedTool {
        LockedTool {
            name: name.to_owned(),
            from: SYSTEM.to_owned(),
            version: version.unwrap_or_default().to_owned(),
            attestation: None,
            recipe: String::new(),
            locks: Locks::new(),
        }
    }

    pub fn is_of_system(&self) -> bool {
        self.from == SYSTEM
    }

    pub fn recipe(&self) -> Result<ToolRecipe, LockFileError> {
        let source = Source::new(format!("{} in tools.lock", self.name), self.recipe.as_str());
        read_recipe(&source).map_err(|problems| LockFileError::Recipe {
            tool: self.name.clone(),
            problem: problems.first().map_or(String::new(), |problem| problem.message.clone()),
        })
    }
}
