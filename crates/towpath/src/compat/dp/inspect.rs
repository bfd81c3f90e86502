//! `dp inspect`: the failed calls of one tool.

use super::Dp;
use super::dates::{date, since, utc};
use super::paths::alias_of;
use super::recorded_calls::{error, shown_error};
use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use crate::terminal::screen::Screen;
use serde_json::{Value, json};
use towpath_corrections::failure::{Counted, matches};
use towpath_store::{ToolCallFilter, ToolCallRow};
use towpath_view::foreign_text::first_line;

/// Show the failed calls of one tool: when, with which input, with which error.
///
/// Example: dp inspect 'read%' --since 7d
#[derive(Debug, clap::Args)]
pub struct InspectArgs {
    /// The name of a tool; % is any text.
    pattern: String,
    /// How far back: 30m, 24h, 7d, or a date.
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<i64>,
    /// How many inputs and errors.
    #[arg(long, value_name = "N", default_value_t = 5)]
    top: usize,
}

pub fn inspect(dp: &Dp<'_>, args: &InspectArgs) -> Result<Exit, CommandError> {
    let filter =
        ToolCallFilter { since_ms: args.since, failed_only: true, ..ToolCallFilter::default() };
    let mut calls = dp.calls(&filter)?;
    calls.retain(|call| matches(&call.tool, &args.pattern));
    let view = Inspected::new(&calls, args.top, alias_of(&dp.rules()?, &args.pattern));
    match dp.json {
        true => out::json(&view.json(&args.pattern)),
        false => view.print(&args.pattern, &Screen::new(dp.env)),
    }
    Ok(Exit::Done)
}

struct Inspected {
    total: usize,
    /// The first and the last.
    seen: Option<(i64, i64)>,
    alias: Option<String>,
    days: Vec<Counted>,
    inputs: Vec<Counted>,
    errors: Vec<Counted>,
}

impl Inspected {
    fn new(calls: &[ToolCallRow], top: usize, alias: Option<String>) -> Inspected {
        let times = || calls.iter().map(|call| call.at_ms);
        Inspected {
            total: calls.len(),
            seen: times().min().zip(times().max()),
            alias,
            days: Counted::each("date", calls.iter().map(|call| date(call.at_ms))),
            inputs: Counted::most("name", calls.iter().map(|call| call.input.clone()), top),
            errors: Counted::most("name", calls.iter().map(|call| error(call).to_owned()), top),
        }
    }

    fn json(&self, pattern: &str) -> Value {
        json!({
            "pattern": pattern,
            "total": self.total,
            "first_seen": self.seen.map(|(first, _)| utc(first)),
            "last_seen": self.seen.map(|(_, last)| utc(last)),
            "alias_to": self.alias.as_deref().unwrap_or_default(),
            "histogram": self.days,
            "top_inputs": self.inputs,
            "top_errors": self.errors,
        })
    }

    fn print(&self, pattern: &str, screen: &Screen) {
        out::line(format!("Pattern:    {pattern}"));
        out::line(format!("Total:      {}", self.total));
        let Some((first, last)) = self.seen else {
            out::line("\nNo desires found for this pattern.");
            return;
        };
        out::line(format!("First seen: {}", utc(first)));
        out::line(format!("Last seen:  {}", utc(last)));
        if let Some(alias) = &self.alias {
            out::line(format!("Alias:      {alias}"));
        }
        out::line("\nFrequency:");
        let most = self.days.iter().map(|day| day.count).max().unwrap_or(1);
        for Counted { text: day, count, .. } in &self.days {
            let bar = "#".repeat((count * BAR / most).max(1));
            out::line(format!("  {day}  {bar} {count}"));
        }
        for (title, counts) in [("Top inputs:", &self.inputs), ("Top errors:", &self.errors)] {
            out::line(format!("\n{title}"));
            for Counted { text: name, count, .. } in counts {
                screen.line(&format!("  {count:4}  {}", first_line(shown_error(name))));
            }
        }
    }
}

/// The longest bar of the histogram.
const BAR: usize = 40;
