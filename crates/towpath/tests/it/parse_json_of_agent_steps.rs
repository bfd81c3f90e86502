//! `parse_json`: an agent is reminded of JSON, a step without it is degraded.

use crate::support::{User, kill_hard, until, with_script};

const ASKS: &str = "name: r\nsteps:\n  - id: ask\n    prompt: what\n    parse_json: true\n    output: answer\n  - id: use\n    command: echo \"got {{answer.n}}\"\n    auto_stage: false\n";

#[test]
fn the_reminder_for_json_goes_to_the_same_session() {
    let recipe = ASKS.replace("    auto_stage: false\n", "");
    let user = User::new()
        .file("r.yaml", &recipe)
        .file("answers.jsonl", "\"hm\"\n\"{\\\"n\\\": 1.10}\"\n");
    let printed = user.towpath(&with_script(&["run", "r.yaml", "--calls", "calls.jsonl"])).exits(0);
    printed.shows("got 1.10");
    let calls = user.read("calls.jsonl");
    let calls: Vec<serde_json::Value> =
        calls.lines().map(|l| serde_json::from_str(l).expect("a call is JSON")).collect();
    assert_eq!((&calls[0]["kind"], &calls[0]["how"]), (&"prompt".into(), &"new".into()));
    assert_eq!((&calls[1]["kind"], &calls[1]["how"]), (&"reminder".into(), &"resume".into()));
    assert_eq!(calls[0]["session"], calls[1]["session"]);
}

#[test]
fn a_kill_during_the_reminder_does_not_pay_the_prompt_again() {
    let recipe = ASKS.replace("    auto_stage: false\n", "");
    let slow = r#"{"text":"{\"n\": 2}","run":"echo reminded >> effects; [ -e go ] || sleep 60"}"#;
    let user = User::new().file("r.yaml", &recipe).file(
        "answers.jsonl",
        &format!("{{\"text\":\"hm\",\"run\":\"echo asked >> effects\"}}\n{slow}\n"),
    );
    let mut runner = user.start(&with_script(&["run", "r.yaml"]));
    until("the agent is reminded", || {
        user.path("work/effects").exists() && user.count("effects", "reminded") == 1
    });
    kill_hard(&mut runner);
    user.write("go", "");
    let run = user.run();
    user.towpath(&["resume", run.as_str()]).exits(0).shows("got 2");
    assert_eq!(user.read("effects"), "asked\nreminded\nreminded\n");
}

#[test]
fn a_degraded_step_is_shown_everywhere_and_is_no_failure() {
    let recipe = "name: r\nsteps:\n  - {id: look, command: echo no json, parse_json: true}\n";
    let user = User::new().file("r.yaml", recipe);
    user.towpath(&["run", "r.yaml"]).exits(0).reports("degraded");
    let run = user.run();
    user.towpath(&["show", run.as_str()]).exits(0).shows("degraded: its output contains no JSON");
    let json = user.towpath(&["show", run.as_str(), "--json"]).exits(0).json();
    assert_eq!(json["steps"][0]["status"], "degraded");
    user.write("r.yaml", &recipe.replace("true}", "true, parse_json_required: true}"));
    user.towpath(&["run", "r.yaml"]).exits(1).reports("contains no JSON");
}
