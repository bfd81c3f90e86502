//! What kind of fault a failed call of Gemini CLI is. The program ends with the status of the model's
//! service modulo 256, or a code of its own; the service's own error is in the message as JSON where
//! the program did not replace it by a sentence. Standard error decides only where nothing else was
//! printed.

use crate::http_fault;
use crate::json_access::{count_at, text_at};
use crate::program_exit::End;
use crate::reply::CallFault;
use crate::strip_colours::plain;
use serde_json::Value;
use towpath_core::FaultKind;

/// The fault of a `result` line without success.
pub(super) fn of_result(result: &Value, end: &End<'_>) -> CallFault {
    let error = text_at(result, "/error/message").map_or("", str::trim);
    let answer = service_error(error);
    let kind = answer
        .as_ref()
        .and_then(by_answer)
        .or_else(|| by_code(end.exit.code?))
        .or_else(|| by_sentence(error))
        .unwrap_or(FaultKind::Crash);
    let own_words = answer.as_ref().and_then(|answer| text_at(answer, "/error/message"));
    let message = match own_words.unwrap_or(error) {
        "" => text_at(result, "/error/type").unwrap_or("no reason given"),
        words => words,
    };
    let until_ms = match kind {
        FaultKind::Limit => retry_after(error, end.at_ms),
        _ => None,
    };
    CallFault { kind, until_ms, message: format!("Gemini: {message}") }
}

/// The process ended before it printed a result.
pub(super) fn no_result(end: &End<'_>) -> CallFault {
    let stderr = plain(end.stderr);
    let begins = |start: &str| stderr.lines().any(|line| line.trim_start().starts_with(start));
    let unknown = begins("Error resuming session: ") || begins("No previous sessions found");
    let kind = match end.exit.code {
        Some(42) if unknown => FaultKind::UnknownSession,
        Some(code) => by_code(code).unwrap_or(FaultKind::Crash),
        None => FaultKind::Crash,
    };
    CallFault::with_first(kind, &format!("Gemini {} and gave no result", end.exit), &[&stderr])
}

/// The error of the model's service, as in `[API Error: {…}]`.
fn service_error(text: &str) -> Option<Value> {
    let inside = text.strip_prefix("[API Error: ")?;
    serde_json::Deserializer::from_str(inside).into_iter().next()?.ok().filter(Value::is_object)
}

fn by_answer(answer: &Value) -> Option<FaultKind> {
    let details = answer.pointer("/error/details").and_then(Value::as_array);
    let reasons = details.into_iter().flatten().filter_map(|detail| text_at(detail, "/reason"));
    // A bad key is answered with 400.
    if reasons.into_iter().any(|reason| reason == "API_KEY_INVALID") {
        return Some(FaultKind::Auth);
    }
    http_fault::fault_of_status(count_at(answer, "/error/code")?)
}

/// What the program's exit code means.
fn by_code(code: i32) -> Option<FaultKind> {
    match code {
        41 => Some(FaultKind::Auth),
        // Its settings, the turns they allow, or a folder that is not trusted.
        52 | 53 | 55 => Some(FaultKind::BadRequest),
        // A status from 400 on, of which an exit code keeps the last eight bits.
        144..=255 => http_fault::fault_of_status(u64::from(code.unsigned_abs()) + 256),
        _ => None,
    }
}

fn by_sentence(text: &str) -> Option<FaultKind> {
    let inside = text.strip_prefix("[API Error: ")?;
    if inside.starts_with("exception TypeError: fetch failed") {
        return Some(FaultKind::Overloaded);
    }
    // The service has answered, and the program gave up at once.
    Some(FaultKind::BadRequest)
}

/// `Suggested retry after 3s.`, a line that the program writes below the service's words.
fn retry_after(text: &str, at_ms: i64) -> Option<i64> {
    let mut lines = text.lines().map(|line| line.trim_end_matches(']'));
    let wait = lines.find_map(|line| line.strip_prefix("Suggested retry after "))?;
    let seconds: f64 = wait.strip_suffix("s.")?.parse().ok()?;
    let wait =
        (seconds.is_finite() && (0.0..1e9).contains(&seconds)).then_some(seconds * 1000.0)?;
    at_ms.checked_add(wait.ceil() as i64)
}
