//! Recorded output of Copilot CLI 1.0.102, shortened, and what must be read from it.

use towpath_agent::{Backend as _, CallProgress, Copilot, End, Exit, Reply};
use towpath_core::{FaultKind, Usage};

const LOOK: &str = r#"{"type":"assistant.message","data":{"messageId":"m-1","model":"scripted-1","content":"I will look.","toolRequests":[{"toolCallId":"call_1_0","name":"bash","arguments":{"command":"echo hi > made","description":"look"},"type":"function","intentionSummary":"look","toolTitle":"Running command"}],"turnId":"0"},"id":"e-1","timestamp":"2026-11-16T03:54:12.488Z","parentId":"e-0"}"#;
const TOOL: &str = r#"{"type":"tool.execution_start","data":{"toolCallId":"call_1_0","toolName":"bash","arguments":{"command":"echo hi > made","description":"look"},"turnId":"0","model":"scripted-1","toolTitle":"Running command"},"id":"e-2","timestamp":"2026-11-16T03:54:12.492Z","parentId":"e-1"}"#;
const RAN: &str = r#"{"type":"tool.execution_complete","data":{"toolCallId":"call_1_0","turnId":"0","shellExecution":{"exitCode":0},"success":true,"result":{"content":"429 401\n<shellId: 0 completed with exit code 0>"}},"id":"e-3","timestamp":"2026-11-16T03:54:12.602Z","parentId":"e-2"}"#;
const DENIED: &str = r#"{"type":"tool.execution_complete","data":{"toolCallId":"call_1_0","turnId":"0","rte":false,"success":false,"error":{"message":"Permission denied because no interactive user response was available.","code":"denied"}},"id":"e-3","timestamp":"2026-11-16T03:55:41.849Z","parentId":"e-2"}"#;
const HELLO: &str = r#"{"type":"assistant.message","data":{"messageId":"m-2","model":"scripted-1","content":"Hello.\n{\"outcome\": \"ok\"}","toolRequests":[],"turnId":"1"},"id":"e-4","timestamp":"2026-11-16T03:54:12.619Z","parentId":"e-3"}"#;
const DELTA: &str = r#"{"type":"assistant.message_delta","data":{"messageId":"m-2","deltaContent":"Hello."},"ephemeral":true,"id":"e-5","timestamp":"2026-11-16T03:54:12.610Z","parentId":"e-3"}"#;
const RETRY: &str = r#"{"type":"assistant.turn_retry","data":{"turnId":"0","model":"scripted-1","reason":"rate_limit"},"ephemeral":true,"id":"e-6","timestamp":"2026-11-16T03:54:48.247Z","parentId":"e-0"}"#;
const DONE: &str = r#"{"type":"result","timestamp":"2026-11-16T03:54:12.688Z","sessionId":"u-1","exitCode":0,"usage":{"premiumRequests":0,"totalApiDurationMs":59,"sessionDurationMs":1212,"codeChanges":{"linesAdded":0,"linesRemoved":0,"filesModified":[]}}}"#;
const USAGE: &str = r#"{"totalUserRequests":1,"modelMetrics":{"scripted-1":{"requests":{"count":2,"cost":0},"usage":{"inputTokens":300,"outputTokens":30,"cacheReadTokens":50,"cacheWriteTokens":0}}},"lastCallInputTokens":200}"#;
const OUTCOME: &str = "Hello.\n{\"outcome\": \"ok\"}";

fn read(lines: &[&str], end: &End<'_>) -> (Vec<CallProgress>, Reply) {
    let mut reader = Copilot::new("/bin/copilot".into()).reader();
    let progress = lines.iter().flat_map(|line| reader.line(line.as_bytes())).collect();
    (progress, reader.end(end))
}

fn fault(lines: &[&str], exit: Exit, stderr: &str) -> (FaultKind, String) {
    let fault = read(lines, &End::new(exit, stderr)).1.result.expect_err(&lines.join("\n"));
    assert_eq!(fault.until_ms, None);
    (fault.kind, fault.message)
}

