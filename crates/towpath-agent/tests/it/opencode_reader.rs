//! Recorded output of OpenCode 1.18.33, shortened, and what must be read from it.

use towpath_agent::{Backend as _, CallProgress, End, Exit, OpenCode, Reply};
use towpath_core::{FaultKind, Usage};

const START: &str = r#"{"type":"step_start","timestamp":1794801238762,"sessionID":"ses_1","part":{"id":"prt_1","messageID":"msg_1","sessionID":"ses_1","type":"step-start"}}"#;
const LOOK: &str = r#"{"type":"text","timestamp":1794801238762,"sessionID":"ses_1","part":{"id":"prt_2","messageID":"msg_1","type":"text","text":"I will look.","time":{"start":1794801238592,"end":1794801238736}}}"#;
const TOOL: &str = r#"{"type":"tool_use","timestamp":1794801243388,"sessionID":"ses_1","part":{"type":"tool","tool":"bash","callID":"call_1_0","state":{"status":"completed","input":{"command":"echo hi > made","description":"look"},"output":"429 401","metadata":{"output":"429 401","exit":0,"truncated":false},"title":"echo hi > made"},"messageID":"msg_1"}}"#;
const CALLED: &str = r#"{"type":"step_finish","timestamp":1794801243388,"sessionID":"ses_1","part":{"id":"prt_3","reason":"tool-calls","messageID":"msg_1","type":"step-finish","tokens":{"total":110,"input":100,"output":10,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.00012}}"#;
const HELLO: &str = r#"{"type":"text","timestamp":1794801243714,"sessionID":"ses_1","part":{"id":"prt_5","messageID":"msg_2","type":"text","text":"Hello.\n{\"outcome\": \"ok\"}"}}"#;
const STOPPED: &str = r#"{"type":"step_finish","timestamp":1794801243714,"sessionID":"ses_1","part":{"id":"prt_6","reason":"stop","messageID":"msg_2","type":"step-finish","tokens":{"total":220,"input":150,"output":15,"reasoning":5,"cache":{"write":0,"read":50}},"cost":0.00019}}"#;
const REFUSED: &str = r#"{"type":"tool_use","timestamp":1794801743957,"sessionID":"ses_1","part":{"type":"tool","tool":"bash","callID":"call_1_0","state":{"status":"error","input":{"command":"pwd > where","description":"look"},"error":"The user rejected permission to use this specific tool call.","time":{"start":1794801741162,"end":1794801742426}},"messageID":"msg_1"}}"#;

fn read(lines: &[&str], end: &End<'_>) -> (Vec<CallProgress>, Reply) {
    let mut reader = OpenCode::new("/bin/opencode".into()).reader();
    let progress = lines.iter().flat_map(|line| reader.line(line.as_bytes())).collect();
    (progress, reader.end(end))
}

fn ended(lines: &[&str]) -> Reply {
    read(lines, &End::new(Exit::code(0), "")).1
}

fn fault(lines: &[&str], exit: Exit, stderr: &str) -> (FaultKind, Option<i64>, String) {
    let fault = read(lines, &End::new(exit, stderr)).1.result.expect_err(&lines.join("\n"));
    (fault.kind, fault.until_ms, fault.message)
}

/// An `error` line, as the program prints one for a status of the model's service.
fn error(name: &str, data: &str) -> String {
    format!(
        r#"{{"type":"error","timestamp":1794801449264,"sessionID":"ses_1","error":{{"name":"{name}","data":{data}}}}}"#
    )
}

#[test]
fn a_good_call_from_its_first_line_to_its_last() {
    let lines = [START, LOOK, TOOL, CALLED, START, HELLO, STOPPED];
    let (progress, reply) = read(&lines, &End::new(Exit::code(0), ""));
    let expected = [
        CallProgress::Session("ses_1".into()),
        CallProgress::Message("I will look.".into()),
        CallProgress::Doing("bash echo hi > made".into()),
        CallProgress::Message("Hello.\n{\"outcome\": \"ok\"}".into()),
        CallProgress::Complete,
    ];
    assert_eq!(progress, expected);
    let usage = reply.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(300), Some(30)));
    assert!(usage.cost_usd.is_some_and(|cost| (cost - 0.00031).abs() < 1e-9), "{usage:?}");
    let expected = Reply {
        result: Ok("Hello.\n{\"outcome\": \"ok\"}".into()),
        session: Some("ses_1".into()),
        usage: Some(usage),
        session_total: None,
        denials: vec![],
    };
    assert_eq!(reply, expected);
}

#[test]
fn the_half_text_of_a_broken_stream_is_no_part_of_the_answer() {
    let half = LOOK.replace("I will look.", "half a");
    let broken = CALLED.replace("tool-calls", "unknown").replace("0.00012", "0");
    let broken = broken.replace("\"input\":100,\"output\":10", "\"input\":0,\"output\":0");
    let reply = ended(&[START, &half, &broken, START, HELLO, STOPPED]);
    assert_eq!(reply.result.as_deref(), Ok("Hello.\n{\"outcome\": \"ok\"}"));
    assert_eq!(reply.usage.unwrap().cost_usd, Some(0.00019));
    assert_eq!(fault(&[START, &half, &broken], Exit::code(0), "").0, FaultKind::Crash);
}

