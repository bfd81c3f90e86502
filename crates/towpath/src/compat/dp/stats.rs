//! `dp stats`: recorded calls in numbers.

use super::Dp;
use super::dates::date;
use crate::exit::{CommandError, Exit};
use crate::terminal::format::{now_ms, rfc3339};
use crate::terminal::out;
use serde_json::{Map, Value, json};
use towpath_store::{CallCount, CountBy, Store, ToolCallFilter};

/// Show how many calls failed, of what, and when.
///
/// Example: dp stats --invocations
#[derive(Debug, clap::Args)]
pub struct StatsArgs {
    /// All calls, not the failed ones alone.
    #[arg(long)]
    invocations: bool,
}

/// How many names are shown.
const TOP: usize = 10;
const DAY: i64 = 24 * 60 * 60 * 1000;

#[derive(Default)]
struct Numbers {
    by_tool: Vec<CallCount>,
    by_source: Vec<CallCount>,
    /// In the last day, week and month.
    recent: [u64; 3],
}

impl Numbers {
    fn of(store: &Store, failed_only: bool) -> Result<Numbers, CommandError> {
        let all = ToolCallFilter { failed_only, ..ToolCallFilter::default() };
        let since = |days: i64| -> Result<u64, CommandError> {
            let since_ms = Some(now_ms() - days * DAY);
            let filter = ToolCallFilter { since_ms, ..all.clone() };
            let counts = store.tool_call_counts(&filter, CountBy::Host)?;
            Ok(counts.iter().map(|count| count.calls).sum())
        };
        Ok(Numbers {
            by_tool: store.tool_call_counts(&all, CountBy::Tool)?,
            by_source: store.tool_call_counts(&all, CountBy::Host)?,
            recent: [since(1)?, since(7)?, since(30)?],
        })
    }

    fn total(&self) -> u64 {
        self.by_tool.iter().map(|count| count.calls).sum()
    }

    /// The first and the last call.
    fn range(&self) -> Option<(i64, i64)> {
        let first = self.by_tool.iter().map(|count| count.first_ms).min();
        first.zip(self.by_tool.iter().map(|count| count.last_ms).max())
    }
}

pub fn execute(dp: &Dp<'_>, args: &StatsArgs) -> Result<Exit, CommandError> {
    let store = dp.records()?;
    let numbers = store.map(|store| Numbers::of(&store, !args.invocations)).transpose()?;
    let numbers = numbers.unwrap_or_default();
    match dp.json {
        true => out::json(&as_json(&numbers, args.invocations)),
        false => print(&numbers, args.invocations),
    }
    Ok(Exit::Done)
}

fn as_json(numbers: &Numbers, invocations: bool) -> Value {
    let names = |counts: &[CallCount]| -> Value {
        let top = counts.iter().take(TOP);
        top.map(|count| json!({ "name": count.value, "count": count.calls })).collect()
    };
    let [day, week, month] = numbers.recent;
    let own = match invocations {
        true => json!({
            "total": numbers.total(),
            "unique_tools": numbers.by_tool.len(),
            "top_sources": names(&numbers.by_source),
            "top_tools": names(&numbers.by_tool),
        }),
        false => {
            let sources = numbers.by_source.iter().map(|c| (c.value.clone(), json!(c.calls)));
            json!({
                "total_desires": numbers.total(),
                "unique_paths": numbers.by_tool.len(),
                "top_sources": sources.collect::<Map<_, _>>(),
                "top_desires": names(&numbers.by_tool),
            })
        }
    };
    let common = json!({
        "earliest": numbers.range().map(|(first, _)| rfc3339(first)),
        "latest": numbers.range().map(|(_, last)| rfc3339(last)),
        "last_24h": day,
        "last_7d": week,
        "last_30d": month,
    });
    let fields = [own, common].into_iter().filter_map(|part| part.as_object().cloned());
    Value::Object(fields.flatten().collect())
}

fn print(numbers: &Numbers, invocations: bool) {
    let (total, unique, top) = match invocations {
        true => ("Total invocations:", "Unique tools:", "Top tools:"),
        false => ("Total desires:", "Unique tool names:", "Top desires:"),
    };
    let line = |title: &str, value: &str| out::line(format!("{title:<19} {value}"));
    line(total, &numbers.total().to_string());
    line(unique, &numbers.by_tool.len().to_string());
    let Some((first, last)) = numbers.range() else { return };
    out::line("");
    line("Date range:", &format!("{} to {}", date(first), date(last)));
    out::line("");
    for (title, count) in ["Last 24h:", "Last 7d:", "Last 30d:"].iter().zip(numbers.recent) {
        line(title, &count.to_string());
    }
    for (title, counts) in [("Top sources:", &numbers.by_source), (top, &numbers.by_tool)] {
        out::line(format!("\n{title}"));
        for count in counts.iter().take(TOP) {
            out::line(format!("  {:<20} {}", count.value, count.calls));
        }
    }
}
