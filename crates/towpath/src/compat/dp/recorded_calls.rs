//! The recorded calls that `dp` shows: a failed one is a *desire*, any is an *invocation*.

use super::Dp;
use crate::corrections::folded_journal;
use crate::exit::CommandError;
use crate::terminal::format::rfc3339;
use serde_json::{Map, Value, json};
use towpath_corrections::failure::{message_line, recorded};
use towpath_store::{Store, ToolCallFilter, ToolCallRow};

impl Dp<'_> {
    /// The journal with everything that was recorded; `None` while there is nothing.
    pub fn records(&self) -> Result<Option<Store>, CommandError> {
        match &self.db {
            Some(path) => Ok(Store::open_file_for_reading(&self.own_database(path)?)?),
            None => folded_journal(self.env),
        }
    }

    pub fn calls(&self, filter: &ToolCallFilter) -> Result<Vec<ToolCallRow>, CommandError> {
        let store = self.records()?;
        Ok(store.map(|store| store.tool_calls(filter)).transpose()?.unwrap_or_default())
    }
}

pub fn error(call: &ToolCallRow) -> &str {
    call.error.as_deref().unwrap_or_default()
}

/// What an error is about, in a line: its exit code only where there is nothing else.
pub fn shown_error(error: &str) -> &str {
    Some(message_line(error)).filter(|line| !line.is_empty()).unwrap_or(error)
}

/// What was passed to the tool.
pub fn input(call: &ToolCallRow) -> Value {
    recorded(call).call.input
}

pub fn desire_json(call: &ToolCallRow) -> Value {
    let mut fields = Map::from_iter([
        ("id".to_owned(), json!(call.id)),
        ("tool_name".to_owned(), json!(call.tool)),
        ("tool_input".to_owned(), input(call)),
        ("error".to_owned(), json!(error(call))),
        ("source".to_owned(), json!(call.host)),
        ("session_id".to_owned(), json!(call.session)),
        ("cwd".to_owned(), json!(call.directory)),
        ("timestamp".to_owned(), json!(rfc3339(call.at_ms))),
    ]);
    fields.retain(|_, value| !value.is_null());
    Value::Object(fields)
}

pub fn invocation_json(call: &ToolCallRow) -> Value {
    let mut fields = Map::from_iter([
        ("id".to_owned(), json!(call.id)),
        ("source".to_owned(), json!(call.host)),
        ("instance_id".to_owned(), json!(call.session)),
        ("tool_name".to_owned(), json!(call.tool)),
        ("is_error".to_owned(), json!(call.failed)),
        ("error".to_owned(), json!(call.error)),
        ("cwd".to_owned(), json!(call.directory)),
        ("timestamp".to_owned(), json!(rfc3339(call.at_ms))),
    ]);
    fields.retain(|_, value| !value.is_null());
    Value::Object(fields)
}
