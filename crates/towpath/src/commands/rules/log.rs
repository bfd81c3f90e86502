//! `towpath rules log`: what was corrected when, in which agent program, and what ran then.

use super::super::Execute;
use super::host_parser;
use crate::corrections::folded_journal;
use crate::duration_arguments::milliseconds;
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, Exit};
use crate::terminal::format::{ago, clean, now_ms, rfc3339};
use crate::terminal::out;
use crate::terminal::screen::{Screen, Tint, cut};
use serde_json::{Value, json};
use towpath_corrections::host::Host;
use towpath_store::{CorrectionFilter, CorrectionRow};

/// Show what was corrected, the newest first.
///
/// Example: towpath rules log --since 2d
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show at most N corrections.
    #[arg(short = 'n', value_name = "N", default_value_t = 20)]
    number: u32,
    /// Only corrections of this age at most, such as 90m, 12h, 30d or 2w.
    #[arg(long, value_name = "AGE", value_parser = milliseconds)]
    since: Option<i64>,
    /// Only corrections in this agent program.
    #[arg(long, value_name = "NAME", value_parser = host_parser())]
    host: Option<Host>,
    /// Only corrections by this rule.
    #[arg(long, value_name = "NUMBER")]
    rule: Option<i64>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let filter = CorrectionFilter {
            since_ms: self.since.map(|age| now_ms().saturating_sub(age)),
            host: self.host.map(|host| host.name().to_owned()),
            rule: self.rule,
            // One more shows whether there are more.
            limit: Some(self.number.saturating_add(1)),
            ..CorrectionFilter::default()
        };
        let store = folded_journal(env)?;
        let mut rows = store.map_or(Ok(Vec::new()), |store| store.corrections(&filter))?;
        let more = rows.len() > self.number as usize;
        rows.truncate(self.number as usize);
        if self.json {
            let rows: Vec<Value> = rows.iter().map(row_json).collect();
            out::json(&json!({ "schema": 1, "corrections": rows, "more": more }));
        } else if rows.is_empty() && !more {
            out::line("nothing was corrected; to see what would be: towpath rules test COMMAND");
        } else {
            print(env, &rows);
            if more {
                let next = self.number.saturating_mul(2).max(20);
                out::line(format!("there are more; to see them: towpath rules log -n {next}"));
            }
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}

fn print(env: &Environment, rows: &[CorrectionRow]) {
    let screen = Screen::new(env);
    let now = now_ms();
    for row in rows {
        let numbers: Vec<String> = row.rules.iter().map(i64::to_string).collect();
        let rules = if numbers.len() == 1 { "rule" } else { "rules" };
        let (rules, when) = (format!("{rules} {}", numbers.join(", ")), ago(row.at_ms, now));
        let (outcome, tint) = outcome(row);
        let head =
            format!("{when} · {} · {rules} · {}", clean(&row.host), screen.paint(tint, &outcome));
        out::line(head);
        let show = |mark: &str, tint: Tint, text: &str| {
            for line in text.split('\n') {
                let line = clean(line);
                let line = screen.width.map_or(line.clone(), |w| cut(&line, w.saturating_sub(4)));
                out::line(format!("  {} {line}", screen.paint(tint, mark)));
            }
        };
        show("-", Tint::Bad, &row.before);
        if !row.after.is_empty() {
            show("+", Tint::Good, &row.after);
        }
    }
}

/// What became of a correction. The words of a decision are the hook's.
fn outcome(row: &CorrectionRow) -> (String, Tint) {
    let decision = clean(&row.decision);
    match &row.ran {
        None => (decision, Tint::None),
        Some(ran) if *ran == row.after => (format!("{decision}, and that ran"), Tint::Good),
        Some(ran) if *ran == row.before => (format!("{decision}, but the original ran"), Tint::Bad),
        Some(_) => (format!("{decision}, but something else ran"), Tint::Attention),
    }
}

fn row_json(row: &CorrectionRow) -> Value {
    json!({
        "at": rfc3339(row.at_ms),
        "host": row.host,
        "version": row.version,
        "session": row.session,
        "directory": row.directory,
        "rules": row.rules,
        "decision": row.decision,
        "before": row.before,
        "after": (!row.after.is_empty()).then_some(&row.after),
        "ran": row.ran,
    })
}
