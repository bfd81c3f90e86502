//! `towpath failures export`: recorded calls for other programs.

use super::super::Execute;
use super::{WhichFailures, journal};
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::terminal::format::rfc3339;
use crate::terminal::out;
use serde_json::json;
use towpath_corrections::failure::{FailureRow, csv};

/// Print failures as JSON lines or CSV, the newest first.
///
/// Secrets were removed when the calls were recorded.
///
/// Example: towpath failures export --format csv > failures.csv
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Args {
    #[command(flatten)]
    which: WhichFailures,
    /// json: one object per line; csv: with a header.
    #[arg(long, value_enum, default_value_t = ExportFormat::Json, hide_possible_values = true)]
    format: ExportFormat,
    /// Calls that succeeded, too.
    #[arg(long)]
    all: bool,
    /// Print at most N calls.
    #[arg(short = 'n', long = "limit", value_name = "N")]
    limit: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ExportFormat {
    /// One JSON object per line.
    Json,
    Csv,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let (query, store) = (self.which.query(self.limit), journal(env)?);
        let rows = match self.all {
            true => query.calls(store.as_ref())?,
            false => query.failures(store.as_ref())?,
        };
        let json = |row| format!("{}\n", json!(FailureRow::new(row, &rfc3339)));
        let text = match self.format {
            ExportFormat::Json => rows.iter().map(json).collect(),
            ExportFormat::Csv => csv(&rows, &rfc3339),
        };
        out::stdout(text.as_bytes());
        Ok(Exit::Done)
    }
}
