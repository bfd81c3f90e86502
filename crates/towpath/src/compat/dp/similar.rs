//! `dp similar`: which known tool a name may mean.

use super::Dp;
use super::paths::alias_of;
use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use crate::terminal::screen::Screen;
use crate::terminal::table::{Cell, Table};
use serde_json::json;
use towpath_corrections::failure::similar_tool_names::{SIMILAR, similar};

/// Find the tools that a name may mean.
///
/// Example: dp similar read_file
#[derive(Debug, clap::Args)]
pub struct SimilarArgs {
    name: String,
    /// The tools to choose from, with commas between them (default: those of Claude Code).
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    known: Vec<String>,
    /// How similar a name must be, from 0 to 1.
    #[arg(long, value_name = "SCORE", default_value_t = SIMILAR)]
    threshold: f64,
    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 5)]
    top: usize,
}

const CLAUDE_CODE: &[&str] = &[
    "Read",
    "Write",
    "Edit",
    "Bash",
    "Glob",
    "Grep",
    "Task",
    "WebFetch",
    "WebSearch",
    "NotebookEdit",
];

pub fn execute(dp: &Dp<'_>, args: &SimilarArgs) -> Result<Exit, CommandError> {
    let name = &args.name;
    if let Some(alias) = alias_of(&dp.rules()?, name) {
        match dp.json {
            true => out::json(&json!({ "query": name, "alias": alias })),
            false => out::line(format!("Alias: {name:?} → {alias:?}")),
        }
        return Ok(Exit::Done);
    }
    let configured = dp.config.list("known_tools");
    let known: Vec<&str> = match args.known.is_empty() {
        true if !configured.is_empty() => configured.iter().map(String::as_str).collect(),
        true => CLAUDE_CODE.to_vec(),
        false => args.known.iter().map(|name| name.trim()).collect(),
    };
    let mut found = similar(name, known, args.threshold);
    found.truncate(args.top);
    if dp.json {
        let list = found.iter().map(|s| json!({ "name": s.name, "score": s.score }));
        out::json(&json!({ "query": name, "suggestions": list.collect::<Vec<_>>() }));
        return Ok(Exit::Done);
    }
    if found.is_empty() {
        out::line(format!("No suggestions found for {name:?}"));
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["RANK", "TOOL", "SCORE"]);
    for (index, tool) in found.iter().enumerate() {
        let rank = Cell::from((index + 1).to_string());
        table.row(vec![rank, tool.name.into(), format!("{:.2}", tool.score).into()]);
    }
    table.print(&Screen::new(dp.env));
    Ok(Exit::Done)
}
