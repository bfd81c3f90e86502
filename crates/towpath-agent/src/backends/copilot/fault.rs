//! What kind of fault a `session.error` line of Copilot is, or an end without a result. The line has
//! the program's word for the error and the status of the model's service; its message is only
//! shown. What is wrong before a session begins comes on standard error alone, as fixed sentences.

use crate::http_fault;
use crate::json_access::{count_at, text_at};
use crate::program_exit::End;
use crate::reply::CallFault;
use crate::strip_colours::plain;
use serde_json::Value;
use towpath_core::FaultKind;

pub(super) fn of_error(event: &Value) -> CallFault {
    let word = text_at(event, "/data/errorType").unwrap_or("error");
    let status = count_at(event, "/data/statusCode");
    let kind = by_word(word)
        .or_else(|| http_fault::fault_of_status(status?))
        // A query without a status got no answer.
        .or((word == "query" && status.is_none()).then_some(FaultKind::Overloaded))
        .unwrap_or(FaultKind::Crash);
    let message =
        text_at(event, "/data/message").map(str::trim).filter(|message| !message.is_empty());
    CallFault::new(kind, format!("Copilot: {}", message.unwrap_or(word)))
}

fn by_word(word: &str) -> Option<FaultKind> {
    Some(match word {
        "authentication" | "authorization" => FaultKind::Auth,
        "rate_limit" | "quota" => FaultKind::Limit,
        "context_limit" => FaultKind::TooLong,
        _ => return None,
    })
}

/// The process ended before it printed a result.
pub(super) fn no_result(end: &End<'_>) -> CallFault {
    let stderr = plain(end.stderr);
    let begins = |start: &str| stderr.lines().any(|line| line.trim_start().starts_with(start));
    let kind = if begins("Error: No session, task, or name matched") {
        FaultKind::UnknownSession
    } else if begins("Error: No authentication information found") {
        FaultKind::Auth
    } else {
        FaultKind::Crash
    };
    CallFault::with_first(kind, &format!("Copilot {} and gave no result", end.exit), &[&stderr])
}

/// It reported a failure without an error.
pub(super) fn ended(end: &End<'_>) -> CallFault {
    let stderr = plain(end.stderr);
    CallFault::with_first(FaultKind::Crash, &format!("Copilot {}", end.exit), &[&stderr])
}
