//! The real Gemini CLI, answered by a scripted model server on the loopback interface.

use crate::real_program_support::model_server::{Answer, ModelServer};
use crate::real_program_support::{Desk, no_mark_is_passed_on, program};
use serde_json::json;
use towpath_agent::{Backend as _, Call, CallProgress, Gemini, Reply, SessionIds};
use towpath_core::{FaultKind, Usage};

fn desk(server: ModelServer) -> Desk {
    let desk = Desk::new(server);
    let settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        // It would try for minutes.
        "general": {"enableAutoUpdate": false, "maxAttempts": 1},
    });
    desk.write("home/.gemini/settings.json", &settings.to_string());
    desk
}

fn run(desk: &Desk, call: &Call) -> (Vec<CallProgress>, Reply) {
    let set_up = [
        ("GEMINI_API_KEY", "not-a-real-key".to_owned()),
        ("GOOGLE_GEMINI_BASE_URL", desk.server.root()),
        // It writes reports of failed requests there.
        ("TMPDIR", desk.path("private").to_str().expect("a plain path").to_owned()),
    ];
    // Without a model it asks one which model to ask.
    let model = call.model.clone().or(Some("gemini-2.5-pro".into()));
    desk.run(&Gemini::new(program("gemini")), &set_up, &Call { model, ..call.clone() })
}

fn used(input: u64, output: u64) -> Option<Usage> {
    Some(Usage { input_tokens: Some(input), output_tokens: Some(output), cost_usd: None })
}

#[test]
fn a_session_is_opened_used_and_resumed_in_its_directory() {
    let edit = json!({"command": "pwd > made; env -0 > names", "description": "d"});
    let desk = desk(ModelServer::new(vec![
        Answer::Tool("run_shell_command", edit),
        Answer::Text("first\n{\"outcome\": \"ok\"}"),
        Answer::Text("second"),
    ]));
    let prompt = format!("- begin \"ünicode\" {}the end", "0123456789 \n".repeat(12_000));
    let call = Call { system: Some("Be brief.".into()), ..desk.call(&prompt) };
    let (progress, reply) = run(&desk, &call);
    assert_eq!(reply.result.as_deref(), Ok("first\n{\"outcome\": \"ok\"}"));
    assert_eq!(reply.session, call.session, "the id is of our choosing");
    let tool = CallProgress::Doing("run_shell_command pwd > made; env -0 > names".into());
    assert!(progress.contains(&tool), "{progress:?}");
    assert_eq!(progress.last(), Some(&CallProgress::Complete));
    let project = desk.path("project");
    assert_eq!(desk.read("project/made").trim(), project.to_str().unwrap());
    assert_eq!((reply.usage, reply.session_total), (used(200, 20), None));
    assert_eq!(reply.denials, [""; 0]);

    let again = Call { prompt: "continue".into(), resume: true, ..call.clone() };
    let (_, reply) = run(&desk, &again);
    assert_eq!(reply.result.as_deref(), Ok("second"));
    assert_eq!(reply.session, call.session);
    assert_eq!(reply.usage, used(100, 10), "of this call alone");

    let requests = desk.server.requests();
    assert_eq!(requests.len(), 3, "one a turn");
    let sent = requests[0]["contents"].to_string();
    assert!(sent.contains("Be brief.\\n\\n- begin \\\"ünicode\\\" 0123456789 \\n"));
    assert!(sent.contains("the end"));
    let history = requests[2]["contents"].to_string();
    assert!(
        history.contains("ünicode") && history.contains("continue") && history.contains("first")
    );
    let set_up = [
        "GEMINI_API_KEY",
        "GEMINI_CLI_NO_RELAUNCH",
        // The user's own word, also when it came from our flag.
        "GEMINI_CLI_TRUST_WORKSPACE",
    ];
    let (backend, names) = (Gemini::new("/bin/gemini".into()), desk.read("project/names"));
    no_mark_is_passed_on(&backend, &names, "GEMINI", "GEMINI_CLI", &set_up);

    let elsewhere = Call { directory: desk.path("other"), ..again };
    let fault = run(&desk, &elsewhere).1.result.unwrap_err();
    assert_eq!(fault.kind, FaultKind::UnknownSession, "{}", fault.message);
}

/// Each call takes seconds; the other failures are read from recorded lines.
#[test]
fn a_limit_and_a_failing_service_are_distinguished() {
    let wait = "type.googleapis.com/google.rpc.RetryInfo";
    let details = json!([{"@type": wait, "retryDelay": "3s"}]);
    for (status, details, kind, until) in [
        (429, details, FaultKind::Limit, Some(3000)),
        (500, json!([]), FaultKind::Overloaded, None),
    ] {
        let error = json!({"code": status, "message": "no", "details": details});
        let desk = desk(ModelServer::new(vec![Answer::Refusal(status, json!({ "error": error }))]));
        let call = desk.call("begin");
        let reply = run(&desk, &call).1;
        let fault = reply.result.unwrap_err();
        assert_eq!((fault.kind, fault.until_ms), (kind, until), "{}", fault.message);
        assert_eq!(reply.session, call.session);
    }
}

/// A session whose first turn failed is not found again, but its id is taken.
#[test]
fn an_unknown_session_is_reported_and_needs_another_id() {
    let refused = json!({"error": {"code": 401, "message": "bad key"}});
    let script = vec![Answer::Refusal(401, refused), Answer::Text("recovered")];
    let desk = desk(ModelServer::new(script));
    let call = desk.call("begin");
    assert_eq!(run(&desk, &call).1.result.unwrap_err().kind, FaultKind::Auth);
    let fault = run(&desk, &Call { resume: true, ..call.clone() }).1.result.unwrap_err();
    assert_eq!(fault.kind, FaultKind::UnknownSession, "{}", fault.message);
    let fault = run(&desk, &call).1.result.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Crash, "{}", fault.message);
    assert_eq!(Gemini::new("g".into()).row().can.session_ids, SessionIds::ChosenOnce);
    assert_eq!(run(&desk, &desk.call("begin")).1.result.as_deref(), Ok("recovered"));
}

#[test]
fn without_a_key_it_is_an_auth_fault() {
    let desk = desk(ModelServer::new(vec![]));
    let gemini = Gemini::new(program("gemini"));
    let fault = desk.run(&gemini, &[], &desk.call("begin")).1.result.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Auth, "{}", fault.message);
}

#[test]
fn a_mode_refuses_what_it_does_not_allow() {
    let edit = json!({"command": "echo made > made", "description": "d"});
    let desk = desk(ModelServer::new(vec![
        Answer::Tool("run_shell_command", edit),
        Answer::Text("could not"),
    ]));
    let call = Call { mode: Some("default".into()), ..desk.call("look") };
    let reply = run(&desk, &call).1;
    assert_eq!(reply.result.as_deref(), Ok("could not"));
    assert_eq!(reply.denials, ["run_shell_command echo made > made"]);
    assert_eq!(desk.read("project/made"), "");
}
