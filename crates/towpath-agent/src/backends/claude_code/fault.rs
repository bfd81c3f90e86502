//! What kind of fault a failed `result` is. Decided by the program's own fields: its word
//! for the error, the HTTP status, the reason it ended. Numbers in the agent's prose mean nothing.
//! Only versions without those words are judged by the program's own fixed sentences.

use crate::http_fault;
use crate::reply::CallFault;
use serde_json::Value;
use towpath_core::FaultKind;

/// What the lines before the result report about an error.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// The program's word on the last message of the main agent.
    word: Option<String>,
    /// When a refused limit is over.
    resets_at: Option<i64>,
}

impl Heard {
    /// An `assistant` line of the main agent: a later answer takes an earlier error back.
    pub(super) fn assistant(&mut self, line: &Value) {
        self.word = text(line, "error").map(str::to_owned);
        if let Some(limit) = line.pointer("/api_error_params/rate_limit_info") {
            self.limit(limit);
        }
    }

    /// A `rate_limit_info` object.
    pub(super) fn limit(&mut self, info: &Value) {
        if text(info, "status") == Some("rejected") {
            self.resets_at = info.get("resetsAt").and_then(Value::as_i64);
        }
    }

    /// The fault of a `result` with `is_error`.
    pub(super) fn fault(&self, result: &Value) -> CallFault {
        let kind = by_errors(result)
            .or_else(|| by_length(result))
            .or_else(|| by_subtype(result))
            .or_else(|| by_word(self.word.as_deref()?))
            .or_else(|| http_fault::fault_of_status(result.get("api_error_status")?.as_u64()?))
            .or_else(|| by_reason(result))
            .or_else(|| by_sentence(text(result, "result")?))
            .unwrap_or(FaultKind::Crash);
        let until_ms = self.resets_at.filter(|_| kind == FaultKind::Limit);
        let until_ms = until_ms.and_then(|seconds| seconds.checked_mul(1000));
        CallFault { kind, until_ms, message: message(result) }
    }
}

fn by_errors(result: &Value) -> Option<FaultKind> {
    let errors = result.get("errors").and_then(Value::as_array);
    errors.into_iter().flatten().filter_map(Value::as_str).find_map(by_refusal)
}

/// The service's own word for it is that of any bad request.
fn by_length(result: &Value) -> Option<FaultKind> {
    let too_long = text(result, "terminal_reason") == Some("prompt_too_long")
        || text(result, "result").is_some_and(|text| text.starts_with("Prompt is too long"));
    too_long.then_some(FaultKind::TooLong)
}

fn by_subtype(result: &Value) -> Option<FaultKind> {
    match text(result, "subtype")? {
        "success" => None,
        // Interrupted, or broken inside.
        "error_during_execution" => Some(FaultKind::Crash),
        // Turns, money or tries that a setting allows are used up: the same call ends the same way.
        subtype if subtype.starts_with("error_max_") => Some(FaultKind::BadRequest),
        _ => None,
    }
}

fn by_word(word: &str) -> Option<FaultKind> {
    Some(match word {
        "authentication_failed"
        | "oauth_org_not_allowed"
        | "account_on_hold"
        | "verification_required"
        | "cloud_credential_error" => FaultKind::Auth,
        // No credit left: like a rate limit it stops every further call, and ends with a payment.
        "rate_limit" | "billing_error" => FaultKind::Limit,
        "overloaded" | "server_error" => FaultKind::Overloaded,
        "invalid_request" | "model_not_found" | "max_output_tokens" => FaultKind::BadRequest,
        _ => return None,
    })
}

fn by_reason(result: &Value) -> Option<FaultKind> {
    if text(result, "api_error") == Some("connection_failed") {
        return Some(FaultKind::Overloaded);
    }
    (text(result, "stop_reason") == Some("refusal")).then_some(FaultKind::BadRequest)
}

fn by_sentence(sentence: &str) -> Option<FaultKind> {
    const SENTENCES: &[(&str, FaultKind)] = &[
        ("Not logged in", FaultKind::Auth),
        ("Invalid API key", FaultKind::Auth),
        ("Credit balance is too low", FaultKind::Limit),
        ("API Error: Connection ", FaultKind::Overloaded),
        ("Request timed out", FaultKind::Overloaded),
    ];
    SENTENCES.iter().find(|(start, _)| sentence.starts_with(start)).map(|(_, kind)| *kind)
}

const ROOT: &str = "--dangerously-skip-permissions cannot be used with root/sudo privileges";

/// What a refusal means, by the program's fixed sentences: on standard error, or as one of a
/// result's `errors`.
pub(super) fn by_refusal(stderr: &str) -> Option<FaultKind> {
    let begins = |start: &str| stderr.lines().any(|line| line.trim_start().starts_with(start));
    if begins("No conversation found with session ID: ") {
        return Some(FaultKind::UnknownSession);
    }
    begins(ROOT).then_some(FaultKind::BadRequest)
}

/// The refusal with what to do about it, where the program's own text does not contain it.
pub(super) fn advised(stderr: &str) -> String {
    let advice = if stderr.contains(ROOT) {
        "; run as another user, or set IS_SANDBOX=1 if this machine is one"
    } else {
        ""
    };
    format!("{}{advice}", stderr.trim())
}

fn message(result: &Value) -> String {
    let errors = result.get("errors").and_then(Value::as_array);
    let errors: Vec<&str> = errors.into_iter().flatten().filter_map(Value::as_str).collect();
    match text(result, "result") {
        Some(text) if !text.trim().is_empty() => text.trim().to_owned(),
        _ if !errors.is_empty() => errors.join("; "),
        _ => {
            let why = text(result, "terminal_reason").or(text(result, "subtype"));
            format!("Claude Code reported an error: {}", why.unwrap_or("no reason given"))
        }
    }
}

fn text<'a>(object: &'a Value, field: &str) -> Option<&'a str> {
    object.get(field).and_then(Value::as_str)
}
