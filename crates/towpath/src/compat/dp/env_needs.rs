//! `dp env-needs`: programs that agents called and that were not found.

use super::Dp;
use super::dates::since;
use crate::exit::{CommandError, Exit};
use crate::terminal::format::rfc3339;
use crate::terminal::out;
use crate::terminal::screen::Screen;
use crate::terminal::table::{Cell, Table};
use serde_json::{Value, json};
use towpath_corrections::failure::FailureQuery;
use towpath_corrections::failure::Mistake;
use towpath_corrections::failure::paths;

/// List programs that were not found.
///
/// Example: dp env-needs --since 7d
#[derive(Debug, clap::Args)]
pub struct EnvNeedsArgs {
    /// How far back: 30m, 24h, 7d, or a date.
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<i64>,
}

pub fn execute(dp: &Dp<'_>, args: &EnvNeedsArgs) -> Result<Exit, CommandError> {
    let query = FailureQuery { since_ms: args.since, ..FailureQuery::default() };
    let found = paths(&query.failures(dp.records()?.as_ref())?, &rfc3339);
    let programs: Vec<(String, usize)> = found
        .into_iter()
        .filter_map(|path| match path.mistake? {
            Mistake::Command { program } => Some((program, path.count)),
            _ => None,
        })
        .collect();
    if dp.json {
        let need = |(program, count): &(String, usize)| json!({ "command": program, "failures": count, "action": format!("Install {program}") });
        out::json(&programs.iter().map(need).collect::<Value>());
        return Ok(Exit::Done);
    }
    if programs.is_empty() {
        out::note("No environment needs found.");
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["COMMAND", "FAILURES", "ACTION"]);
    for (program, count) in programs {
        let action = format!("Install {program}");
        table.row(vec![Cell::from(program), count.to_string().into(), action.into()]);
    }
    table.print(&Screen::new(dp.env));
    Ok(Exit::Done)
}
