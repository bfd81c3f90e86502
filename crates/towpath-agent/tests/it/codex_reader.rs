//! Recorded output of Codex 0.166.0, and what must be read from it.

use jiff::tz::TimeZone;
use towpath_agent::{Backend as _, CallProgress, Codex, End, Exit, Reply};
use towpath_core::{FaultKind, Usage};

const STARTED: &str = r#"{"type":"thread.started","thread_id":"t-1"}"#;
const WARNING: &str = r#"{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata for `scripted-1` not found. Defaulting to fallback metadata; this can degrade performance and cause issues."}}"#;
const TURN: &str = r#"{"type":"turn.started"}"#;
const LOOK: &str = r#"{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"I will look."}}"#;
const TOOL: &str = r#"{"type":"item.started","item":{"id":"item_2","type":"command_execution","command":"/bin/bash -lc 'echo hi; exit 3'","aggregated_output":"","exit_code":null,"status":"in_progress"}}"#;
const RAN: &str = r#"{"type":"item.completed","item":{"id":"item_2","type":"command_execution","command":"/bin/bash -lc 'echo hi; exit 3'","aggregated_output":"429 401\n","exit_code":3,"status":"failed"}}"#;
const EDIT: &str = r#"{"type":"item.started","item":{"id":"item_4","type":"file_change","changes":[{"path":"/w/a.txt","kind":"add"}],"status":"in_progress"}}"#;
const HELLO: &str = r#"{"type":"item.completed","item":{"id":"item_3","type":"agent_message","text":"Hello.\n{\"outcome\": \"ok\"}"}}"#;
const RETRY: &str = r#"{"type":"error","message":"Reconnecting... 1/5 (We’re currently experiencing high demand, which may cause temporary errors.)"}"#;
const DONE: &str = r#"{"type":"turn.completed","usage":{"input_tokens":300,"cached_input_tokens":50,"cache_write_input_tokens":0,"output_tokens":30,"reasoning_output_tokens":0}}"#;
const OUTCOME: &str = "Hello.\n{\"outcome\": \"ok\"}";

fn read(lines: &[&str], end: &End<'_>) -> (Vec<CallProgress>, Reply) {
    let mut reader = Codex::new("/bin/codex".into(), TimeZone::UTC).reader();
    let progress = lines.iter().flat_map(|line| reader.line(line.as_bytes())).collect();
    (progress, reader.end(end))
}

fn fault(lines: &[&str], exit: Exit, stderr: &str) -> (FaultKind, String) {
    let fault = read(lines, &End::new(exit, stderr)).1.result.expect_err(&lines.join("\n"));
    (fault.kind, fault.message)
}

