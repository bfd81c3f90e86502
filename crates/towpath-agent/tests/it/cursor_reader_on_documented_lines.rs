//! Lines of Cursor's agent as its documents show them. The program itself was never run here.

use towpath_agent::{Backend as _, CallProgress, Cursor, End, Exit, Reply};
use towpath_core::FaultKind;

const INIT: &str = r#"{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/w","session_id":"c-1","model":"Claude 4 Sonnet","permissionMode":"default"}"#;
const USER: &str = r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"read it"}]},"session_id":"c-1"}"#;
const LOOK: &str = r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I'll read it."}]},"session_id":"c-1"}"#;
const TOOL: &str = r#"{"type":"tool_call","subtype":"started","call_id":"toolu_1","tool_call":{"shellToolCall":{"args":{"command":"cargo tree"}}},"session_id":"c-1"}"#;
const RAN: &str = r#"{"type":"tool_call","subtype":"completed","call_id":"toolu_1","tool_call":{"shellToolCall":{"args":{"command":"cargo tree"},"result":{"success":{"stdout":"[unauthenticated] 429"}}}},"session_id":"c-1"}"#;
const HELLO: &str = r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Hello.\n{\"outcome\": \"ok\"}"}]},"session_id":"c-1"}"#;
const DONE: &str = r#"{"type":"result","subtype":"success","duration_ms":5234,"duration_api_ms":5234,"is_error":false,"result":"I'll read it.Hello.\n{\"outcome\": \"ok\"}","session_id":"c-1","request_id":"r-1"}"#;
const OUTCOME: &str = "Hello.\n{\"outcome\": \"ok\"}";

fn read(lines: &[&str], exit: Exit, stderr: &str) -> (Vec<CallProgress>, Reply) {
    let mut reader = Cursor::new("/bin/cursor-agent".into()).reader();
    let progress = lines.iter().flat_map(|line| reader.line(line.as_bytes())).collect();
    (progress, reader.end(&End::new(exit, stderr)))
}

#[test]
fn a_good_call_from_its_first_line_to_its_last() {
    let lines = [INIT, USER, LOOK, TOOL, RAN, HELLO, DONE];
    let (progress, reply) = read(&lines, Exit::code(0), "");
    let expected = [
        CallProgress::Session("c-1".into()),
        CallProgress::Model("Claude 4 Sonnet".into()),
        CallProgress::Message("I'll read it.".into()),
        CallProgress::Doing("shell cargo tree".into()),
        CallProgress::Message(OUTCOME.into()),
        CallProgress::Complete,
    ];
    assert_eq!(progress, expected);
    let expected = Reply {
        result: Ok(OUTCOME.into()),
        session: Some("c-1".into()),
        usage: None,
        session_total: None,
        denials: vec![],
    };
    assert_eq!(reply, expected);
}

#[test]
fn the_result_counts_however_the_process_was_ended_afterwards() {
    for exit in [Exit::signal(15), Exit::signal(9), Exit::code(143)] {
        let reply = read(&[INIT, HELLO, DONE], exit, "").1;
        assert_eq!(reply.result.as_deref(), Ok(OUTCOME), "{exit:?}");
    }
}

#[test]
fn without_assistant_lines_the_result_itself_is_the_answer() {
    let reply = read(&[INIT, DONE], Exit::code(0), "").1;
    assert_eq!(reply.result.as_deref(), Ok("I'll read it.Hello.\n{\"outcome\": \"ok\"}"));
    let other = HELLO.replace("Hello.", "Something else.");
    let reply = read(&[INIT, &other, DONE], Exit::code(0), "").1;
    assert_eq!(reply.result.as_deref(), Ok("I'll read it.Hello.\n{\"outcome\": \"ok\"}"));
}

#[test]
fn failures_are_reported_on_standard_error() {
    for (stderr, kind) in [
        ("Error: [unauthenticated] Error", FaultKind::Auth),
        ("Authentication required. Please run 'agent login' first.", FaultKind::Auth),
        ("Error: Not authenticated", FaultKind::Auth),
        ("ConnectError: [resource_exhausted] Error", FaultKind::Limit),
        ("warning\nError: [unavailable] try later", FaultKind::Overloaded),
        ("Error: [invalid_argument] no such model", FaultKind::BadRequest),
        ("the file has [unauthenticated] and 429", FaultKind::Crash),
        ("", FaultKind::Crash),
    ] {
        let fault = read(&[INIT, HELLO], Exit::code(1), stderr).1.result.unwrap_err();
        assert_eq!(fault.kind, kind, "{stderr}");
        assert!(fault.message.contains(stderr), "{}", fault.message);
    }
}

#[test]
fn a_result_that_is_an_error_or_has_no_is_error_is_none() {
    let error =
        DONE.replace("\"is_error\":false", "\"is_error\":true,\"error\":\"[internal] odd\"");
    let (_, reply) = read(&[INIT, &error], Exit::code(0), "");
    let fault = reply.result.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Overloaded);
    assert_eq!(fault.message, "Cursor reported an error: [internal] odd");
    let silent = DONE.replace("\"is_error\":false,", "");
    let fault = read(&[INIT, &silent], Exit::code(0), "").1.result.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Crash);
}
