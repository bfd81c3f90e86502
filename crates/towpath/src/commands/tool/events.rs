//! `towpath tool events`: the repairs of checks that were recorded.

use super::{CommandError, Execute, Exit, Invocation, Screen, json, out};
use crate::terminal::format::{ago, now_ms, rfc3339};
use crate::terminal::table::Table;
use crate::tools::repair_events::repair_events;
use crate::tools::report::{shown_time, word};

/// List the repairs of checks, the newest first.
///
/// Each attempt to repair a tool's check is recorded in the journal: how, whether it succeeded, and the time
/// that asking a model instead would have taken.
///
/// Example: towpath tool events --json
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let mut events = match env.journal()? {
            Some(store) => repair_events(&store)?,
            None => Vec::new(),
        };
        events.reverse();
        if self.json {
            let rows = events.iter().map(|(at_ms, event)| {
                let mut row = json!(event);
                row["at"] = json!(rfc3339(*at_ms));
                row
            });
            out::json(&json!({ "schema": 1, "events": rows.collect::<Vec<_>>() }));
            return Ok(Exit::Done);
        }
        if events.is_empty() {
            out::line("no check was repaired");
            return Ok(Exit::Done);
        }
        let mut table = Table::new(&["WHEN", "TOOL", "METHOD", "SUCCESS", "SAVED"]);
        for (at_ms, event) in &events {
            let saved = event.time_saved_ms.filter(|saved| *saved > 0);
            let saved = saved.map(|ms| shown_time(ms.into()));
            table.row(vec![
                ago(*at_ms, now_ms()).into(),
                event.tool.as_str().into(),
                event.method.map_or("–".to_owned(), word).into(),
                if event.success { "yes" } else { "no" }.into(),
                saved.unwrap_or("–".to_owned()).into(),
            ]);
        }
        table.print(&Screen::new(env));
        Ok(Exit::Done)
    }
}
