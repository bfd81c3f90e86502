//! The tools that are installed, as far as a run needs them: which versions there are, and which
//! programs each has. A directory without a record that can be read is no install.

use crate::files;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

/// More than this is no record.
const MOST: u64 = 1 << 20;
const RECORD: &str = "towpath-tool.json";

/// One version of a tool.
#[derive(Debug)]
pub struct InstalledTool {
    pub version: String,
    /// The link to the install.
    install: PathBuf,
    programs: Vec<String>,
}

#[derive(Deserialize)]
struct Record {
    tool: String,
    version: String,
    binaries: Vec<Binary>,
}

#[derive(Deserialize)]
struct Binary {
    name: String,
}

impl InstalledTool {
    /// The file of a program, or of the first one.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let own = self.programs.iter().find(|program| *program == name);
        own.or(self.programs.first()).map(|program| self.install.join("bin").join(program))
    }

    /// The install, by its link and by itself.
    pub fn directories(&self) -> Vec<PathBuf> {
        [Some(self.install.clone()), self.install.canonicalize().ok()]
            .into_iter()
            .flatten()
            .collect()
    }
}

/// The versions of the tool with this name; of every tool that has a program with this name where there
/// is none.
pub fn installed(data: &Path, name: &str) -> Vec<InstalledTool> {
    let tools = data.join("tools");
    let named = versions(&tools.join(name), name);
    if !named.is_empty() {
        return named;
    }
    let all = names_in(&tools).into_iter().flat_map(|tool| versions(&tools.join(&tool), &tool));
    all.filter(|tool| tool.programs.iter().any(|program| program == name)).collect()
}

fn versions(directory: &Path, name: &str) -> Vec<InstalledTool> {
    let installs = names_in(directory).into_iter().map(|version| directory.join(version));
    installs.filter_map(|install| read(&install, name)).collect()
}

fn read(install: &Path, name: &str) -> Option<InstalledTool> {
    let text = files::read_regular(&install.join(RECORD), MOST).ok()?;
    let Record { tool, version, binaries } = serde_json::from_slice(&text).ok()?;
    let programs = binaries.into_iter().map(|binary| binary.name).collect();
    (tool == name).then(|| InstalledTool { version, install: install.to_owned(), programs })
}

/// The names in a directory; hidden ones are not for users.
fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    names
}
