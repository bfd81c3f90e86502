//! `dp list` and `dp export`: recorded calls one by one.

use super::Dp;
use super::dates::{date_time, since};
use super::recorded_calls::{desire_json, error, input, invocation_json, shown_error};
use crate::exit::{CommandError, Exit};
use crate::terminal::format::rfc3339;
use crate::terminal::out;
use crate::terminal::screen::Screen;
use crate::terminal::table::{Cell, Table};
use towpath_corrections::failure::Mistake;
use towpath_corrections::failure::recorded;
use towpath_store::{Order, ToolCallFilter, ToolCallRow};

/// List recent failed calls.
///
/// Example: dp list --since 7d --tool Bash
#[derive(Debug, clap::Args)]
pub struct ListArgs {
    /// How far back: 30m, 24h, 7d, or a date.
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<i64>,
    /// Only of this agent program.
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Only of this tool.
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Only these: env-need for commands that are not installed.
    #[arg(long, value_name = "NAME")]
    category: Option<String>,
    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

pub fn list(dp: &Dp<'_>, args: &ListArgs) -> Result<Exit, CommandError> {
    if let Some(other) = args.category.as_deref().filter(|name| *name != ENV_NEED) {
        let message = format!("unknown category {other:?} (available: {ENV_NEED})");
        return Err(CommandError::bad_input(message));
    }
    let mut desires = dp.calls(&ToolCallFilter {
        since_ms: args.since,
        host: args.source.clone(),
        tool: args.tool.clone(),
        failed_only: true,
        limit: args.category.is_none().then_some(args.limit),
        ..ToolCallFilter::default()
    })?;
    if args.category.is_some() {
        desires.retain(is_env_need);
        desires.truncate(args.limit as usize);
    }
    if dp.json {
        out::json(&desires.iter().map(desire_json).collect());
        return Ok(Exit::Done);
    }
    if desires.is_empty() {
        out::note("No desires found.");
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["TIMESTAMP", "SOURCE", "TOOL", "ERROR"]);
    for call in &desires {
        let time = date_time(call.at_ms);
        table.row(vec![
            time.into(),
            Cell::from(&call.host),
            (&call.tool).into(),
            shown_error(error(call)).into(),
        ]);
    }
    table.print(&Screen::new(dp.env));
    Ok(Exit::Done)
}

/// The category of commands that are not installed.
const ENV_NEED: &str = "env-need";

fn is_env_need(call: &ToolCallRow) -> bool {
    matches!(recorded(call).mistake(), Some(Mistake::Command { .. }))
}

/// Write recorded calls to stdout, one in a line.
///
/// Example: dp export --type invocations --format csv > calls.csv
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// json or csv.
    #[arg(long, default_value = "json")]
    format: String,
    /// desires (failed calls) or invocations (all).
    #[arg(long = "type", value_name = "TYPE", default_value = "desires")]
    what: String,
    /// How far back: 30m, 24h, 7d, or a date.
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<i64>,
}

type CsvRow = fn(&ToolCallRow) -> Vec<String>;

pub fn export(dp: &Dp<'_>, args: &ExportArgs) -> Result<Exit, CommandError> {
    let desires = match args.what.as_str() {
        "desires" => true,
        "invocations" => false,
        other => {
            let message = format!("unsupported --type {other:?} (use desires or invocations)");
            return Err(CommandError::bad_input(message));
        }
    };
    let format = if dp.json { "json" } else { args.format.as_str() };
    if !["json", "csv"].contains(&format) {
        let message = format!("unsupported format {format:?} (use json or csv)");
        return Err(CommandError::bad_input(message));
    }
    let calls = dp.calls(&ToolCallFilter {
        since_ms: args.since,
        failed_only: desires,
        order: Order::NewestFirst,
        ..ToolCallFilter::default()
    })?;
    if format == "json" {
        let json = if desires { desire_json } else { invocation_json };
        for call in &calls {
            out::line(json(call).to_string());
        }
        return Ok(Exit::Done);
    }
    let (header, row): (&[&str], CsvRow) = match desires {
        true => (DESIRE_COLUMNS, desire_row),
        false => (INVOCATION_COLUMNS, invocation_row),
    };
    out::line(header.join(","));
    for call in &calls {
        out::line(csv(&row(call)));
    }
    Ok(Exit::Done)
}

const DESIRE_COLUMNS: &[&str] = &[
    "id",
    "tool_name",
    "error",
    "source",
    "session_id",
    "cwd",
    "timestamp",
    "tool_input",
    "metadata",
];

fn desire_row(call: &ToolCallRow) -> Vec<String> {
    vec![
        call.id.clone(),
        call.tool.clone(),
        error(call).to_owned(),
        call.host.clone(),
        call.session.clone().unwrap_or_default(),
        call.directory.clone().unwrap_or_default(),
        rfc3339(call.at_ms),
        input(call).to_string(),
        String::new(),
    ]
}

const INVOCATION_COLUMNS: &[&str] = &[
    "id",
    "source",
    "instance_id",
    "host_id",
    "tool_name",
    "is_error",
    "error",
    "cwd",
    "timestamp",
    "metadata",
];

fn invocation_row(call: &ToolCallRow) -> Vec<String> {
    vec![
        call.id.clone(),
        call.host.clone(),
        call.session.clone().unwrap_or_default(),
        String::new(),
        call.tool.clone(),
        call.failed.to_string(),
        error(call).to_owned(),
        call.directory.clone().unwrap_or_default(),
        rfc3339(call.at_ms),
        String::new(),
    ]
}

fn csv(fields: &[String]) -> String {
    let quoted = |field: &String| match field.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.clone(),
    };
    fields.iter().map(quoted).collect::<Vec<_>>().join(",")
}
