//! `dp paths`: which tools fail most often.

use super::Dp;
use super::dates::{since, utc};
use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use crate::terminal::screen::Screen;
use crate::terminal::table::{Cell, Table};
use serde_json::json;
use towpath_corrections::{Rule, RuleKind};
use towpath_store::{CountBy, ToolCallFilter};

/// Show what fails most often.
///
/// Example: dp paths --top 10
#[derive(Debug, clap::Args)]
pub struct PathsArgs {
    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: u32,
    /// How far back: 30m, 24h, 7d, or a date.
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<i64>,
}

pub fn paths(dp: &Dp<'_>, args: &PathsArgs) -> Result<Exit, CommandError> {
    let filter = ToolCallFilter {
        since_ms: args.since,
        failed_only: true,
        limit: Some(args.top),
        ..ToolCallFilter::default()
    };
    let store = dp.records()?;
    let counts = store.map(|store| store.tool_call_counts(&filter, CountBy::Tool)).transpose()?;
    let counts = counts.unwrap_or_default();
    let rules = dp.rules()?;
    if dp.json {
        let rows = counts.iter().map(|count| {
            let mut row = json!({
                "id": count.value,
                "pattern": count.value,
                "count": count.calls,
                "first_seen": utc(count.first_ms),
                "last_seen": utc(count.last_ms),
            });
            if let Some(alias) = alias_of(&rules, &count.value) {
                row["alias_to"] = alias.into();
            }
            row
        });
        out::json(&rows.collect());
        return Ok(Exit::Done);
    }
    let header = ["RANK", "PATTERN", "COUNT", "FIRST_SEEN", "LAST_SEEN", "ALIAS"];
    let mut table = Table::new(&header);
    for (index, count) in counts.iter().enumerate() {
        table.row(vec![
            Cell::from((index + 1).to_string()),
            (&count.value).into(),
            count.calls.to_string().into(),
            utc(count.first_ms).into(),
            utc(count.last_ms).into(),
            alias_of(&rules, &count.value).unwrap_or_default().into(),
        ]);
    }
    table.print(&Screen::new(dp.env));
    Ok(Exit::Done)
}

/// The tool that a rule names instead of this one.
pub fn alias_of(rules: &[Rule], tool: &str) -> Option<String> {
    let named = |rule: &&Rule| matches!(&rule.kind, RuleKind::ToolName { from, .. } if from.eq_ignore_ascii_case(tool));
    rules.iter().find(named).map(|rule| rule.kind.to().to_owned())
}
