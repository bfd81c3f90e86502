//! The real Copilot CLI, answered by a scripted model server on the loopback interface.

use crate::real_program_support::model_server::{Answer, ModelServer};
use crate::real_program_support::{Desk, no_mark_is_passed_on, program};
use serde_json::json;
use towpath_agent::{Call, CallProgress, Copilot, Reply};
use towpath_core::{FaultKind, Usage};

fn run(desk: &Desk, call: &Call) -> (Vec<CallProgress>, Reply) {
    let set_up = [
        ("COPILOT_PROVIDER_BASE_URL", desk.server.url()),
        ("COPILOT_PROVIDER_API_KEY", "not-a-real-key".to_owned()),
        ("COPILOT_MODEL", "scripted".into()),
        ("COPILOT_OFFLINE", "true".into()),
        ("COPILOT_AUTO_UPDATE", "false".into()),
    ];
    desk.run(&Copilot::new(program("copilot")), &set_up, call)
}

#[test]
fn a_session_is_opened_used_and_resumed_from_another_directory() {
    let edit = json!({"command": "pwd > made; env -0 > names", "description": "d"});
    let desk = Desk::new(ModelServer::new(vec![
        Answer::Tool("bash", edit),
        Answer::Text("first\n{\"outcome\": \"ok\"}"),
        Answer::Text("second"),
    ]));
    let prompt = format!("- begin \"ünicode\" {}the end", "0123456789 \n".repeat(12_000));
    let call = Call { system: Some("Be brief.".into()), ..desk.call(&prompt) };
    let (progress, reply) = run(&desk, &call);
    assert_eq!(reply.result.as_deref(), Ok("first\n{\"outcome\": \"ok\"}"));
    assert_eq!(reply.session, call.session, "the id is of our choosing");
    assert!(
        progress.contains(&CallProgress::Doing("bash pwd > made; env -0 > names".into())),
        "{progress:?}"
    );
    assert_eq!(progress.last(), Some(&CallProgress::Complete));
    let project = desk.path("project");
    assert_eq!(desk.read("project/made").trim(), project.to_str().unwrap());
    let total = Usage { input_tokens: Some(200), output_tokens: Some(20), cost_usd: None };
    assert_eq!((reply.usage, reply.session_total), (None, Some(total)));

    let again = Call {
        prompt: "continue".into(),
        resume: true,
        directory: desk.path("other"),
        model: Some("other".into()),
        ..call.clone()
    };
    let (_, reply) = run(&desk, &again);
    assert_eq!(reply.result.as_deref(), Ok("second"));
    assert_eq!(reply.session, call.session);
    let total = Usage { input_tokens: Some(300), output_tokens: Some(30), cost_usd: None };
    assert_eq!(reply.session_total, Some(total), "of the whole session");

    let requests = desk.server.requests();
    assert_eq!(requests.len(), 3, "one a turn");
    assert_eq!(requests[2]["model"], "other");
    let sent = requests[0]["messages"].to_string();
    assert!(sent.contains("Be brief.\\n\\n- begin \\\"ünicode\\\" 0123456789 \\n"));
    assert!(sent.contains("the end"));
    let history = requests[2]["messages"].to_string();
    assert!(
        history.contains("ünicode") && history.contains("continue") && history.contains("first")
    );
    let (backend, names) = (Copilot::new("/bin/copilot".into()), desk.read("project/names"));
    let set_up = [
        "COPILOT_PROVIDER_BASE_URL",
        "COPILOT_PROVIDER_API_KEY",
        "COPILOT_MODEL",
        "COPILOT_OFFLINE",
        "COPILOT_AUTO_UPDATE",
    ];
    no_mark_is_passed_on(&backend, &names, "COPILOT", "COPILOT_CLI", &set_up);
}

#[test]
fn faults_are_distinguished_and_a_failed_session_can_be_resumed() {
    let desk = Desk::new(ModelServer::new(vec![
        Answer::Error(401, &[], "bad key"),
        Answer::Error(401, &[], "bad key"),
        Answer::Error(401, &[], "bad key"),
        Answer::Error(404, &[], "no such model"),
        Answer::Text("recovered"),
    ]));
    let call = desk.call("begin");
    let reply = run(&desk, &call).1;
    let fault = reply.result.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Auth, "{}", fault.message);
    assert_eq!(reply.session, call.session);
    let again = Call { resume: true, ..call };
    let fault = run(&desk, &again).1.result.unwrap_err();
    assert_eq!(fault.kind, FaultKind::BadRequest, "{}", fault.message);
    assert_eq!(run(&desk, &again).1.result.as_deref(), Ok("recovered"));

    let gone = Call { resume: true, ..desk.call("begin") };
    let fault = run(&desk, &gone).1.result.unwrap_err();
    assert_eq!(fault.kind, FaultKind::UnknownSession, "{}", fault.message);
}

#[test]
fn a_limit_that_lasts_is_one_after_retries_that_are_reported() {
    let desk =
        Desk::new(ModelServer::always(Answer::Error(429, &[("retry-after", "1")], "slow down")));
    let (progress, reply) = run(&desk, &desk.call("begin"));
    let fault = reply.result.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Limit, "{}", fault.message);
    assert!(progress.contains(&CallProgress::Retrying("rate limit, try 2".into())), "{progress:?}");
    assert_eq!(desk.server.requests().len(), 6);
}

#[test]
fn without_a_login_it_is_an_auth_fault() {
    let desk = Desk::new(ModelServer::new(Vec::new()));
    let reply = desk.run(&Copilot::new(program("copilot")), &[], &desk.call("begin")).1;
    let fault = reply.result.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Auth, "{}", fault.message);
}

#[test]
fn a_mode_that_asks_is_refused_and_reported() {
    let edit = json!({"command": "echo no > made", "description": "d"});
    let desk = Desk::new(ModelServer::new(vec![Answer::Tool("bash", edit), Answer::Text("sorry")]));
    let call = Call { mode: Some("default".into()), ..desk.call("begin") };
    let reply = run(&desk, &call).1;
    assert_eq!(reply.result.as_deref(), Ok("sorry"));
    assert_eq!(reply.denials, ["bash echo no > made"]);
    assert!(!desk.path("project/made").exists());
}
