//! The real Codex, answered by a scripted model server on the loopback interface.

use crate::real_program_support::model_server::{Answer, ModelServer};
use crate::real_program_support::{Desk, no_mark_is_passed_on, program};
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use towpath_agent::{Call, CallProgress, Codex, Reply};
use towpath_core::{FaultKind, Usage};

fn desk(server: ModelServer) -> Desk {
    let desk = Desk::new(server);
    let url = desk.server.url();
    // Retries are off, and so is all that waits for the vendor's own service.
    let settings = format!(
        r#"model = "scripted"
model_provider = "fake"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
apps = false
[model_providers.fake]
name = "fake"
base_url = "{url}"
env_key = "FAKE_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"#
    );
    desk.write("home/.codex/config.toml", &settings);
    desk
}

fn codex() -> Codex {
    Codex::new(program("codex"), TimeZone::system())
}

fn run(desk: &Desk, call: &Call) -> (Vec<CallProgress>, Reply) {
    desk.run(&codex(), &[("FAKE_KEY", "not-a-real-key".into())], call)
}

fn total(input: u64, output: u64) -> Option<Usage> {
    Some(Usage { input_tokens: Some(input), output_tokens: Some(output), cost_usd: None })
}

#[test]
fn a_session_is_opened_used_and_resumed_from_another_directory() {
    let edit = json!({"cmd": "pwd > made; env -0 > names"});
    let desk = desk(ModelServer::new(vec![
        Answer::Tool("exec_command", edit),
        Answer::Text("first\n{\"outcome\": \"ok\"}"),
        Answer::Text("second"),
    ]));
    let prompt = format!("- begin \"ünicode\" {}the end", "0123456789 \n".repeat(12_000));
    let call = Call { system: Some("- Write \"hi\"\nüber".into()), ..desk.call(&prompt) };
    let (progress, reply) = run(&desk, &call);
    assert_eq!(reply.result.as_deref(), Ok("first\n{\"outcome\": \"ok\"}"));
    let session = reply.session.clone().expect("a session");
    assert_ne!(Some(&session), call.session.as_ref(), "the program names its sessions");
    assert_eq!(progress[0], CallProgress::Session(session.clone()), "before the first tool use");
    assert!(
        progress.contains(&CallProgress::Doing("Bash pwd > made; env -0 > names".into())),
        "{progress:?}"
    );
    assert_eq!(progress.last(), Some(&CallProgress::Complete));
    let project = desk.path("project");
    assert_eq!(desk.read("project/made").trim(), project.to_str().unwrap());
    assert_eq!((reply.usage, reply.session_total), (None, total(200, 20)));

    let again = Call {
        prompt: "continue".into(),
        session: Some(session.clone()),
        resume: true,
        directory: desk.path("other"),
        model: Some("other".into()),
        ..call
    };
    let (_, reply) = run(&desk, &again);
    assert_eq!(reply.result.as_deref(), Ok("second"));
    assert_eq!(reply.session, Some(session));
    assert_eq!(reply.session_total, total(300, 30), "of the whole session");

    let requests = desk.server.requests();
    assert_eq!(requests.len(), 3, "one a turn");
    assert_eq!(requests[2]["model"], "other");
    let messages = |request: &Value, role: &str| {
        let of = |message: &&Value| message["role"] == role;
        let all: Vec<Value> =
            request["input"].as_array().unwrap().iter().filter(of).cloned().collect();
        Value::from(all).to_string()
    };
    assert!(messages(&requests[0], "developer").contains("- Write \\\"hi\\\"\\nüber"));
    assert!(messages(&requests[2], "developer").contains("- Write \\\"hi\\\"\\nüber"), "kept");
    let user = messages(&requests[0], "user");
    assert!(user.contains("- begin \\\"ünicode\\\" 0123456789 \\n") && user.contains("the end"));
    assert!(messages(&requests[2], "user").contains("continue"));
    let names = desk.read("project/names");
    no_mark_is_passed_on(&codex(), &names, "CODEX_", "CODEX_THREAD_ID", &[]);
}

#[test]
fn failures_of_the_service_are_distinguished() {
    let refusal = |status, body| Answer::Refusal(status, json!({ "error": body }));
    for (answer, kind, until) in [
        (Answer::Error(401, &[], "bad key"), FaultKind::Auth, None),
        (Answer::Error(429, &[], "slow down"), FaultKind::Limit, None),
        (
            refusal(
                429,
                json!({"type": "usage_limit_reached", "message": "x",
                                "resets_at": 1_899_999_999, "plan_type": "plus"}),
            ),
            FaultKind::Limit,
            // The end of the minute that the program names.
            Some(1_900_000_020_000),
        ),
        (Answer::Error(500, &[], "boom"), FaultKind::Overloaded, None),
        (Answer::Error(529, &[], "busy"), FaultKind::Overloaded, None),
        (Answer::Nothing, FaultKind::Overloaded, None),
        (Answer::Error(400, &[], "bad thing"), FaultKind::BadRequest, None),
        (
            refusal(404, json!({"code": "model_not_found", "message": "no such model"})),
            FaultKind::BadRequest,
            None,
        ),
    ] {
        let what = format!("{answer:?}");
        let desk = desk(ModelServer::new(vec![answer]));
        let fault = run(&desk, &desk.call("begin")).1.result.expect_err(&what);
        assert_eq!((fault.kind, fault.until_ms), (kind, until), "{what}: {}", fault.message);
        assert_eq!(desk.server.requests().len(), 1, "{what}");
    }
}

#[test]
fn a_failed_session_can_be_resumed_and_an_unknown_one_is_reported() {
    let script = vec![Answer::Error(401, &[], "bad key"), Answer::Text("recovered")];
    let desk = desk(ModelServer::new(script));
    let reply = run(&desk, &desk.call("begin")).1;
    assert_eq!(reply.result.unwrap_err().kind, FaultKind::Auth);
    let again = Call { session: reply.session, resume: true, ..desk.call("continue") };
    assert!(again.session.is_some(), "the session is known");
    assert_eq!(run(&desk, &again).1.result.as_deref(), Ok("recovered"));

    let gone = Call { resume: true, ..desk.call("continue") };
    let fault = run(&desk, &gone).1.result.unwrap_err();
    assert_eq!(fault.kind, FaultKind::UnknownSession, "{}", fault.message);
}

#[test]
fn without_a_key_it_is_an_auth_fault() {
    let desk = desk(ModelServer::new(vec![]));
    let fault = desk.run(&codex(), &[], &desk.call("begin")).1.result.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Auth, "{}", fault.message);
    assert_eq!(desk.server.requests(), [Value::Null; 0]);
}

#[test]
fn a_mode_is_the_programs_sandbox() {
    let desk = desk(ModelServer::new(vec![Answer::Text("read"), Answer::Text("read again")]));
    let call = Call { mode: Some("read-only".into()), ..desk.call("look") };
    let reply = run(&desk, &call).1;
    assert_eq!(reply.result.as_deref(), Ok("read"));
    let again = Call { session: reply.session, resume: true, ..call };
    assert_eq!(run(&desk, &again).1.result.as_deref(), Ok("read again"));
    for request in desk.server.requests() {
        assert!(request["input"].to_string().contains("`sandbox_mode` is `read-only`"));
    }
}
