//! `towpath failures paths`: what fails again and again.

use super::super::Execute;
use super::{NOTHING, WhichFailures, is_narrow, journal};
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::terminal::format::{ago, now_ms, rfc3339};
use crate::terminal::out;
use crate::terminal::screen::{Screen, Tint};
use crate::terminal::table::{Cell, Table};
use serde_json::json;
use towpath_corrections::failure::Mistake;
use towpath_corrections::failure::{FailurePath, paths};

/// List what fails again and again, the most frequent first.
///
/// Failures are joined by what does not exist, or else by the program and its subcommand.
///
/// Example: towpath failures paths --since 7d
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Args {
    #[command(flatten)]
    which: WhichFailures,
    /// Show at most N of them.
    #[arg(short = 'n', long = "limit", value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Only what does not exist: commands, subcommands, flags and tools.
    #[arg(long)]
    mistakes: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let rows = self.which.query(None).failures(journal(env)?.as_ref())?;
        let mut paths = paths(&rows, &rfc3339);
        paths.retain(|path| !self.mistakes || path.mistake.is_some());
        paths.truncate(self.limit);
        if self.json {
            out::json(&json!({ "schema": 1, "paths": paths }));
        } else if paths.is_empty() {
            out::line(NOTHING);
        } else {
            print(&paths, &Screen::new(env));
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}

fn print(paths: &[FailurePath], screen: &Screen) {
    let now = now_ms();
    let mut header = vec!["COUNT", "WHAT", "UNKNOWN"];
    if !is_narrow(screen) {
        header.extend(["SESSIONS", "LAST"]);
    }
    let mut table = Table::new(&header);
    for path in paths {
        let (unknown, tint) = match &path.mistake {
            None => ("–", Tint::None),
            Some(mistake) => (mistake.kind(), Tint::Attention),
        };
        let what = path.mistake.as_ref().map_or_else(|| path.what.clone(), Mistake::subject);
        let mut cells = vec![
            path.count.to_string().into(),
            Cell::tinted(what, tint),
            unknown.into(),
            path.sessions.to_string().into(),
            ago(path.last_ms, now).into(),
        ];
        cells.truncate(header.len());
        table.row(cells);
    }
    table.print(screen);
    if paths.iter().any(|path| path.mistake.is_some() && path.count > 1) {
        out::line("to see rules for these: towpath rules suggest");
    }
}
