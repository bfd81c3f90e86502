//! What kind of fault an `error` line of OpenCode is, or an end without one. The line has the name
//! of the error and, when the model's service answered, its status and headers; those decide, never
//! the message. Usage errors come on standard error alone, as fixed sentences.

use crate::http_fault;
use crate::json_access::{count_at, text_at};
use crate::program_exit::End;
use crate::reply::CallFault;
use crate::strip_colours::plain;
use serde_json::Value;
use towpath_core::FaultKind;

/// The fault of an error line; `at_ms` is when the process ended, should the line have no time.
pub(super) fn of_error(event: &Value, at_ms: i64) -> CallFault {
    let name = text_at(event, "/error/name").unwrap_or("error");
    let kind = by_name(name).or_else(|| by_answer(event)).unwrap_or(FaultKind::Crash);
    let at_ms = event.get("timestamp").and_then(Value::as_i64).unwrap_or(at_ms);
    let headers = event.pointer("/error/data/responseHeaders").unwrap_or(&Value::Null);
    let until_ms =
        (kind == FaultKind::Limit).then(|| http_fault::retry_after(headers, at_ms)).flatten();
    let message =
        text_at(event, "/error/data/message").map(str::trim).filter(|message| !message.is_empty());
    CallFault { kind, until_ms, message: format!("OpenCode: {}", message.unwrap_or(name)) }
}

fn by_name(name: &str) -> Option<FaultKind> {
    Some(match name {
        "ProviderAuthError" => FaultKind::Auth,
        "ContextOverflowError" => FaultKind::TooLong,
        "MessageOutputLengthError" | "StructuredOutputError" => FaultKind::BadRequest,
        "MessageAbortedError" => FaultKind::Crash,
        _ => return None,
    })
}

/// By the service's answer; where there was none, a fault worth another try is its absence.
fn by_answer(event: &Value) -> Option<FaultKind> {
    if let Some(status) = count_at(event, "/error/data/statusCode") {
        return http_fault::fault_of_status(status);
    }
    let again = event.pointer("/error/data/isRetryable").and_then(Value::as_bool);
    (again == Some(true)).then_some(FaultKind::Overloaded)
}

/// The process ended without an answer and without an error line.
pub(super) fn no_end(end: &End<'_>) -> CallFault {
    let stderr = plain(end.stderr);
    let unknown = stderr.lines().any(|line| line.trim() == "Error: Session not found");
    let kind = if unknown { FaultKind::UnknownSession } else { FaultKind::Crash };
    CallFault::with_first(kind, &format!("OpenCode {} and gave no answer", end.exit), &[&stderr])
}
