//! Recorded output of Claude Code, shortened, and what must be read from it.

use towpath_agent::{Backend as _, CallProgress, ClaudeCode, End, Exit, Reply};
use towpath_core::{FaultKind, Usage};

const INIT: &str = r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s-1","tools":["Bash"],"model":"claude-opus-5-5","permissionMode":"bypassPermissions","claude_code_version":"2.1.325"}"#;
const TEXT: &str = r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"hi there\n{\"outcome\":\"ok\"}"}],"stop_reason":null},"parent_tool_use_id":null,"session_id":"s-1"}"#;
const TOOL: &str = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"cargo tree","description":"d"}}]},"parent_tool_use_id":null,"session_id":"s-1"}"#;
const TOOL_RESULT: &str = r#"{"type":"user","message":{"content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"429 401","is_error":false}]},"parent_tool_use_id":null,"session_id":"s-1","tool_use_result":{"stdout":"429 401"}}"#;
const RETRY: &str = r#"{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":569,"error_status":529,"error":"overloaded","session_id":"s-1"}"#;
const LIMIT_EVENT: &str = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794787064,"rateLimitType":"five_hour","isUsingOverage":false},"session_id":"s-1"}"#;
const DONE: &str = r#"{"duration_api_ms":79,"stop_reason":"end_turn","session_id":"s-1","total_cost_usd":0.5,"usage":{"input_tokens":11,"output_tokens":7},"modelUsage":{"claude-opus-5-5":{"inputTokens":33,"outputTokens":21,"costUSD":0.5}},"permission_denials":[],"terminal_reason":"completed","is_error":false,"num_turns":1,"subtype":"success","api_error_status":null,"result":"hi there\n{\"outcome\":\"ok\"}","type":"result","result_index":0,"model_usage_since_last_result":{"claude-opus-5-5":{"inputTokens":11,"outputTokens":7,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"costUSD":0.25}}}"#;
const OUTCOME: &str = "hi there\n{\"outcome\":\"ok\"}";

fn read(output: &str, exit: Exit, stderr: &str) -> (Vec<CallProgress>, Reply) {
    let mut reader = ClaudeCode::new("/bin/claude".into()).reader();
    let progress = output.lines().flat_map(|line| reader.line(line.as_bytes())).collect();
    (progress, reader.end(&End::new(exit, stderr)))
}

fn fault(output: &str, exit: Exit, stderr: &str) -> (FaultKind, Option<i64>, String) {
    let fault = read(output, exit, stderr).1.result.expect_err(output);
    (fault.kind, fault.until_ms, fault.message)
}

/// The last two lines of a call that failed at the model: the program's own message, the result.
fn failed(word: &str, result: &str) -> String {
    let word = if word.is_empty() { String::new() } else { format!(r#","error":"{word}""#) };
    let message = r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"reason"}]},"parent_tool_use_id":null,"session_id":"s-1""#;
    format!(
        "{INIT}\n{message}{word}}}\n{{\"type\":\"result\",\"is_error\":true,\"session_id\":\"s-1\",{result}}}"
    )
}

#[test]
fn a_good_call_from_its_first_line_to_its_last() {
    let output = [INIT, RETRY, TOOL, TOOL_RESULT, TEXT, DONE].join("\n");
    let (progress, reply) = read(&output, Exit::code(0), "");
    let expected = [
        CallProgress::Session("s-1".into()),
        CallProgress::Model("claude-opus-5-5".into()),
        CallProgress::Retrying("overloaded, try 1 of 10 in 1 s".into()),
        CallProgress::Doing("Bash cargo tree".into()),
        CallProgress::Message(OUTCOME.into()),
        CallProgress::Complete,
    ];
    assert_eq!(progress, expected);
    let usage = Usage { input_tokens: Some(11), output_tokens: Some(7), cost_usd: Some(0.25) };
    let expected = Reply {
        result: Ok(OUTCOME.into()),
        session: Some("s-1".into()),
        usage: Some(usage),
        session_total: None,
        denials: vec![],
    };
    assert_eq!(reply, expected);
}

