//! The real Claude Code, answered by a scripted model server on the loopback interface.

use crate::real_program_support::model_server::{Answer, ModelServer};
use crate::real_program_support::{Desk, no_mark_is_passed_on, program};
use serde_json::{Value, json};
use towpath_agent::{Call, CallProgress, ClaudeCode, Reply};
use towpath_core::{FaultKind, Usage};

/// What a user has answered who has set the program up.
const SET_UP: &[(&str, &str)] = &[
    ("ANTHROPIC_API_KEY", "not-a-real-key"),
    ("CLAUDE_CODE_MAX_RETRIES", "0"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("DISABLE_TELEMETRY", "1"),
    // As root the program works unattended only where the user sets this.
    ("IS_SANDBOX", "1"),
];

fn claude() -> ClaudeCode {
    ClaudeCode::new(program("claude"))
}

fn run(desk: &Desk, call: &Call) -> (Vec<CallProgress>, Reply) {
    run_with(desk, call, &[])
}

/// With these variables instead of the user's own; an empty one is not set.
fn run_with(desk: &Desk, call: &Call, own: &[(&str, &str)]) -> (Vec<CallProgress>, Reply) {
    let mut set_up: Vec<(&str, String)> = vec![("ANTHROPIC_BASE_URL", desk.server.root())];
    set_up.extend(SET_UP.iter().map(|(name, value)| (*name, (*value).to_owned())));
    for (name, value) in own {
        set_up.retain(|(known, _)| known != name);
        set_up.extend((!value.is_empty()).then(|| (*name, (*value).to_owned())));
    }
    desk.run(&claude(), &set_up, call)
}

fn fault_of(reply: Reply) -> (FaultKind, Option<i64>, String) {
    let fault = reply.result.expect_err("it fails");
    (fault.kind, fault.until_ms, fault.message)
}

#[test]
fn a_session_is_opened_used_and_resumed_from_another_directory() {
    let edit = json!({"command": "echo made > here; env -0 > names", "description": "d"});
    let desk = Desk::new(ModelServer::new(vec![
        Answer::Tool("Bash", edit),
        Answer::Text("first\n{\"outcome\": \"ok\"}"),
        Answer::Text("second"),
    ]));
    let call = Call { model: Some("haiku".into()), ..desk.call("- begin ünicode") };
    let (mut progress, reply) = run(&desk, &call);
    assert_eq!(reply.result.as_deref(), Ok("first\n{\"outcome\": \"ok\"}"));
    assert_eq!(reply.session, call.session);
    // The program names the version of the model.
    let model = progress.remove(1);
    assert!(matches!(&model, CallProgress::Model(name) if name.contains("haiku")), "{model:?}");
    let session = CallProgress::Session(call.session.clone().unwrap());
    let tool = CallProgress::Doing("Bash echo made > here; env -0 > names".into());
    let [before, text] =
        ["I will do it.", "first\n{\"outcome\": \"ok\"}"].map(|t| CallProgress::Message(t.into()));
    assert_eq!(progress, [session, before, tool, text, CallProgress::Complete]);
    assert_eq!(desk.read("project/here"), "made\n");
    let Usage { input_tokens, output_tokens, cost_usd } = reply.usage.unwrap();
    assert_eq!((input_tokens, output_tokens), (Some(200), Some(20)));
    let first_cost = cost_usd.filter(|cost| *cost > 0.0).expect("a cost");

    let directory = desk.path("other");
    let again = Call { prompt: "continue".into(), resume: true, directory, ..call.clone() };
    let (_, reply) = run(&desk, &again);
    assert_eq!(reply.result.as_deref(), Ok("second"));
    assert_eq!(reply.session, call.session);
    let usage = reply.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(100), Some(10)));
    assert!(usage.cost_usd.is_some_and(|cost| cost > 0.0 && cost < first_cost), "{usage:?}");

    let requests = desk.server.requests();
    assert_eq!(requests.len(), 3, "one request a turn, and no others");
    assert!(requests[0]["model"].as_str().unwrap().contains("haiku"));
    assert!(requests[0]["messages"].to_string().contains("- begin ünicode"));
    let history = requests[2]["messages"].to_string();
    assert!(history.contains("begin ünicode") && history.contains("continue"), "{history}");

    // What the program adds to its children's environment must never reach an agent below it.
    let names = desk.read("project/names");
    let mut set_up: Vec<&str> = SET_UP.iter().map(|(name, _)| *name).collect();
    set_up.push("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS");
    no_mark_is_passed_on(&claude(), &names, "CLAUDE", "CLAUDE_CODE_SESSION_ID", &set_up);
    no_mark_is_passed_on(&claude(), &names, "AI_AGENT", "AI_AGENT", &[]);
}

