//! `towpath failures inspect`: all about the failures that fit a pattern.

use super::super::Execute;
use super::{WhichFailures, journal};
use crate::environment::Invocation;
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::terminal::format::{ago, count, now_ms, rfc3339};
use crate::terminal::out;
use crate::terminal::screen::{Screen, Tint};
use crate::terminal::table::Table;
use serde_json::json;
use towpath_corrections::failure::{Counted, Inspection, inspect};

/// Show when something failed, with which commands and errors, and what worked instead.
///
/// PATTERN is a part of a program, a tool, a command or a mistake; % is any text.
///
/// Example: towpath failures inspect 'git %'
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Args {
    #[arg(value_name = "PATTERN")]
    pattern: String,
    #[command(flatten)]
    which: WhichFailures,
    /// Show the N most frequent commands and errors.
    #[arg(short = 'n', long = "limit", value_name = "N", default_value_t = 5)]
    limit: usize,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let calls = self.which.query(None).calls(journal(env)?.as_ref())?;
        let found = inspect(&calls, &self.pattern, self.limit, &rfc3339).ok_or_else(|| {
            let message = format!(
                "no recorded failure fits `{}`; to see what fails: towpath failures paths",
                self.pattern
            );
            CommandError::new(Exit::BadInput, ErrorKind::NotFound, message)
        })?;
        match self.json {
            true => out::json(&json!(found)),
            false => print(&found, &Screen::new(env)),
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}

/// The longest bar of a day.
const BAR: usize = 20;

fn print(found: &Inspection, screen: &Screen) {
    let now = now_ms();
    let (first, last) = (ago(found.first_ms, now), ago(found.last_ms, now));
    let sessions = count(found.sessions, "session");
    let failures = count(found.count, "failure");
    out::line(format!("{}: {failures} in {sessions}", found.pattern));
    out::line(format!("from {first} to {last}"));
    let most = found.days.iter().map(|day| day.count).max().unwrap_or(1);
    let mut days = Table::plain(2);
    for Counted { text: day, count, .. } in &found.days {
        let bar = "█".repeat((count * BAR).div_ceil(most.max(1)));
        days.row(vec![day.into(), count.to_string().into(), bar.into()]);
    }
    days.print(screen);
    counted("commands", &found.commands, screen);
    counted("errors", &found.errors, screen);
    if !found.instead.is_empty() {
        out::line("\nwhat worked instead");
        for line in &found.instead {
            screen.line(&format!(
                "  {}",
                screen.paint(Tint::Good, &crate::terminal::format::clean(line))
            ));
        }
    }
}

fn counted(title: &str, counts: &[Counted], screen: &Screen) {
    if counts.is_empty() {
        return;
    }
    out::line(format!("\n{title}"));
    let mut table = Table::plain(2);
    for Counted { text, count, .. } in counts {
        table.row(vec![count.to_string().into(), text.into()]);
    }
    table.print(screen);
}
