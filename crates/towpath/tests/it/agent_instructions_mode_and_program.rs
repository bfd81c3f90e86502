//! Agent steps: whose instructions, which mode, which program and which script they get.

use crate::support::{User, with_script};
use std::process::Command;

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