#[test]
fn one_object_an_array_or_lines() {
    let pretty = |text: String| {
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        serde_json::to_string_pretty(&value).unwrap()
    };
    let array = format!("[{INIT},{TEXT},{DONE}]");
    for output in [
        DONE.to_owned(),
        array.clone(),
        pretty(DONE.to_owned()),
        pretty(array),
        format!("a warning of some shell profile\n{DONE}\n"),
        format!("{DONE}\nnot json"),
        format!("[\n  {DONE}\n]"),
    ] {
        let reply = read(&output, Exit::code(0), "").1;
        assert_eq!(reply.result.as_deref(), Ok(OUTCOME), "{output}");
        assert_eq!(reply.session, Some("s-1".into()), "{output}");
        assert_eq!(reply.usage.unwrap().output_tokens, Some(7), "{output}");
    }
}

#[test]
fn the_last_result_counts_and_what_all_used() {
    let second = DONE.replace("hi there\\n", "second turn ").replace("result_index\":0", "x\":1");
    let reply = read(&format!("{DONE}\n{second}"), Exit::code(0), "").1;
    assert_eq!(reply.result.as_deref(), Ok("second turn {\"outcome\":\"ok\"}"));
    assert_eq!(reply.usage.unwrap().cost_usd, Some(0.5));
}