#[test]
fn a_model_without_a_price_is_of_unknown_cost() {
    let free = STOPPED.replace("0.00019", "0");
    let usage = ended(&[START, HELLO, &free]).usage;
    let expected = Usage { input_tokens: Some(200), output_tokens: Some(20), cost_usd: None };
    assert_eq!(usage, Some(expected));
    assert_eq!(ended(&[START, LOOK, CALLED, START, HELLO, &free]).usage.unwrap().cost_usd, None);
    let silent = r#"{"type":"step_finish","part":{"reason":"stop"}}"#;
    assert_eq!(ended(&[silent]).usage, Some(Usage::default()));
    assert_eq!(ended(&[START]).usage, None);
}

#[test]
fn errors_of_the_service_by_status_never_by_words() {
    let answer = |status: u32, headers: &str| {
        let data = format!(
            r#"{{"message":"reason 429","statusCode":{status},"isRetryable":false,"responseHeaders":{headers},"responseBody":"{{}}","metadata":{{"url":"u"}}}}"#
        );
        error("APIError", &data)
    };
    for (line, kind, until) in [
        (answer(401, "{}"), FaultKind::Auth, None),
        (answer(403, "{}"), FaultKind::Auth, None),
        (answer(429, r#"{"retry-after":"3"}"#), FaultKind::Limit, Some(1_794_801_452_264)),
        (answer(429, "{}"), FaultKind::Limit, None),
        (answer(402, "{}"), FaultKind::Limit, None),
        (answer(500, r#"{"retry-after":"3"}"#), FaultKind::Overloaded, None),
        (answer(529, "{}"), FaultKind::Overloaded, None),
        (answer(400, "{}"), FaultKind::BadRequest, None),
        (answer(404, "{}"), FaultKind::BadRequest, None),
    ] {
        let expected = (kind, until, "OpenCode: reason 429".to_owned());
        assert_eq!(fault(&[&line], Exit::code(1), ""), expected, "{line}");
    }
    let line = answer(401, "{}");
    let reply = read(&[&line], &End::new(Exit::code(1), "")).1;
    assert_eq!(reply.session, Some("ses_1".into()), "it can be resumed");
}

#[test]
fn errors_by_name() {
    let message = r#"{"message":"429 things"}"#;
    for (name, data, kind) in [
        ("ProviderAuthError", r#"{"providerID":"x","message":"no key"}"#, FaultKind::Auth),
        ("ContextOverflowError", message, FaultKind::TooLong),
        ("MessageOutputLengthError", "{}", FaultKind::BadRequest),
        ("MessageAbortedError", message, FaultKind::Crash),
        ("UnknownError", message, FaultKind::Crash),
        ("APIError", r#"{"message":"interrupted","isRetryable":true}"#, FaultKind::Overloaded),
        ("APIError", r#"{"message":"odd","isRetryable":false}"#, FaultKind::Crash),
    ] {
        let line = error(name, data);
        assert_eq!(fault(&[&line], Exit::code(1), "").0, kind, "{line}");
        assert_eq!(fault(&[START, HELLO, STOPPED, &line], Exit::code(0), "").0, kind, "{line}");
    }
    let (_, _, message) =
        fault(&[&error("MessageOutputLengthError", "{}")], Exit::code(1), "not this");
    assert_eq!(message, "OpenCode: MessageOutputLengthError");
}

#[test]
fn what_is_only_on_standard_error() {
    let red = "\u{1b}[91m\u{1b}[1mError: \u{1b}[0m";
    let expected = "OpenCode ended with exit code 1 and gave no answer: Error: Session not found";
    assert_eq!(
        fault(&[], Exit::code(1), &format!("{red}Session not found\n")),
        (FaultKind::UnknownSession, None, expected.into())
    );
    let (kind, _, message) =
        fault(&[], Exit::code(1), &format!("{red}You must provide a message or a command\n"));
    assert_eq!(kind, FaultKind::Crash);
    assert!(message.ends_with("Error: You must provide a message or a command"), "{message}");
}

#[test]
fn a_refused_tool_ends_the_run_and_is_reported() {
    let reply = ended(&[START, LOOK, REFUSED, CALLED]);
    assert_eq!(reply.denials, ["bash pwd > where"]);
    let fault = reply.result.unwrap_err();
    assert_eq!(fault.kind, FaultKind::BadRequest);
    assert_eq!(fault.message, "OpenCode was not permitted: bash pwd > where");
    let reply = ended(&[START, LOOK, REFUSED, CALLED, START, HELLO, STOPPED]);
    assert!(reply.result.is_ok() && reply.denials.len() == 1, "{reply:?}");
}

#[test]
fn an_end_without_a_stop_is_no_success() {
    let early = STOPPED.replace("\"stop\"", "\"length\"");
    assert_eq!(fault(&[START, HELLO, &early], Exit::code(0), "").0, FaultKind::BadRequest);
    for (lines, exit) in [
        (&[][..], Exit::code(0)),
        (&[START, HELLO], Exit::code(0)),
        (&[START, LOOK, TOOL, CALLED], Exit::code(0)),
        (&[START, HELLO, STOPPED, START], Exit::code(0)),
    ] {
        assert_eq!(fault(lines, exit, "").0, FaultKind::Crash, "{lines:?}");
    }
}
