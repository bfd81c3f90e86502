//! What kind of fault a failed turn of Codex is. The program has no field for it, only its own fixed
//! sentences, which are known here by their beginnings; a status counts where such a sentence names
//! it. Any other text comes from the model's service.

use super::rate_limit_reset;
use crate::http_fault;
use crate::program_exit::End;
use crate::reply::CallFault;
use crate::strip_colours::plain;
use jiff::tz::TimeZone;
use towpath_core::FaultKind;

/// Beginnings of sentences before a status.
const STATUS: &[&str] = &["unexpected status ", "exceeded retry limit, last status: "];

/// Apostrophes are written straight here, and curly by some versions.
const SENTENCES: &[(&str, FaultKind)] = &[
    ("Missing environment variable: ", FaultKind::Auth),
    ("Your access token could not be refreshed", FaultKind::Auth),
    ("Your authentication session could not be refreshed", FaultKind::Auth),
    ("You've hit your usage limit", FaultKind::Limit),
    ("You hit your spend cap", FaultKind::Limit),
    ("Your workspace is out of credits", FaultKind::Limit),
    ("Quota exceeded", FaultKind::Limit),
    ("We're currently experiencing high demand", FaultKind::Overloaded),
    ("Selected model is at capacity", FaultKind::Overloaded),
    ("stream disconnected before completion", FaultKind::Overloaded),
    ("Connection failed", FaultKind::Overloaded),
    ("Codex ran out of room", FaultKind::TooLong),
    ("internal error", FaultKind::Crash),
    ("sandbox error", FaultKind::Crash),
];

pub(super) fn of_turn(message: &str, at_ms: i64, zone: &TimeZone) -> CallFault {
    let message = message.trim().replace('’', "'");
    let kind =
        by_status(&message).or_else(|| by_sentence(&message)).unwrap_or(FaultKind::BadRequest);
    let until_ms = match kind {
        FaultKind::Limit => rate_limit_reset::reset_time(&message, at_ms, zone),
        _ => None,
    };
    let message = if message.is_empty() { "Codex gave no reason".to_owned() } else { message };
    CallFault { kind, until_ms, message: format!("Codex: {message}") }
}

/// The process ended before the turn did.
pub(super) fn no_turn(end: &End<'_>, error: &str) -> CallFault {
    let stderr = plain(end.stderr);
    let unknown = |line: &str| {
        line.starts_with("Error: thread/resume") && line.contains("no rollout found for thread id")
    };
    let what = format!("Codex {} in the middle of its work", end.exit);
    // A backtrace may follow the line that has the reason.
    match stderr.lines().find(|line| unknown(line)) {
        Some(line) => CallFault::with_first(FaultKind::UnknownSession, &what, &[line]),
        None => CallFault::with_first(FaultKind::Crash, &what, &[error, &stderr]),
    }
}

fn by_status(message: &str) -> Option<FaultKind> {
    let after = STATUS.iter().find_map(|start| message.strip_prefix(start))?;
    http_fault::fault_of_status(after.split(' ').next()?.parse().ok()?)
}

fn by_sentence(message: &str) -> Option<FaultKind> {
    SENTENCES.iter().find(|(start, _)| message.starts_with(start)).map(|(_, kind)| *kind)
}