#[test]
fn an_empty_answer_is_a_success() {
    for result in [r#","result":"""#, ""] {
        let line = format!(r#"{{"type":"result","is_error":false{result},"session_id":"s-1"}}"#);
        let reply = read(&line, Exit::code(0), "").1;
        assert_eq!(reply.result.as_deref(), Ok(""));
        assert_eq!(reply.usage, None);
    }
}

#[test]
fn nothing_weaker_than_is_error_false_is_a_success() {
    let crash = |output: &str, exit, stderr: &str| {
        let (kind, until, message) = fault(output, exit, stderr);
        assert_eq!((kind, until), (FaultKind::Crash, None), "{output}");
        message
    };
    let no_flag = DONE.replace(r#""is_error":false,"#, "");
    assert_eq!(
        crash(&no_flag, Exit::code(0), ""),
        "Claude Code's result has no `is_error` that is true or false"
    );
    // A mode that the service does not support: refused, without the word for an error.
    let refused = DONE.replace(r#""terminal_reason":"completed""#, r#""terminal_reason":"other""#);
    assert_eq!(
        crash(&refused, Exit::code(1), "mode refused\n"),
        "Claude Code ended with exit code 1: mode refused"
    );
    assert!(crash(&refused, Exit::signal(9), "").starts_with("Claude Code was ended by signal 9"));
    assert_eq!(
        crash("", Exit::code(1), "Error: Session ID s-1 is already in use.\n"),
        "Claude Code ended with exit code 1 and gave no result: \
         Error: Session ID s-1 is already in use."
    );
    assert_eq!(
        crash(&format!("{INIT}\n{TEXT}"), Exit::code(143), " "),
        "Claude Code ended with exit code 143 and gave no result"
    );
    assert_eq!(
        crash("", Exit::code(0), ""),
        "Claude Code ended with exit code 0 and gave no result"
    );
    let interrupted = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools","errors":["[ede_diagnostic] x"],"session_id":"s-1"}"#;
    assert_eq!(crash(interrupted, Exit::code(0), ""), "[ede_diagnostic] x");
}

/// The answer is paid for: what becomes of the process afterwards changes nothing.
#[test]
fn a_complete_answer_counts_however_the_process_ends() {
    let older = DONE.replace(r#""terminal_reason":"completed","#, "");
    for done in [DONE, &older] {
        for exit in [Exit::code(143), Exit::code(1), Exit::signal(9), Exit::signal(15)] {
            let reply = read(&format!("{INIT}\n{done}"), exit, "noise").1;
            assert_eq!(reply.result.as_deref(), Ok(OUTCOME), "{exit}");
            assert_eq!(reply.usage.expect("a usage").cost_usd, Some(0.25));
        }
    }
    // Every byte of the line counts; only its newline does not.
    for length in 0..DONE.len() {
        fault(&format!("{INIT}\n{}", &DONE[..length]), Exit::signal(9), "");
    }
}

#[test]
fn refusals_on_standard_error() {
    let unknown = "No conversation found with session ID: s-1\n";
    let (kind, _, message) = fault("", Exit::code(1), unknown);
    assert_eq!(kind, FaultKind::UnknownSession);
    assert!(message.ends_with(": No conversation found with session ID: s-1"), "{message}");
    let unknown_session = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,"session_id":"s-1","errors":["No conversation found with session ID: s-1"]}"#;
    assert_eq!(fault(unknown_session, Exit::code(1), unknown).0, FaultKind::UnknownSession);
    let talked = format!("{INIT}\n{TEXT}");
    let quoted = "the log has: No conversation found with session ID: s-1";
    assert_eq!(fault(&talked, Exit::code(1), quoted).0, FaultKind::Crash);

    let root = "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons";
    let (kind, _, message) = fault("", Exit::code(1), root);
    assert_eq!(kind, FaultKind::BadRequest);
    assert!(message.ends_with("or set IS_SANDBOX=1 if this machine is one"), "{message}");
    assert!(!message.contains("mode"), "a machine's step has none: {message}");
}

#[test]
fn a_session_is_known_also_after_a_failure() {
    let reply = read(&format!("{INIT}\n{TEXT}"), Exit::signal(15), "").1;
    assert_eq!(reply.session, Some("s-1".into()));
    assert_eq!(read("", Exit::code(1), "").1.session, None);
}

#[test]
fn faults_by_the_programs_own_fields() {
    use FaultKind::{Auth, BadRequest, Crash, Limit, Overloaded, TooLong};
    let api = r#""subtype":"success","terminal_reason":"api_error","result":"reason""#;
    let status = |status: &str| format!(r#"{api},"api_error_status":{status}"#);
    for (word, result, kind) in [
        ("authentication_failed", status("401"), Auth),
        ("authentication_failed", status("403"), Auth),
        ("authentication_failed", status("null"), Auth),
        ("oauth_org_not_allowed", status("400"), Auth),
        ("rate_limit", status("429"), Limit),
        ("billing_error", status("400"), Limit),
        ("server_error", status("529"), Overloaded),
        ("overloaded", status("null"), Overloaded),
        ("server_error", status("null"), Overloaded),
        ("model_not_found", status("404"), BadRequest),
        ("invalid_request", status("400"), BadRequest),
        ("max_output_tokens", status("null"), BadRequest),
        ("unknown", status("500"), Overloaded),
        // Versions that have no word yet.
        ("", status("401"), Auth),
        ("", status("403"), Auth),
        ("", status("429"), Limit),
        ("", status("500"), Overloaded),
        ("", status("529"), Overloaded),
        ("", status("400"), BadRequest),
        ("", status("404"), BadRequest),
        ("", status("null"), Crash),
        ("", format!(r#"{api},"api_error":"connection_failed""#), Overloaded),
        ("", format!(r#"{api},"stop_reason":"refusal""#), BadRequest),
        ("", r#""terminal_reason":"prompt_too_long","result":"reason""#.into(), TooLong),
        (
            "invalid_request",
            r#""terminal_reason":"prompt_too_long","result":"reason""#.into(),
            TooLong,
        ),
    ] {
        let output = failed(word, &result);
        assert_eq!(fault(&output, Exit::code(1), ""), (kind, None, "reason".into()), "{output}");
    }
}

#[test]
fn faults_without_any_field_by_the_programs_fixed_sentences() {
    use FaultKind::{Auth, Crash, Overloaded};
    for (text, kind) in [
        ("Not logged in · Please run /login", Auth),
        ("Invalid API key · Fix external API key", Auth),
        ("API Error: Connection refused — (ECONNREFUSED)", Overloaded),
        ("Request timed out", Overloaded),
        // Numbers and words in prose mean nothing.
        ("The test prints 401, 429 and 529; rate_limit; Not logged in", Crash),
    ] {
        let result = format!(r#""subtype":"success","result":"{text}","api_error_status":null"#);
        let read = fault(&failed("", &result), Exit::code(1), "");
        assert_eq!(read, (kind, None, text.to_owned()));
    }
}

#[test]
fn what_a_setting_allows_is_used_up() {
    for (result, message) in [
        (
            r#""subtype":"error_max_turns","terminal_reason":"max_turns","errors":["Reached maximum number of turns (1)"]"#,
            "Reached maximum number of turns (1)",
        ),
        (
            r#""subtype":"error_max_budget_usd","terminal_reason":"budget_exhausted""#,
            "Claude Code reported an error: budget_exhausted",
        ),
    ] {
        let read = fault(&failed("", result), Exit::code(1), "");
        assert_eq!(read, (FaultKind::BadRequest, None, message.to_owned()));
    }
}

#[test]
fn a_limit_reports_when_it_is_over() {
    let result = r#""result":"You've hit your 5-hour limit","api_error_status":429"#;
    let text = "You've hit your 5-hour limit".to_owned();
    let over = Some(1_794_787_064_000);
    let by_event = format!("{LIMIT_EVENT}\n{}", failed("rate_limit", result));
    assert_eq!(fault(&by_event, Exit::code(1), ""), (FaultKind::Limit, over, text.clone()));

    let inside = r#"rate_limit","api_error_params":{"rate_limit_info":{"status":"rejected","resetsAt":1794787064}},"x":""#;
    let by_message = failed(inside, result);
    assert_eq!(fault(&by_message, Exit::code(1), ""), (FaultKind::Limit, over, text.clone()));

    let allowed = LIMIT_EVENT.replace("rejected", "allowed");
    let not_refused = format!("{allowed}\n{}", failed("rate_limit", result));
    assert_eq!(fault(&not_refused, Exit::code(1), ""), (FaultKind::Limit, None, text));

    let other = format!("{LIMIT_EVENT}\n{}", failed("authentication_failed", r#""result":"x""#));
    assert_eq!(fault(&other, Exit::code(1), ""), (FaultKind::Auth, None, "x".into()));
}

#[test]
fn an_error_that_was_overcome_or_a_subagents_is_not_the_calls() {
    let result = r#""result":"reason","api_error_status":null"#;
    let error = TEXT.replace(r#","session_id""#, r#","error":"rate_limit","session_id""#);
    assert_ne!(error, TEXT);
    let overcome = format!("{error}\n{}", failed("", result));
    assert_eq!(fault(&overcome, Exit::code(1), "").0, FaultKind::Crash);
    let subagent = error.replace(r#"use_id":null"#, r#"use_id":"toolu_9""#);
    assert_ne!(subagent, error);
    let last = failed("invalid_request", result);
    let (head, tail) = last.rsplit_once('\n').unwrap();
    let between = format!("{head}\n{subagent}\n{tail}");
    assert_eq!(fault(&between, Exit::code(1), "").0, FaultKind::BadRequest);
}

#[test]
fn refused_tool_uses_are_listed_and_do_not_fail_the_call() {
    let denials = r#""permission_denials":[{"tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"rm x"}},{"tool_name":"Write","tool_input":{"file_path":"a"}},{}]"#;
    let output = DONE.replace(r#""permission_denials":[]"#, denials);
    let reply = read(&output, Exit::code(0), "").1;
    assert!(reply.result.is_ok());
    assert_eq!(reply.denials, ["Bash rm x", "Write a", "tool"]);
}
