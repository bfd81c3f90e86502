//! `towpath rules pause` and `towpath rules continue`.

use super::super::Execute;
use super::paused_line;
use crate::duration_arguments::milliseconds;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::terminal::format::{now_ms, rfc3339};
use crate::terminal::out;
use serde_json::json;
use towpath_corrections::{RuleBook, pause};
use towpath_store::Pause;

/// Correct nothing for a while.
///
/// Every agent's calls pass as they are, until you continue or the time is over. For one agent alone
/// start it with TOWPATH_CORRECTIONS=off.
///
/// Example: towpath rules pause --for 10m
#[derive(Debug, clap::Args)]
pub struct PauseArgs {
    /// How long, such as 90s, 10m, 2h or 1d [default: until `towpath rules continue`]
    #[arg(long = "for", value_name = "TIME", value_parser = pause_time)]
    time: Option<i64>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Correct again after a pause.
///
/// Example: towpath rules continue
#[derive(Debug, clap::Args)]
pub struct ContinueArgs {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// A longer pause is one that lasts until `towpath rules continue`.
const LONGEST_DAYS: i64 = 3_650;

fn pause_time(text: &str) -> Result<i64, String> {
    let open = "without --for it lasts until `towpath rules continue`";
    match milliseconds(text) {
        Ok(0) => Err("write more than no time".to_owned()),
        Ok(time) if time <= LONGEST_DAYS * 86_400_000 => Ok(time),
        Ok(_) => Err(format!("the longest pause is {LONGEST_DAYS}d; {open}")),
        Err(error) => Err(error),
    }
}

impl Execute for PauseArgs {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let since_ms = now_ms();
        let until_ms = self.time.map(|time| since_ms.saturating_add(time));
        RuleBook::open(&env.directories.state)?.set_pause(Some(Pause { since_ms, until_ms }))?;
        if self.json {
            let until = until_ms.map(rfc3339);
            out::json(&json!({ "schema": 1, "paused": true, "until": until }));
            return Ok(Exit::Done);
        }
        out::line(paused_line(until_ms));
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}

impl Execute for ContinueArgs {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let paused = env.journal()?.map_or(Ok(None), |store| pause(&store))?.is_some();
        if paused {
            RuleBook::open(&env.directories.state)?.set_pause(None)?;
        }
        if self.json {
            out::json(&json!({ "schema": 1, "paused": false, "was_paused": paused }));
        } else {
            let was = if paused { "corrections continue" } else { "corrections were not paused" };
            out::line(was);
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}
