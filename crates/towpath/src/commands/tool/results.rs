//! The frame of the commands that work on several tools: which installed ones the user has named, and one
//! result for each, printed as it comes or in one JSON object at the end.

use crate::environment::Environment;
use crate::exit::{CommandError, Exit};
use crate::terminal::format::clean;
use crate::terminal::out;
use crate::tools::install_tool::InstallOutcome;
use crate::tools::report;
use crate::tools::tool_session::{ToolSession, setup};
use serde_json::{Value, json};
use towpath_tool::install::{DamagedTool, InstalledTools};

/// The tools with these names, in the order in which they are listed; all without names.
pub fn named(env: &Environment, names: &[String]) -> Result<InstalledTools, CommandError> {
    let mut found = InstalledTools::list(&env.tools()).map_err(setup)?;
    for name in names {
        if !found.names().any(|(known, _)| known == name) {
            return Err(CommandError::not_found(format!("{name} is not installed")));
        }
    }
    found.tools.retain(|tool| names.is_empty() || names.contains(&tool.record.tool));
    found.damaged.retain(|tool| names.is_empty() || names.contains(&tool.tool));
    Ok(found)
}

/// The error of an install that can only be replaced or removed.
pub fn damage(DamagedTool { tool, version, problem }: &DamagedTool) -> CommandError {
    let again = format!("to install it again: towpath tool install {tool}@{version}");
    setup(format_args!("damaged ({problem}); {again}"))
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
