//! The real OpenCode, answered by a scripted model server on the loopback interface.

use crate::real_program_support::model_server::{Answer, ModelServer};
use crate::real_program_support::{Desk, no_mark_is_passed_on, program};
use serde_json::json;
use towpath_agent::{Call, CallProgress, OpenCode, Reply};
use towpath_core::FaultKind;

/// A desk whose OpenCode is set up for the server, as a user would in the settings file.
fn desk(server: ModelServer) -> Desk {
    let desk = Desk::new(server);
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": desk.server.url(), "apiKey": "not-a-real-key"},
        "models": {"scripted": {"cost": {"input": 1, "output": 2}}, "other": {}},
    });
    let settings = json!({"model": "fake/scripted", "small_model": "fake/other",
                          "share": "disabled", "autoupdate": false, "provider": {"fake": provider}});
    desk.write("home/.config/opencode/opencode.json", &settings.to_string());
    desk
}

fn run(desk: &Desk, call: &Call) -> (Vec<CallProgress>, Reply) {
    let backend = OpenCode::new(program("opencode"));
    desk.run(&backend, &[("OPENCODE_DISABLE_MODELS_FETCH", "1".into())], call)
}

#[test]
fn a_session_is_opened_used_and_resumed() {
    let edit = json!({"command": "pwd > made; env -0 > names", "description": "d"});
    let desk = desk(ModelServer::new(vec![
        Answer::Tool("bash", edit),
        Answer::Text("first\n{\"outcome\": \"ok\"}"),
        Answer::Text("second"),
    ]));
    let prompt = format!("- begin \"ünicode\" {}the end", "0123456789 \n".repeat(12_000));
    let call = Call { system: Some("Be brief.".into()), ..desk.call(&prompt) };
    let (progress, reply) = run(&desk, &call);
    assert_eq!(reply.result.as_deref(), Ok("first\n{\"outcome\": \"ok\"}"));
    let session = reply.session.clone().expect("a session");
    assert_eq!(progress[0], CallProgress::Session(session.clone()));
    assert!(
        progress.contains(&CallProgress::Doing("bash pwd > made; env -0 > names".into())),
        "{progress:?}"
    );
    assert_eq!(progress.last(), Some(&CallProgress::Complete));
    let project = desk.path("project");
    assert_eq!(desk.read("project/made").trim(), project.to_str().unwrap(), "not that of PWD");
    let usage = reply.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(200), Some(20)));
    assert!(usage.cost_usd.is_some_and(|cost| cost > 0.0), "{usage:?}");

    let again = Call {
        session: Some(session.clone()),
        resume: true,
        model: Some("fake/other".into()),
        ..desk.call("continue")
    };
    let (_, reply) = run(&desk, &again);
    assert_eq!(reply.result.as_deref(), Ok("second"));
    assert_eq!(reply.session, Some(session));
    let usage = reply.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.cost_usd), (Some(100), None), "no price is known");

    let requests = desk.server.requests();
    assert_eq!(requests.len(), 3, "one a turn, none for a title");
    assert_eq!(requests[2]["model"], "other");
    let sent = requests[0]["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
    assert!(sent.contains("Be brief.\\n\\n- begin \\\"ünicode\\\" 0123456789 \\n"), "{sent:.200}");
    assert!(sent.contains("the end"));
    let history = requests[2]["messages"].to_string();
    assert!(
        history.contains("ünicode") && history.contains("continue") && history.contains("first")
    );
    let (backend, names) = (OpenCode::new("/bin/opencode".into()), desk.read("project/names"));
    let set_up = ["OPENCODE_DISABLE_MODELS_FETCH"];
    no_mark_is_passed_on(&backend, &names, "OPENCODE", "OPENCODE", &set_up);
}

#[test]
fn faults_are_distinguished_and_a_failed_session_can_be_resumed() {
    let desk =
        desk(ModelServer::new(vec![Answer::Error(401, &[], "bad key"), Answer::Text("recovered")]));
    let reply = run(&desk, &desk.call("begin")).1;
    let fault = reply.result.unwrap_err();
    assert_eq!((fault.kind, fault.message.as_str()), (FaultKind::Auth, "OpenCode: bad key"));
    let again = Call { session: reply.session, resume: true, ..desk.call("continue") };
    assert!(again.session.is_some(), "the session is known");
    assert_eq!(run(&desk, &again).1.result.as_deref(), Ok("recovered"));

    let gone = Call { session: Some("ses_0000000000ffe".into()), ..again };
    let fault = run(&desk, &gone).1.result.unwrap_err();
    assert_eq!(fault.kind, FaultKind::UnknownSession, "{}", fault.message);
}

#[test]
fn a_limit_reports_when_it_is_over() {
    let limit = Answer::Error(429, &[("retry-after", "1")], "slow down");
    let desk = desk(ModelServer::always(limit));
    let fault = run(&desk, &desk.call("begin")).1.result.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Limit, "{}", fault.message);
    assert!(fault.until_ms.is_some());
    assert_eq!(desk.server.requests().len(), 6, "it tries by itself before it gives up");
}
