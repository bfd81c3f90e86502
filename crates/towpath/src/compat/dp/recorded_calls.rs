//! The recorded calls that `dp` shows: a failed one is a *desire*, any is an *invocation*.

use super::Dp;
use crate::corrections::failures::{message_line, recorded};
use crate::corrections::hook_log::folded_journal;
use crate::environment::local_zone;
use crate::exit::CommandError;
use crate::terminal::format::{now_ms, rfc3339};
use jiff::civil::Date;
use jiff::{Span, SpanRelativeTo, Timestamp};
use serde_json::{Map, Value, json};
use towpath_store::{Store, ToolCallFilter, ToolCallRow};

impl Dp<'_> {
    /// The journal with everything that was recorded; `None` while there is nothing.
    pub fn records(&self) -> Result<Option<Store>, CommandError> {
        match &self.db {
            Some(path) => Ok(Store::open_file_for_reading(&self.env.current.join(path))?),
            None => folded_journal(self.env),
        }
    }

    pub fn calls(&self, filter: &ToolCallFilter) -> Result<Vec<ToolCallRow>, CommandError> {
        let store = self.records()?;
        Ok(store.map(|store| store.tool_calls(filter)).transpose()?.unwrap_or_default())
    }
}

/// The time of `--since`: how long ago (`30m`, `24h`, `7d`), a date, or a time.
pub fn since(text: &str) -> Result<i64, String> {
    let time = text.parse::<Timestamp>().ok();
    let date = || {
        let start = text.parse::<Date>().ok()?.to_zoned(local_zone()).ok()?;
        Some(start.timestamp())
    };
    let ago = || {
        let span = text.parse::<Span>().ok()?;
        let length = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
        let length = i64::try_from(length.as_millis()).ok().filter(|ms| *ms >= 0)?;
        Some(now_ms().saturating_sub(length))
    };
    let found = time.or_else(date).map(Timestamp::as_millisecond).or_else(ago);
    found.ok_or_else(|| {
        format!("invalid --since value {text:?}: write 30m, 24h, 7d, 2026-02-01 or a time")
    })
}

/// `2026-02-10 19:00:00`
pub fn date_time(ms: i64) -> String {
    let time = Timestamp::from_millisecond(ms).unwrap_or_default().to_zoned(local_zone());
    time.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// `2026-02-10T19:00:00Z`
pub fn utc(ms: i64) -> String {
    let time = Timestamp::from_millisecond(ms).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// `2026-02-10`
pub fn date(ms: i64) -> String {
    date_time(ms).chars().take(10).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_is_an_age_a_date_or_a_time() {
        let day = 24 * 60 * 60 * 1000;
        for (text, ago) in [("7d", 7 * day), ("24h", day), ("30m", 30 * 60 * 1000)] {
            let found = since(text).expect("a time");
            assert!((now_ms() - ago - found).abs() < 60_000, "{text}");
        }
        assert_eq!(since("2026-02-01T00:00:00Z"), Ok(1_769_904_000_000));
        assert!(since("2026-02-01").is_ok_and(|ms| (ms - 1_769_904_000_000).abs() <= day));
        for wrong in ["", "soon", "-1d", "7"] {
            assert!(since(wrong).is_err(), "{wrong}");
        }
    }
}
