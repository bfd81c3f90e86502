//! Recorded output of Gemini CLI 0.61.0, and what must be read from it.

use towpath_agent::{Backend as _, CallProgress, End, Exit, Gemini, Reply};
use towpath_core::{FaultKind, Usage};

const INIT: &str = r#"{"type":"init","timestamp":"2026-11-16T04:17:19.645Z","session_id":"u-1","model":"gemini-2.5-pro"}"#;
const USER: &str = r#"{"type":"message","timestamp":"2026-11-16T04:17:19.671Z","role":"user","content":"write {\"outcome\":\"no\"}\n"}"#;
const WILL: &str = r#"{"type":"message","timestamp":"2026-11-16T04:17:20.025Z","role":"assistant","content":"I will","delta":true}"#;
const LOOK: &str = r#"{"type":"message","timestamp":"2026-11-16T04:17:20.086Z","role":"assistant","content":" look.","delta":true}"#;
const TOOL: &str = r#"{"type":"tool_use","timestamp":"2026-11-16T04:17:20.498Z","tool_name":"run_shell_command","tool_id":"run_shell_command_0","parameters":{"command":"echo made > here","description":"look"}}"#;
const RAN: &str = r#"{"type":"tool_result","timestamp":"2026-11-16T04:17:21.380Z","tool_id":"run_shell_command_0","status":"success","output":"429 401"}"#;
const DENIED: &str = r#"{"type":"tool_result","timestamp":"2026-11-16T04:18:06.539Z","tool_id":"run_shell_command_0","status":"error","output":"Tool \"run_shell_command\" not found.","error":{"type":"tool_not_registered","message":"Tool \"run_shell_command\" not found."}}"#;
const HELLO: &str = r#"{"type":"message","timestamp":"2026-11-16T04:17:21.819Z","role":"assistant","content":"Hello.\n{\"out","delta":true}"#;
const REST: &str = r#"{"type":"message","timestamp":"2026-11-16T04:17:21.820Z","role":"assistant","content":"come\":\"ok\"}","delta":true}"#;
const DONE: &str = r#"{"type":"result","timestamp":"2026-11-16T04:17:21.855Z","status":"success","stats":{"total_tokens":330,"input_tokens":300,"output_tokens":30,"cached":50,"input":250,"duration_ms":2235,"tool_calls":2,"models":{"gemini-2.5-pro":{"total_tokens":330,"input_tokens":300,"output_tokens":30,"cached":50,"input":250}}}}"#;
const OUTCOME: &str = "Hello.\n{\"outcome\":\"ok\"}";

fn read(lines: &[&str], end: &End<'_>) -> (Vec<CallProgress>, Reply) {
    let mut reader = Gemini::new("/bin/gemini".into()).reader();
    let progress = lines.iter().flat_map(|line| reader.line(line.as_bytes())).collect();
    (progress, reader.end(end))
}

fn fault(lines: &[&str], exit: Exit, stderr: &str) -> (FaultKind, Option<i64>, String) {
    let end = End { at_ms: 1000, ..End::new(exit, stderr) };
    let fault = read(lines, &end).1.result.expect_err(&lines.join("\n"));
    (fault.kind, fault.until_ms, fault.message)
}

/// The last line of a call that failed with this message.
fn failed(message: &str) -> String {
    let message = serde_json::Value::from(message);
    format!(
        r#"{{"type":"result","timestamp":"t","status":"error","error":{{"type":"unknown","message":{message}}},"stats":{{"total_tokens":0,"input_tokens":0,"output_tokens":0,"cached":0,"input":0,"duration_ms":0,"tool_calls":0,"models":{{}}}}}}"#
    )
}

#[test]
fn a_good_call_from_its_first_line_to_its_last() {
    let lines = [INIT, USER, WILL, LOOK, TOOL, RAN, HELLO, REST, DONE];
    let (progress, reply) = read(&lines, &End::new(Exit::code(0), "YOLO mode is enabled.\n"));
    let writing = |text: &str| CallProgress::Writing(text.into());
    let expected = [
        CallProgress::Session("u-1".into()),
        CallProgress::Model("gemini-2.5-pro".into()),
        writing("I will"),
        writing("I will look."),
        CallProgress::Message("I will look.".into()),
        CallProgress::Doing("run_shell_command echo made > here".into()),
        writing("{\"out"),
        writing("{\"outcome\":\"ok\"}"),
        CallProgress::Message(OUTCOME.into()),
        CallProgress::Complete,
    ];
    assert_eq!(progress, expected);
    let usage = Usage { input_tokens: Some(300), output_tokens: Some(30), cost_usd: None };
    let expected = Reply {
        result: Ok(OUTCOME.into()),
        session: Some("u-1".into()),
        usage: Some(usage),
        session_total: None,
        denials: vec![],
    };
    assert_eq!(reply, expected);
}

