//! The result of a run as JSON, with what only this program knows: the exit code and the time zone.

use crate::environment::local_zone;
use crate::exit::{CommandError, Exit};
use serde_json::Value;
use towpath_engine::RunEnd;
use towpath_store::Store;
use towpath_view::result_json::{ResultOptions, result_json};

pub fn result(
    store: &Store,
    end: &RunEnd,
    exit: Exit,
    with_context: bool,
) -> Result<Value, CommandError> {
    let (exit_code, zone) = (exit as u8, local_zone());
    Ok(result_json(end, &ResultOptions { store, exit_code, with_context, zone })?)
}
