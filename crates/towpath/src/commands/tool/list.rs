//! `towpath tool list`: what is installed.

use super::results::{damage, named};
use super::{CommandError, Execute, Exit, Invocation, Screen, Tint, clean, json, out};
use crate::terminal::format::{ago, now_ms};
use crate::terminal::table::{Cell, Table};
use crate::tools::report::record_json;
use towpath_tool::install::{InstalledTool, InstalledTools};

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
        let InstalledTools { tools, damaged } = named(env, &[])?;
        if self.json {
            let row = |tool: &InstalledTool| {
                let mut row = record_json(tool);
                row["in_use"] = json!(tool.in_use);
                row
            };
            let rows: Vec<_> = tools.iter().map(row).collect();
            let mut shown = json!({ "schema": 1, "tools": rows });
            if !damaged.is_empty() {
                shown["damaged"] = json!(damaged);
            }
            out::json(&shown);
            return Ok(Exit::Done);
        }
        for tool in &damaged {
            out::note(clean(&format!("{} {}: {}", tool.tool, tool.version, damage(tool).message)));
        }
        if tools.is_empty() && !damaged.is_empty() {
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
