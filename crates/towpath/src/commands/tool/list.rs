//! `towpath tool list`: what is installed.

use super::{CommandError, Execute, Exit, Invocation, Screen, Tint, json, out};
use crate::terminal::format::{ago, now_ms};
use crate::terminal::table::{Cell, Table};
use crate::tools::report::record_json;
use crate::tools::tool_session::{directories, installed_tools};
use towpath_tool::install::InstalledTool;

/// List the installed tools.
///
/// Example: towpath tool list --json
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let tools = installed_tools(&directories(env))?;
        if self.json {
            let row = |tool: &InstalledTool| {
                let mut row = record_json(&tool.record, &tool.directory);
                row["in_use"] = json!(tool.in_use);
                row
            };
            let rows: Vec<_> = tools.iter().map(row).collect();
            out::json(&json!({ "schema": 1, "tools": rows }));
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
            let (tint, note) = match tool.in_use {
                true => (Tint::None, ""),
                false => (Tint::Dim, " (not in use)"),
            };
            let version = format!("{}{note}", record.version);
            let installed = ago(record.installed_ms, now_ms());
            let cells = [&record.tool, &version, &record.from, &installed, &programs.join(", ")];
            table.row(cells.map(|cell| Cell::tinted(cell, tint)).into());
        }
        table.print(&Screen::new(env));
        Ok(Exit::Done)
    }
}