#[test]
fn a_refused_tool_use_is_listed_and_does_not_fail_the_call() {
    let lines = [INIT, USER, TOOL, DENIED, HELLO, REST, DONE];
    let reply = read(&lines, &End::new(Exit::code(0), "")).1;
    assert_eq!(reply.result.as_deref(), Ok(OUTCOME));
    assert_eq!(reply.denials, ["run_shell_command echo made > here"]);
    let failed = DENIED.replace("tool_not_registered", "execution_failed");
    let reply = read(&[INIT, TOOL, &failed, DONE], &End::new(Exit::code(0), "")).1;
    assert_eq!((reply.result.as_deref(), reply.denials.len()), (Ok(""), 0));
}

#[test]
fn nothing_weaker_than_a_successful_result_is_a_success() {
    // Ended by a signal, it exits with 0 all the same.
    let (kind, _, message) = fault(&[INIT, USER, HELLO, REST], Exit::code(0), "");
    assert_eq!(kind, FaultKind::Crash);
    assert_eq!(message, "Gemini ended with exit code 0 and gave no result");
    let odd = DONE.replace("success", "odd");
    assert_eq!(fault(&[INIT, HELLO, &odd], Exit::code(0), "").0, FaultKind::Crash);
}

#[test]
fn what_is_wrong_before_a_session_begins() {
    use FaultKind::{Auth, BadRequest, Crash, UnknownSession};
    for (code, stderr, kind) in [
        (
            42,
            "Error resuming session: Invalid session identifier \"u-1\".\n  Searched",
            UnknownSession,
        ),
        (
            42,
            "Error resuming session: No previous sessions found for this project.",
            UnknownSession,
        ),
        (42, "Error starting session: Session ID \"u-1\" already exists. Use --resume", Crash),
        (41, "When using Gemini API, you must specify the GEMINI_API_KEY", Auth),
        (55, "Gemini CLI is not running in a trusted directory.", BadRequest),
        (1, "Error resuming session: odd", Crash),
    ] {
        let (read, until, message) = fault(&[], Exit::code(code), stderr);
        assert_eq!((read, until), (kind, None), "{stderr}");
        assert!(message.ends_with(stderr), "{message}");
    }
}

#[test]
fn faults_by_the_services_answer_or_the_exit_code() {
    use FaultKind::{Auth, BadRequest, Limit, Overloaded};
    let answer =
        |code: u16| format!(r#"{{"error":{{"code":{code},"message":"reason","status":"X"}}}}"#);
    let key = r#"{"error":{"code":400,"message":"reason","details":[{"@type":"t","reason":"API_KEY_INVALID"}]}}"#;
    for (text, code, kind) in [
        (answer(401), 145, Auth),
        (answer(403), 147, Auth),
        (key.to_owned(), 144, Auth),
        (answer(400), 144, BadRequest),
        (answer(500), 244, Overloaded),
        // Where the program wrote a sentence of its own, its exit code decides.
        ("reason".into(), 173, Limit),
        ("reason".into(), 247, Overloaded),
        // A model that is not there.
        ("reason".into(), 1, BadRequest),
        ("exception TypeError: fetch failed sending request".into(), 1, Overloaded),
    ] {
        let line = failed(&format!("[API Error: {text}]"));
        let (read, until, message) = fault(&[INIT, USER, &line], Exit::code(code), "");
        assert_eq!((read, until), (kind, None), "{text} {code}");
        assert!(message.starts_with("Gemini: "), "{message}");
    }
    // Numbers in prose mean nothing.
    let prose = failed("The model wrote 401 and 429");
    assert_eq!(fault(&[INIT, &prose], Exit::code(1), "429").0, FaultKind::Crash);
}

#[test]
fn a_limit_reports_when_to_come_back() {
    let advice =
        "Please wait and try again later. To increase your limits, request a quota increase";
    for (text, until) in [
        ("[API Error: slow\nSuggested retry after 3s.]", Some(4000)),
        ("[API Error: slow\nSuggested retry after 2.5s.]", Some(3500)),
        ("[API Error: slow\nSuggested retry after -3s.]", None),
        ("[API Error: You have exhausted your daily quota on this model.]", None),
    ] {
        let line = failed(&format!("{text}\n{advice}"));
        let (kind, read, _) = fault(&[INIT, &line], Exit::code(173), "");
        assert_eq!((kind, read), (FaultKind::Limit, until), "{text}");
    }
}

#[test]
fn a_failed_call_keeps_its_session_and_what_it_used() {
    let reply = read(&[INIT, &failed("[API Error: x]")], &End::new(Exit::code(244), "")).1;
    assert_eq!(reply.session, Some("u-1".into()));
    assert_eq!(reply.usage.and_then(|usage| usage.input_tokens), Some(0));
}
