//! `towpath tool list`: what is installed.

use super::super::Execute;
use crate::environment::Invocation;
use crate::exit_codes_and_errors::{CommandError, Exit};
use crate::terminal::format::{ago, now_ms};
use crate::terminal::out;
use crate::terminal::table::{Cell, Table};
use crate::terminal::terminal_width_and_colours::{Screen, Tint};
use crate::tools::install_result_lines::record_json;
use crate::tools::tool_session::directories;
use serde_json::json;
use towpath_tool::install::InstalledTools;

/// List the installed tools.
///
/// Example: towpath tool list --json
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let directories = directories(env);
        let tools = InstalledTools::new(&directories)
            .list()
            .map_err(|error| CommandError::setup(error.to_string()))?;
        if self.json {
            let each = |tool: &towpath_tool::install::InstalledTool| {
                let mut value = record_json(&tool.record, &tool.directory);
                value["in_use"] = json!(tool.in_use);
                value
            };
            let tools: Vec<_> = tools.iter().map(each).collect();
            out::json(&json!({ "schema": 1, "tools": tools }));
            return Ok(Exit::Done);
        }
        if tools.is_empty() {
            out::line("no tool is installed; to install one: towpath tool create NAME");
            return Ok(Exit::Done);
        }
        let mut table = Table::new(&["TOOL", "VERSION", "FROM", "INSTALLED", "PROGRAMS"]);
        for tool in &tools {
            let record = &tool.record;
            let programs: Vec<&str> = record.binaries.iter().map(|b| b.name.as_str()).collect();
            let tint = if tool.in_use { Tint::None } else { Tint::Dim };
            let version = match tool.in_use {
                true => record.version.clone(),
                false => format!("{} (not in use)", record.version),
            };
            table.row(vec![
                Cell::tinted(&record.tool, tint),
                Cell::tinted(version, tint),
                Cell::tinted(&record.from, tint),
                Cell::tinted(ago(record.installed_ms, now_ms()), tint),
                Cell::tinted(programs.join(", "), tint),
            ]);
        }
        table.print(&Screen::new(env));
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}
