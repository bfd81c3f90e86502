//! `towpath tool outdated`: which installed tools have a newer version.

use super::super::Execute;
use crate::environment::Invocation;
use crate::exit_codes_and_errors::{CommandError, Exit};
use crate::terminal::format::clean;
use crate::terminal::out;
use crate::terminal::table::Table;
use crate::terminal::terminal_width_and_colours::Screen;
use crate::tools::generate_tool_recipe::look_up_one;
use crate::tools::tool_session::{SandboxFlags, ToolSession};
use serde_json::json;
use towpath_tool::install::InstalledTools;
use towpath_tool::sources::SourceRef;

/// List installed tools that have another version at their source.
///
/// Example: towpath tool outdated
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    sandbox: SandboxFlags,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let session = ToolSession::open(env, &self.sandbox, self.json)?;
        let installed = InstalledTools::new(&session.directories)
            .list()
            .map_err(|error| CommandError::setup(error.to_string()))?;
        let mut table = Table::new(&["TOOL", "INSTALLED", "NEWEST", "FROM"]);
        let (mut rows, mut unknown) = (Vec::new(), Vec::new());
        for tool in installed.iter().filter(|tool| tool.in_use) {
            let record = &tool.record;
            let Ok(from) = record.from.parse::<SourceRef>() else { continue };
            match look_up_one(&session, &from, None) {
                Ok(candidate) if candidate.version == record.version => {}
                Ok(candidate) => {
                    table.row(vec![
                        record.tool.as_str().into(),
                        record.version.as_str().into(),
                        candidate.version.as_str().into(),
                        record.from.as_str().into(),
                    ]);
                    rows.push(json!({
                        "tool": record.tool,
                        "installed": record.version,
                        "newest": candidate.version,
                        "from": record.from,
                    }));
                }
                Err(error) => unknown.push((record.tool.clone(), error.message)),
            }
        }
        if self.json {
            let unknown: Vec<_> = unknown
                .iter()
                .map(|(tool, error)| json!({ "tool": tool, "error": error }))
                .collect();
            out::json(&json!({ "schema": 1, "outdated": rows, "unknown": unknown }));
            return Ok(Exit::Done);
        }
        match rows.is_empty() {
            true if installed.is_empty() => out::line("no tool is installed"),
            true if unknown.is_empty() => out::line("every tool is the newest version"),
            true => {}
            false => table.print(&Screen::new(env)),
        }
        for (tool, error) in unknown {
            out::note(clean(&format!("{tool}: its newest version is not known: {error}")));
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}
