//! The frame of the commands that work on several tools: which installed ones the user has named, and one
//! result for each, printed as it comes or in one JSON object at the end.

use crate::exit_codes_and_errors::{CommandError, Exit};
use crate::terminal::format::clean;
use crate::terminal::out;
use crate::tools::install_tool::InstallOutcome;
use crate::tools::report;
use crate::tools::tool_session::ToolSession;
use serde_json::{Value, json};
use towpath_tool::install::{InstalledTool, version_directory_name};

/// The versions of a tool, or the one of that version.
pub fn versions(
    installed: &[InstalledTool],
    name: &str,
    version: Option<&str>,
) -> Result<Vec<InstalledTool>, CommandError> {
    let is_meant = |tool: &&InstalledTool| {
        let same = |version: &str| {
            version_directory_name(&tool.record.version) == version_directory_name(version)
        };
        tool.record.tool == name && version.is_none_or(same)
    };
    let found: Vec<InstalledTool> = installed.iter().filter(is_meant).cloned().collect();
    if found.is_empty() {
        let version = version.map_or(String::new(), |version| format!(" {version}"));
        return Err(CommandError::not_found(format!("{name}{version} is not installed")));
    }
    Ok(found)
}

/// The tools with these names, in the order in which they are listed; all without names.
pub fn named(
    mut installed: Vec<InstalledTool>,
    names: &[String],
) -> Result<Vec<InstalledTool>, CommandError> {
    for name in names {
        versions(&installed, name, None)?;
    }
    installed.retain(|tool| names.is_empty() || names.contains(&tool.record.tool));
    Ok(installed)
}

/// The result of each tool. The exit is the most severe one.
#[derive(Debug)]
pub struct Results {
    json: bool,
    rows: Vec<Value>,
    exit: Exit,
}

impl Results {
    pub fn new(json: bool) -> Results {
        Results { json, rows: Vec::new(), exit: Exit::Done }
    }

    pub fn add(&mut self, row: Value, exit: Exit, print: impl FnOnce()) {
        if !self.json {
            print();
        }
        self.rows.push(row);
        if exit.severity() > self.exit.severity() {
            self.exit = exit;
        }
    }

    pub fn add_outcome(&mut self, session: &ToolSession<'_>, outcome: &InstallOutcome) {
        self.add(report::as_json(outcome), outcome.exit(), || report::print(session, outcome));
    }

    /// An error of one tool; the others are worked on all the same.
    pub fn add_error(&mut self, tool: &str, error: &CommandError) {
        out::note(clean(&format!("{tool}: {}", error.message)));
        let row = json!({ "tool": tool, "status": "error", "error": error.message });
        self.add(row, error.exit, || ());
    }

    /// The exit code, after the JSON object with all rows.
    pub fn end(self, key: &str) -> Exit {
        if self.json {
            out::json(&json!({ "schema": 1, key: self.rows }));
        }
        self.exit
    }
}