#[test]
fn a_large_prompt_arrives_whole() {
    let desk = Desk::new(ModelServer::new(vec![Answer::Text("read")]));
    let prompt = "0123456789 \"quoted\"\n".repeat(15_000) + "the very end";
    let (_, reply) = run(&desk, &desk.call(&prompt));
    assert_eq!(reply.result.as_deref(), Ok("read"));
    let body = desk.server.requests().remove(0);
    let texts = body["messages"][0]["content"].as_array().unwrap();
    let sent = texts.iter().find_map(|t| t["text"].as_str().filter(|t| t.contains("very end")));
    assert_eq!(sent.map(str::trim), Some(prompt.as_str()));
}

#[test]
fn instructions_of_any_size_arrive() {
    for system in ["- Be brief. The very end".to_owned(), "word ".repeat(40_000) + "The very end"] {
        let desk = Desk::new(ModelServer::new(vec![Answer::Text("read")]));
        let call = Call { system: Some(system), ..desk.call("begin") };
        assert_eq!(run(&desk, &call).1.result.as_deref(), Ok("read"));
        assert!(desk.server.requests()[0]["system"].to_string().contains("The very end"));
    }
}

#[test]
fn failures_of_the_service_are_distinguished() {
    for (status, kind) in [
        (401, FaultKind::Auth),
        (403, FaultKind::Auth),
        (429, FaultKind::Limit),
        (529, FaultKind::Overloaded),
        (500, FaultKind::Overloaded),
        // The program tries such requests several times over before it gives up.
        (400, FaultKind::BadRequest),
        (404, FaultKind::BadRequest),
    ] {
        let desk = Desk::new(ModelServer::always(Answer::Error(status, &[], "no")));
        let call = desk.call("begin");
        let (_, reply) = run(&desk, &call);
        assert_eq!(reply.session, call.session, "{status}");
        assert_eq!(reply.usage.and_then(|usage| usage.input_tokens), Some(0), "{status}");
        let (reported, until, message) = fault_of(reply);
        assert_eq!((reported, until), (kind, None), "{status}: {message}");
    }
}

#[test]
fn without_a_login_or_a_server_it_reports_which() {
    let desk = Desk::new(ModelServer::new(Vec::new()));
    let call = desk.call("begin");
    let (kind, _, message) = fault_of(run_with(&desk, &call, &[("ANTHROPIC_API_KEY", "")]).1);
    assert_eq!(kind, FaultKind::Auth, "{message}");
    assert_eq!(desk.server.requests(), [Value::Null; 0]);
    let nowhere = [("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")];
    let (kind, _, message) = fault_of(run_with(&desk, &desk.call("begin"), &nowhere).1);
    assert_eq!(kind, FaultKind::Overloaded, "{message}");
}

#[test]
fn a_subscriptions_limit_reports_when_it_is_over() {
    const REJECTED: &[(&str, &str)] = &[
        ("anthropic-ratelimit-unified-status", "rejected"),
        ("anthropic-ratelimit-unified-reset", "4070908800"),
        ("retry-after", "7200"),
        ("anthropic-ratelimit-unified-representative-claim", "five_hour"),
    ];
    let desk = Desk::new(ModelServer::always(Answer::Error(429, REJECTED, "no more")));
    let token = ("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-not-a-token");
    let own = [("ANTHROPIC_API_KEY", ""), token];
    let (kind, until, message) = fault_of(run_with(&desk, &desk.call("begin"), &own).1);
    assert_eq!((kind, until), (FaultKind::Limit, Some(4_070_908_800_000)), "{message}");
}

#[test]
fn usage_errors_come_with_the_programs_words() {
    let desk = Desk::new(ModelServer::new(vec![Answer::Text("taken")]));
    let call = desk.call("begin");
    run(&desk, &call).1.result.unwrap();
    let unknown = Call { resume: true, ..desk.call("begin") };
    for (call, kind, words) in [
        (call, FaultKind::Crash, "already in use"),
        (unknown, FaultKind::UnknownSession, "No conversation found"),
        (desk.call(""), FaultKind::Crash, "Input must be provided"),
    ] {
        let (reported, _, message) = fault_of(run(&desk, &call).1);
        assert_eq!(reported, kind, "{message}");
        assert!(message.contains(words), "{message}");
    }
}
