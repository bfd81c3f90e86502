//! What an answer of a model's service means, where a program hands its parts on: the status and
//! the time after which to come back. Nothing here reads a number out of a sentence.

use jiff::Timestamp;
use serde_json::Value;
use towpath_core::FaultKind;

/// The fault that a status means; `None` for one that is no error.
pub(crate) fn fault_of_status(status: u64) -> Option<FaultKind> {
    Some(match status {
        401 | 403 => FaultKind::Auth,
        402 | 429 => FaultKind::Limit,
        408 | 500..=599 => FaultKind::Overloaded,
        400..=499 => FaultKind::BadRequest,
        _ => return None,
    })
}

/// When to come back, in milliseconds since 1970, by the headers of an answer that came at `at_ms`.
pub(crate) fn retry_after(headers: &Value, at_ms: i64) -> Option<i64> {
    let header = |name: &str| headers.get(name).and_then(Value::as_str).map(str::trim);
    if let Some(wait) = header("retry-after-ms").and_then(|text| text.parse::<u32>().ok()) {
        return at_ms.checked_add(i64::from(wait));
    }
    let text = header("retry-after")?;
    match text.parse::<u32>() {
        Ok(seconds) => at_ms.checked_add(i64::from(seconds) * 1000),
        Err(_) => {
            let date = jiff::fmt::rfc2822::parse(text).ok()?;
            Some(Timestamp::from(date).as_millisecond())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn statuses() {
        for (status, kind) in [
            (200, None),
            (400, Some(FaultKind::BadRequest)),
            (401, Some(FaultKind::Auth)),
            (403, Some(FaultKind::Auth)),
            (404, Some(FaultKind::BadRequest)),
            (429, Some(FaultKind::Limit)),
            (500, Some(FaultKind::Overloaded)),
            (529, Some(FaultKind::Overloaded)),
            (600, None),
        ] {
            assert_eq!(fault_of_status(status), kind, "{status}");
        }
    }

    #[test]
    fn when_to_come_back() {
        for (headers, expected) in [
            (json!({"retry-after": "3"}), Some(4000)),
            (json!({"retry-after": "3", "retry-after-ms": "250"}), Some(1250)),
            (json!({"retry-after": "Thu, 01 Jan 1970 00:01:00 GMT"}), Some(60_000)),
            (json!({"retry-after": "soon"}), None),
            (json!({"retry-after": "-3"}), None),
            (json!({"retry-after": 3}), None),
            (json!({}), None),
            (json!(null), None),
        ] {
            assert_eq!(retry_after(&headers, 1000), expected, "{headers}");
        }
        assert_eq!(retry_after(&json!({"retry-after": "3"}), i64::MAX), None);
    }
}
