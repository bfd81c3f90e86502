//! `dp ingest`, and `dp record` as it was called before: one call from stdin is recorded.

use super::recorded_calls::invocation_json;
use super::{Dp, init};
use crate::corrections::hook;
use crate::exit::{CommandError, Exit};
use crate::terminal::out;

/// Record one call of a tool, which a hook describes on stdin.
///
/// Example: dp ingest --source claude-code < call.json
#[derive(Debug, clap::Args)]
pub struct IngestArgs {
    /// The agent program whose hook it is.
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
}

pub fn execute(dp: &Dp<'_>, args: &IngestArgs, done: &str) -> Result<Exit, CommandError> {
    let Some(name) = &args.source else {
        let message = format!("--source flag is required (available: {})", init::names());
        return Err(CommandError::bad_input(message));
    };
    let host = init::source(name)?;
    let database = dp.db.as_ref().map(|path| dp.env.current.join(path));
    let call = hook::ingest(dp.env, host, database.as_deref())?;
    match dp.json {
        true => out::json(&invocation_json(&call)),
        false => {
            out::note(format!(
                "{done} invocation: {} (source: {name}, tool: {})",
                call.id, call.tool
            ));
        }
    }
    Ok(Exit::Done)
}
