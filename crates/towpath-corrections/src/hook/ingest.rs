//! One call, recorded from its description: what hooks that were installed for `dp` run.

use super::HookCall;
use super::after_call::{compare, has_failed};
use super::records::End;
use crate::Error;
use crate::hook_log::record::HookRecord;
use crate::hook_log::{self, call_row};
use crate::host::{HookEvent, HookPayload, Host, PayloadError};
use serde_json::Value;
use std::path::Path;
use towpath_store::{Store, ToolCallRow};

impl HookCall<'_> {
    /// Records the call in the log of hooks, or in another journal. Without secrets, as all of them.
    pub fn ingest(&self, database: Option<&Path>) -> Result<ToolCallRow, Error> {
        let tool_call = &self.payload.call;
        let outcome = self.payload.outcome.as_ref();
        let end = End {
            failed: outcome.is_some_and(|outcome| has_failed(tool_call, outcome)),
            exit_code: outcome.and_then(|outcome| outcome.exit_code),
            text: outcome.map_or("", |outcome| outcome.text.as_str()),
        };
        let mut records = Vec::new();
        compare(self, &mut records, &mut Vec::new());
        let called = self.called(tool_call, self.payload.call_id.as_deref(), &end);
        records.push(HookRecord::Called(called.clone()));
        let row = call_row(called);
        match database {
            Some(path) => drop(Store::open_file(path)?.tool_calls_add(std::slice::from_ref(&row))?),
            None => {
                hook_log::append(&self.directory, &records).map(drop).map_err(|error| {
                    let directory = self.directory.path().display();
                    Error::Setup(format!("{directory} cannot be written: {error}"))
                })?;
            }
        }
        Ok(row)
    }
}

/// A payload of a call that has ended. It may name its event, or not: one with an error is of a call
/// that failed.
pub fn any_payload(host: Host, payload: &Value) -> Result<HookPayload, PayloadError> {
    let is_text = |key: &&str| payload[*key].as_str().is_some_and(|text| !text.is_empty());
    let (first, second) = match ["error", "error_message"].iter().any(is_text) {
        true => (HookEvent::Failure, HookEvent::Post),
        false => (HookEvent::Post, HookEvent::Failure),
    };
    host.read(first, payload).or_else(|error| host.read(second, payload).map_err(|_| error))
}