/// The last lines of a turn that failed with this message.
fn failed(message: &str) -> [String; 2] {
    let message = serde_json::Value::from(message);
    [
        format!(r#"{{"type":"error","message":{message}}}"#),
        format!(r#"{{"type":"turn.failed","error":{{"message":{message}}}}}"#),
    ]
}

#[test]
fn a_good_call_from_its_first_line_to_its_last() {
    let lines = [STARTED, WARNING, TURN, RETRY, LOOK, TOOL, RAN, EDIT, HELLO, DONE];
    let (progress, reply) = read(&lines, &End::new(Exit::code(0), ""));
    let doing = |text: &str| CallProgress::Doing(text.into());
    let retry = "Reconnecting... 1/5 (We’re currently experiencing high demand, which may cause temporary errors.)";
    let expected = [
        CallProgress::Session("t-1".into()),
        CallProgress::Retrying(retry.into()),
        CallProgress::Message("I will look.".into()),
        doing("Bash echo hi; exit 3"),
        doing("Edit /w/a.txt"),
        CallProgress::Message(OUTCOME.into()),
        CallProgress::Complete,
    ];
    assert_eq!(progress, expected);
    let total = Usage { input_tokens: Some(300), output_tokens: Some(30), cost_usd: None };
    let expected = Reply {
        result: Ok(OUTCOME.into()),
        session: Some("t-1".into()),
        usage: None,
        session_total: Some(total),
        denials: vec![],
    };
    assert_eq!(reply, expected);
}

#[test]
fn a_turn_without_a_message_is_an_empty_answer() {
    let reply = read(&[STARTED, TURN, TOOL, RAN, DONE], &End::new(Exit::code(0), "")).1;
    assert_eq!(reply.result.as_deref(), Ok(""));
}

#[test]
fn nothing_weaker_than_a_completed_turn_is_a_success() {
    let (kind, message) = fault(&[STARTED, TURN, HELLO], Exit::code(0), "");
    assert_eq!(kind, FaultKind::Crash);
    assert_eq!(message, "Codex ended with exit code 0 in the middle of its work");
    let (kind, message) = fault(&[STARTED, TURN, RETRY], Exit::signal(9), "");
    assert_eq!(kind, FaultKind::Crash);
    assert!(message.contains("signal 9 in the middle of its work: Reconnecting"), "{message}");
    assert_eq!(fault(&[], Exit::code(2), "error: unexpected argument\n").0, FaultKind::Crash);
}

#[test]
fn an_unknown_session_is_reported_on_standard_error_alone() {
    let stderr = "WARNING: proceeding\nError: thread/resume: thread/resume failed: no rollout found for thread id t-1 (code -32600)\n";
    assert_eq!(fault(&[], Exit::code(1), stderr).0, FaultKind::UnknownSession);
    let traced = format!("{stderr}\nStack backtrace:\n   0: <unknown>\n   1: <unknown>\n");
    let (kind, message) = fault(&[], Exit::code(1), &traced);
    assert_eq!(kind, FaultKind::UnknownSession);
    assert!(message.ends_with("no rollout found for thread id t-1 (code -32600)"), "{message}");
    let other = "Error: thread/resume: thread/resume failed: the disk is full\n";
    assert_eq!(fault(&[], Exit::code(1), other).0, FaultKind::Crash);
}

#[test]
fn faults_by_the_programs_own_sentences() {
    use FaultKind::{Auth, BadRequest, Limit, Overloaded};
    for (text, kind) in [
        ("unexpected status 401 Unauthorized: bad key, url: http://127.0.0.1:1/v1/responses", Auth),
        ("unexpected status 403 Forbidden: nope, url: http://127.0.0.1:1/v1/responses", Auth),
        ("unexpected status 529 <unknown status code>: x, url: http://127.0.0.1:1/v1", Overloaded),
        ("exceeded retry limit, last status: 429 Too Many Requests", Limit),
        ("Quota exceeded. Check your plan and billing details.", Limit),
        ("We’re currently experiencing high demand, which may cause temporary errors.", Overloaded),
        ("Selected model is at capacity. Please try a different model.", Overloaded),
        ("stream disconnected before completion: error sending request", Overloaded),
        ("Missing environment variable: `FAKE_KEY`.", Auth),
        (r#"{"error": {"message": "bad thing", "type": "invalid_request_error"}}"#, BadRequest),
        ("no such model", BadRequest),
        // A number in the words of the service means nothing.
        ("The model wrote: unexpected status 401; 429 Too Many Requests", BadRequest),
    ] {
        let [error, end] = failed(text);
        let (read, message) = fault(&[STARTED, WARNING, TURN, &error, &end], Exit::code(1), "");
        assert_eq!(read, kind, "{text}");
        assert_eq!(message, format!("Codex: {}", text.replace('’', "'")));
    }
}

#[test]
fn a_usage_limit_reports_when_it_is_over() {
    let at_ms = 1_794_800_000_000; // 2026-11-16T03:33:20Z
    let until = |text: &str| {
        let [error, failed] = failed(text);
        let end = End { at_ms, ..End::new(Exit::code(1), "") };
        let fault = read(&[STARTED, TURN, &error, &failed], &end).1.result.expect_err(text);
        assert_eq!(fault.kind, FaultKind::Limit);
        fault.until_ms
    };
    let dated = "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at Mar 17th, 2030 5:46 PM.";
    assert_eq!(until(dated), Some(1_900_000_020_000));
    assert_eq!(
        until("You’ve hit your usage limit. Try again at 4:00 AM."),
        Some(1_794_801_660_000)
    );
    assert_eq!(until("You’ve hit your usage limit. Try again later."), None);
    assert_eq!(until("exceeded retry limit, last status: 429 Too Many Requests"), None);
}

#[test]
fn a_failed_turn_keeps_its_session_and_knows_no_usage() {
    let [error, end] = failed("no such model");
    let reply = read(&[STARTED, TURN, &error, &end], &End::new(Exit::code(1), "")).1;
    assert_eq!(reply.session, Some("t-1".into()));
    assert_eq!((reply.usage, reply.session_total), (None, None));
}