/// The last two lines of a call that failed.
fn failed(data: &str) -> [String; 2] {
    let error = format!(r#"{{"type":"session.error","data":{{{data}}},"id":"e-7"}}"#);
    [error, DONE.replace("\"exitCode\":0", "\"exitCode\":1")]
}

#[test]
fn a_good_call_from_its_first_line_to_its_last() {
    let files = [("usage.json", USAGE.as_bytes().to_vec())];
    let end = End { files: &files, ..End::new(Exit::code(0), "") };
    let (progress, reply) = read(&[RETRY, RETRY, LOOK, TOOL, RAN, DELTA, HELLO, DONE], &end);
    let expected = [
        CallProgress::Retrying("rate limit, try 2".into()),
        CallProgress::Retrying("rate limit, try 3".into()),
        CallProgress::Message("I will look.".into()),
        CallProgress::Doing("bash echo hi > made".into()),
        CallProgress::Message(OUTCOME.into()),
        CallProgress::Session("u-1".into()),
        CallProgress::Complete,
    ];
    assert_eq!(progress, expected);
    let total = Usage { input_tokens: Some(300), output_tokens: Some(30), cost_usd: None };
    let expected = Reply {
        result: Ok(OUTCOME.into()),
        session: Some("u-1".into()),
        usage: None,
        session_total: Some(total),
        denials: vec![],
    };
    assert_eq!(reply, expected);
}

#[test]
fn only_the_main_agents_last_message_is_the_answer() {
    let answer = |lines: &[&str]| read(lines, &End::new(Exit::code(0), "")).1.result.unwrap();
    let inner = HELLO
        .replace("Hello.", "inner")
        .replace("\"turnId\"", "\"parentToolCallId\":\"c\",\"turnId\"");
    let named = HELLO.replace("Hello.", "inner").replace("\"id\":\"e-4\"", "\"agentId\":\"a\"");
    assert_eq!(answer(&[LOOK, TOOL, RAN, HELLO, &inner, DONE]), OUTCOME);
    assert_eq!(answer(&[LOOK, TOOL, RAN, HELLO, &named, DONE]), OUTCOME);
    assert_eq!(answer(&[HELLO, LOOK, DONE]), "", "a message with tool uses is not the last word");
    assert_eq!(answer(&[DONE]), "");
}

#[test]
fn errors_by_their_word_and_status_never_by_their_message() {
    for (data, kind) in [
        (r#""errorType":"authentication","message":"429","statusCode":401"#, FaultKind::Auth),
        (r#""errorType":"authorization","message":"429","statusCode":403"#, FaultKind::Auth),
        (r#""errorType":"rate_limit","message":"429","statusCode":429"#, FaultKind::Limit),
        (r#""errorType":"quota","message":"429","statusCode":402"#, FaultKind::Limit),
        (r#""errorType":"context_limit","message":"429""#, FaultKind::TooLong),
        (r#""errorType":"query","message":"429","statusCode":404"#, FaultKind::BadRequest),
        (r#""errorType":"query","message":"429","statusCode":400"#, FaultKind::BadRequest),
        (r#""errorType":"query","message":"429","statusCode":500"#, FaultKind::Overloaded),
        (r#""errorType":"query","message":"429","statusCode":529"#, FaultKind::Overloaded),
        (r#""errorType":"query","message":"429""#, FaultKind::Overloaded),
        (r#""errorType":"new word","message":"429""#, FaultKind::Crash),
        (r#""message":"429""#, FaultKind::Crash),
    ] {
        let [error, result] = failed(data);
        let expected = (kind, "Copilot: 429".to_owned());
        assert_eq!(fault(&[&error, &result], Exit::code(1), ""), expected, "{data}");
    }
    let [error, result] = failed(r#""errorType":"quota""#);
    assert_eq!(fault(&[&error, &result], Exit::code(1), "").1, "Copilot: quota");
    let reply = read(&[&error, &result], &End::new(Exit::code(1), "")).1;
    assert_eq!(reply.session, Some("u-1".into()), "it can be resumed");
}

#[test]
fn an_error_that_was_overcome_is_none() {
    let [error, _] = failed(r#""errorType":"query","statusCode":500"#);
    let reply = read(&[&error, HELLO, DONE], &End::new(Exit::code(0), "")).1;
    assert_eq!(reply.result.as_deref(), Ok(OUTCOME));
}

#[test]
fn what_is_only_on_standard_error() {
    let unknown = "Error: No session, task, or name matched 'u-2'.\n\nTo resume by session …";
    let login = "Package extraction took 7048ms\nError: No authentication information found.\n\nCopilot can be …";
    for (stderr, kind) in [
        (unknown, FaultKind::UnknownSession),
        (login, FaultKind::Auth),
        ("error: unexpected argument '--nosuch' found", FaultKind::Crash),
        ("No prompt provided.", FaultKind::Crash),
        ("", FaultKind::Crash),
    ] {
        let (found, message) = fault(&[], Exit::code(1), stderr);
        assert_eq!(found, kind, "{stderr}");
        assert!(message.contains("exit code 1") && message.contains(stderr), "{message}");
    }
}

/// Ended by a signal, the program exits with 0 and prints no result.
#[test]
fn an_end_without_a_good_result_is_no_success() {
    assert_eq!(fault(&[LOOK, TOOL], Exit::code(0), "").0, FaultKind::Crash);
    assert_eq!(fault(&[HELLO], Exit::code(0), "").0, FaultKind::Crash);
    // Interrupted in a tool it may report that all is well.
    let end = |interrupted| End { interrupted, ..End::new(Exit::code(0), "") };
    assert!(read(&[LOOK, TOOL, DONE], &end(true)).1.result.is_err());
    assert_eq!(read(&[LOOK, TOOL, DONE], &end(false)).1.result.as_deref(), Ok(""));
    assert!(read(&[LOOK, TOOL, HELLO, DONE], &end(true)).1.result.is_ok());
    let [_, result] = failed("");
    assert_eq!(fault(&[HELLO, &result], Exit::code(0), "").0, FaultKind::Crash);
    let odd = DONE.replace("\"exitCode\":0", "\"exitCode\":\"0\"");
    assert_eq!(fault(&[HELLO, &odd], Exit::code(0), "").0, FaultKind::Crash);
}

#[test]
fn denials_are_reported_and_do_not_fail_the_call() {
    let reply = read(&[LOOK, TOOL, DENIED, HELLO, DONE], &End::new(Exit::code(0), "")).1;
    assert_eq!(reply.result.as_deref(), Ok(OUTCOME));
    assert_eq!(reply.denials, ["bash echo hi > made"]);
}

#[test]
fn without_a_usage_file_nothing_is_known() {
    let reply = read(&[HELLO, DONE], &End::new(Exit::code(0), "")).1;
    assert_eq!((reply.usage, reply.session_total), (None, None));
}
