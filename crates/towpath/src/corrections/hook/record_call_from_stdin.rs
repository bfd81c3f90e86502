//! One call, recorded from its description on stdin: what hooks that were installed for `dp` run.

use super::after_call::{compare, has_failed};
use super::append_call_to_log::End;
use super::{HookCall, read_stdin};
use crate::corrections::{fold_hook_log, hook_log};
use crate::environment::Environment;
use crate::exit_codes_and_errors::CommandError;
use serde_json::Value;
use std::path::Path;
use towpath_corrections::hook_record::HookRecord;
use towpath_corrections::host::{HookEvent, HookPayload, Host, PayloadError};
use towpath_store::{Store, ToolCallRow};

/// Records the call in the log of hooks, or in another journal. Without secrets, as all of them.
pub fn ingest(
    env: &Environment,
    host: Host,
    database: Option<&Path>,
) -> Result<ToolCallRow, CommandError> {
    let failed = |error: &dyn std::fmt::Display| {
        CommandError::bad_input(format!("extracting fields: {error}"))
    };
    let payload = serde_json::from_slice(&read_stdin()?).map_err(|error| failed(&error))?;
    let payload = read(host, &payload).map_err(|error| failed(&error))?;
    let call = HookCall::new(env, payload);
    let tool_call = &call.payload.call;
    let outcome = call.payload.outcome.as_ref();
    let end = End {
        failed: outcome.is_some_and(|outcome| has_failed(tool_call, outcome)),
        exit_code: outcome.and_then(|outcome| outcome.exit_code),
        text: outcome.map_or("", |outcome| outcome.text.as_str()),
    };
    let mut records = Vec::new();
    compare(&call, &mut records, &mut Vec::new());
    let called = call.called(tool_call, call.payload.call_id.as_deref(), &end);
    records.push(HookRecord::Called(called.clone()));
    let row = fold_hook_log::call_row(called);
    match database {
        Some(path) => drop(Store::open_file(path)?.tool_calls_add(std::slice::from_ref(&row))?),
        None => append(&call, &records)?,
    }
    Ok(row)
}

fn append(call: &HookCall, records: &[HookRecord]) -> Result<(), CommandError> {
    hook_log::append(&call.directory, records).map(drop).map_err(|error| {
        let directory = call.directory.path().display().to_string();
        CommandError::setup(format!("{directory} cannot be written: {error}"))
    })
}

/// A payload may name its event, or not: one with an error is of a call that failed.
fn read(host: Host, payload: &Value) -> Result<HookPayload, PayloadError> {
    let is_text = |key: &&str| payload[*key].as_str().is_some_and(|text| !text.is_empty());
    let (first, second) = match ["error", "error_message"].iter().any(is_text) {
        true => (HookEvent::Failure, HookEvent::Post),
        false => (HookEvent::Post, HookEvent::Failure),
    };
    host.read(first, payload).or_else(|error| host.read(second, payload).map_err(|_| error))
}
