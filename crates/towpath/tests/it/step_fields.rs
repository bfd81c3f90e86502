//! The language of recipes as a user meets it: real git, real files, the scripted agent.

use crate::support::{User, kill_hard, until};
use std::process::Command;

/// A git repository with one commit in the user's directory.
fn repository(user: &User) {
    user.git("work", &["init", "-q", "-b", "main"]);
    user.write(".gitignore", "*.log\n");
    user.write("clean.txt", "clean\n");
    user.write("dirty.txt", "clean\n");
    user.git("work", &["add", "clean.txt", "dirty.txt", ".gitignore"]);
    user.git("work", &["commit", "-qm", "first"]);
}

const SCRIPT: [&str; 4] = ["--backend", "scripted", "--script", "answers.jsonl"];

fn with_script<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    arguments.iter().copied().chain(SCRIPT).collect()
}

#[test]
fn only_what_the_agent_changed_is_staged() {
    let recipe = "name: r\nsteps:\n  - {id: one, prompt: first}\n  - {id: two, prompt: second}\n";
    let first = r#"{"text":"ok","run":"echo x >> clean.txt; echo x >> dirty.txt; echo x > 'new \"é\" file.txt'; echo x > noise.log; mkdir -p sub; echo x > sub/a"}"#;
    let second = r#"{"text":"ok","run":"echo y >> clean.txt; rm sub/a; echo y > sub/b"}"#;
    let user =
        User::new().file("r.yaml", recipe).file("answers.jsonl", &format!("{first}\n{second}\n"));
    repository(&user);
    user.write("dirty.txt", "mine\n");
    let staged = "A\t\"new \\\"\\303\\251\\\" file.txt\"\n";
    let printed = user.towpath(&with_script(&["run", "r.yaml"])).exits(0);
    assert_eq!(printed.stdout, "ok\nok\n", "only what the agents answered");
    printed.reports("staged \"new \\\"\\303\\251\\\" file.txt\" and 2 more (one)");
    let index = user.git("work", &["diff", "--cached", "--name-status"]);
    assert_eq!(index, format!("M\tclean.txt\n{staged}A\tsub/b"));
    assert_eq!(user.git("work", &["show", ":clean.txt"]), "clean\nx\ny", "both steps' changes");
    assert_eq!(
        user.git("work", &["show", ":dirty.txt"]),
        "clean",
        "a user's own changes are not touched"
    );
    let untracked = user.git("work", &["ls-files", "--others", "--exclude-standard"]);
    assert_eq!(untracked, "answers.jsonl\nr.yaml", "what was new before stays so");
}

#[test]
fn staging_is_turned_off_for_a_run_whatever_the_steps_set() {
    let recipe = "name: r\nsteps:\n  - {id: one, prompt: first, auto_stage: true}\n";
    let user = User::new()
        .file("r.yaml", recipe)
        .file("answers.jsonl", "{\"text\":\"ok\",\"run\":\"echo x >> clean.txt\"}\n");
    repository(&user);
    user.towpath(&with_script(&["run", "r.yaml", "--no-auto-stage"])).exits(0);
    assert_eq!(user.git("work", &["diff", "--cached", "--name-only"]), "");
    assert_eq!(user.git("work", &["diff", "--name-only"]), "clean.txt");
}

#[test]
fn variables_about_another_repository_do_not_lead_staging_astray() {
    let recipe = "name: r\nsteps:\n  - {id: one, prompt: first}\n";
    let user = User::new()
        .file("r.yaml", recipe)
        .file("answers.jsonl", "{\"text\":\"ok\",\"run\":\"echo x >> clean.txt\"}\n");
    repository(&user);
    let mut command = user.command(&with_script(&["run", "r.yaml"]));
    command.env("GIT_INDEX_FILE", user.path("work/other-index")).env("GIT_DIR", "/nowhere");
    assert!(command.status().expect("it starts").success());
    assert_eq!(user.git("work", &["diff", "--cached", "--name-only"]), "clean.txt");
    assert!(!user.path("work/other-index").exists());
}

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

#[test]
fn the_text_of_an_agent_file_becomes_the_system_prompt() {
    let recipe = "name: r\nsteps:\n  - {id: a, agent: 'team:reviewer', prompt: go}\n  - {id: b, agent: builder, prompt: go}\n";
    let user = User::new()
        .file("r.yaml", recipe)
        .file(".towpath/agents/team/code/reviewer.md", "---\nname: x\n---\nYou are strict.\n")
        .file("answers.jsonl", "\"ok\"\n\"ok\"\n");
    user.towpath(&with_script(&["run", "r.yaml", "--calls", "calls.jsonl"])).exits(0);
    let calls = user.read("calls.jsonl");
    let first: serde_json::Value = serde_json::from_str(calls.lines().next().unwrap()).unwrap();
    assert_eq!(first["system"], "You are strict.");
    let second: serde_json::Value = serde_json::from_str(calls.lines().nth(1).unwrap()).unwrap();
    assert!(second["system"].as_str().unwrap().len() > 200, "the built-in one");
    user.write("r.yaml", &recipe.replace("team:reviewer", "team:reviwer"));
    user.towpath(&with_script(&["run", "r.yaml"]))
        .exits(2)
        .reports("there is no agent `team:reviwer`")
        .reports("did you mean `team:code:reviewer`?");
}

