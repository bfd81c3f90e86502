//! `towpath failures stats`: how much was recorded and how much of it failed.

use super::super::Execute;
use super::{WhichFailures, journal};
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::terminal::format::{ago, count, now_ms, rfc3339};
use crate::terminal::out;
use crate::terminal::screen::Screen;
use crate::terminal::table::Table;
use serde_json::json;
use towpath_corrections::failure::{FailureStats, stats};

/// Count recorded calls, failures and mistakes.
///
/// Example: towpath failures stats --since 30d
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Args {
    #[command(flatten)]
    which: WhichFailures,
    /// Show the N most frequent failures.
    #[arg(short = 'n', long = "limit", value_name = "N", default_value_t = 5)]
    limit: usize,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let stats = stats(&self.which.query(None), journal(env)?.as_ref(), self.limit, &rfc3339)?;
        match self.json {
            true => out::json(&json!(stats)),
            false => print(&stats, &Screen::new(env)),
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}

fn print(stats: &FailureStats, screen: &Screen) {
    let now = now_ms();
    let calls = count(stats.calls, "call");
    let Some((first, last)) = stats.span_ms else {
        return out::line("no calls are recorded; to record those of an agent: towpath init HOST");
    };
    let sessions = count(stats.sessions, "session");
    let share = stats.failed * 100 / stats.calls.max(1);
    out::line(format!("{calls} in {sessions}"));
    out::line(format!("from {} to {}", ago(first, now), ago(last, now)));
    screen.line(&format!("{} failed ({share} %)", stats.failed));
    screen.line(&format!("{} because something does not exist", stats.mistakes));
    out::line("");
    let mut table = Table::new(&["HOST", "CALLS", "FAILED"]);
    for of in &stats.hosts {
        let (calls, failed) = (of.calls.to_string(), of.failed.to_string());
        table.row(vec![(&of.host).into(), calls.into(), failed.into()]);
    }
    table.print(screen);
    if !stats.top.is_empty() {
        out::line("");
        let mut table = Table::new(&["COUNT", "MOST FREQUENT"]);
        for path in &stats.top {
            table.row(vec![path.count.to_string().into(), path.what.as_str().into()]);
        }
        table.print(screen);
    }
}
