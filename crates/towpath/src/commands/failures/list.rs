//! `towpath failures list`: every failed call, the newest first.

use super::super::Execute;
use super::{NOTHING, WhichFailures, is_narrow, journal};
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::terminal::format::{ago, now_ms, rfc3339};
use crate::terminal::out;
use crate::terminal::screen::{Screen, Tint};
use crate::terminal::table::{Cell, Table};
use serde_json::json;
use towpath_corrections::failure::{FailureRow, called, error_line};
use towpath_store::ToolCallRow;

/// List failed calls, the newest first.
///
/// Example: towpath failures list --host claude-code --since 2d
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Args {
    #[command(flatten)]
    which: WhichFailures,
    /// Show at most N failures.
    #[arg(short = 'n', long = "limit", value_name = "N", default_value_t = 20)]
    limit: u32,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let rows = self.which.query(Some(self.limit)).failures(journal(env)?.as_ref())?;
        if self.json {
            let rows: Vec<_> = rows.iter().map(|row| FailureRow::new(row, &rfc3339)).collect();
            out::json(&json!({ "schema": 1, "failures": rows }));
        } else if rows.is_empty() {
            out::line(NOTHING);
        } else {
            print(&rows, &Screen::new(env));
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}

fn print(rows: &[ToolCallRow], screen: &Screen) {
    let now = now_ms();
    let narrow = is_narrow(screen);
    let mut table = match narrow {
        true => Table::new(&["WHEN", "CALL", "EXIT"]),
        false => Table::new(&["WHEN", "HOST", "CALL", "EXIT", "ERROR"]),
    };
    for row in rows {
        let exit = row.exit_code.map_or_else(|| "–".to_owned(), |code| code.to_string());
        let mut cells: Vec<Cell> = vec![ago(row.at_ms, now).into()];
        cells.extend((!narrow).then(|| row.host.as_str().into()));
        cells.extend([called(row).into(), exit.into()]);
        cells.extend((!narrow).then(|| Cell::tinted(error_line(row), Tint::Dim)));
        table.row(cells);
    }
    table.print(screen);
}