#[test]
fn tags_on_the_command_line_choose_steps_and_a_resume_keeps_them() {
    let recipe = "name: r\nsteps:\n  - {id: always, command: echo always}\n  - {id: deploy, command: 'echo deployed; [ -e go ]', when_tags: [release]}\n";
    let user = User::new().file("r.yaml", recipe);
    user.towpath(&["run", "r.yaml"]).exits(0).reports("deploy: needs tag release");
    user.towpath(&["run", "r.yaml", "--include-tags", "x,release"])
        .exits(1)
        .shows("deployed")
        .reports("no step has the tag `x`")
        .reports("--include-tags: there is `release`");
    user.write("go", "");
    let run = user.run();
    user.towpath(&["resume", run.as_str()]).exits(0).shows("deployed");
}

#[test]
fn missing_inputs_are_reported_all_at_once_before_anything_runs() {
    let recipe = "name: r\nrequired_context: [task, branch]\nsteps:\n  - {id: a, command: 'echo {{task}} > ran'}\n";
    let user = User::new().file("r.yaml", recipe);
    let printed = user.towpath(&["run", "r.yaml"]).exits(2);
    printed.reports("needs a value for `task`, `branch`").reports("--set task=… --set branch=…");
    assert!(!user.path("work/ran").exists());
    user.towpath(&["validate", "r.yaml"]).exits(0);
    user.towpath(&["run", "r.yaml", "--set", "task=x", "--set", "branch=y"]).exits(0);
}

#[test]
fn an_agent_finishes_the_work_of_a_failed_recipe() {
    let user = User::new()
        .file("r.yaml", "name: r\nsteps:\n  - {id: call, recipe: c, recovery_on_failure: true}\n  - {id: after, command: cat built}\n")
        .file("c.yaml", "name: c\nsteps:\n  - {id: build, command: 'echo broken >&2; exit 3'}\n")
        .file("answers.jsonl", "{\"match\":\"broken\",\"text\":\"fixed\\nrecovered\",\"run\":\"echo it works > built\"}\n");
    let printed = user.towpath(&with_script(&["run", "r.yaml"])).exits(0);
    printed.shows("it works").reports("recovered");
    let run = user.run();
    user.towpath(&["show", run.as_str()]).exits(0).shows("recovered after");
}

#[test]
fn a_mode_that_the_agents_program_does_not_have_is_refused_with_its_location() {
    let user = User::new()
        .file("r.yaml", "name: r\nsteps:\n  - id: a\n    prompt: go\n    mode: paln\n")
        .file("claude", "#!/bin/sh\necho must not start > started\n");
    let path = user.path("work/claude");
    Command::new("chmod").arg("+x").arg(&path).status().expect("chmod is there");
    let mut command = user.command(&["run", "r.yaml", "--backend", "claude-code"]);
    let made = command.env("CLAUDE_CLI_PATH", &path).output().expect("it starts");
    let text = String::from_utf8_lossy(&made.stderr);
    assert_eq!(made.status.code(), Some(2), "{text}");
    assert!(text.contains("did you mean `plan`?") && text.contains("r.yaml:5:11"), "{text}");
    assert!(!user.path("work/started").exists());
}

#[test]
fn an_agent_that_cannot_be_asked_need_not_be_there() {
    let recipe = "name: r\ncontext: {question: ''}\nsteps:\n  - {id: a, command: echo hi}\n  - {id: b, prompt: x, condition: question}\n  - {id: c, prompt: x, when_tags: [ask]}\n";
    let user = User::new().file("r.yaml", recipe);
    let mut command = user.command(&["run", "r.yaml"]);
    let made = command.env("PATH", "/usr/bin:/bin").output().expect("it starts");
    assert_eq!(made.status.code(), Some(0), "{}", String::from_utf8_lossy(&made.stderr));
    let mut command = user.command(&["run", "r.yaml", "--set", "question=why"]);
    let made = command.env("PATH", "/usr/bin:/bin").output().expect("it starts");
    assert_eq!(made.status.code(), Some(5), "then it must be there before the first step");
    assert!(made.stdout.is_empty());
}

#[test]
fn a_script_that_replaces_another_begins_at_its_first_answer() {
    let recipe = "name: r\nsteps:\n  - {id: a, prompt: one}\n  - {id: b, prompt: two}\n";
    let user = User::new()
        .file("r.yaml", recipe)
        .file("answers.jsonl", "\"first\"\n{\"error\":\"crash\"}\n")
        .file("other.jsonl", "\"new\"\n");
    user.towpath(&with_script(&["run", "r.yaml"])).exits(4);
    let run = user.run();
    let printed = user.towpath(&["resume", run.as_str(), "--script", "other.jsonl"]).exits(0);
    printed.shows("new");
}
