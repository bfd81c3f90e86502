//! What a machine's step may be beside a prompt: a command, another recipe of either kind; and a
//! machine as a step of a list. What their ends report, and what their texts are filled with.

use super::{calls, prompts, run, script, shown, user};
use crate::support::User;

/// A machine of one command step.
fn command(text: &str, outcomes: &[&str]) -> User {
    let transitions: String = outcomes
        .iter()
        .map(|o| format!("      {o}: {{ action: exit, reason: by-{o} }}\n"))
        .collect();
    let user = User::new().file("answers.jsonl", "");
    user.write(
        "one.yaml",
        &format!(
            "id: one\nlabel: One\ndescription: One command\ninitialStep: a\nguardrails: {{}}\n\
             context: {{ word: hello }}\nsteps:\n  a:\n    command: |\n      {text}\n    \
             outcomes: [{}]\n    onOutcome:\n{transitions}",
            outcomes.join(", ")
        ),
    );
    user
}

#[test]
fn a_command_reports_by_its_exit_code_and_by_what_it_prints() {
    let all = ["success", "failure", "skipped", "other"];
    for (text, reason) in [
        ("true", "by-success"),
        ("echo done; exit 3", "by-failure"),
        ("echo '{\"outcome\": \"skipped\"}'", "by-skipped"),
        ("echo '{\"outcome\": \"skipped\"}'; exit 1", "by-failure"),
        ("echo '{\"files\": 3}'", "by-success"),
        ("echo '{not json}'", "by-success"),
        ("kill -TERM $$", "by-failure"),
    ] {
        let user = command(text, &all);
        run(&user, &["one.yaml"]).exits(0);
        assert_eq!(shown(&user)["machine"]["reason"], reason, "{text}");
    }
}

#[test]
fn why_a_command_or_a_called_machine_failed_is_reported() {
    for (text, why) in [
        ("exit 3", "exit 3"),
        ("kill -9 $$", "ended by signal 9"),
        ("sleep 60", "timed out after 1 s"),
    ] {
        let user = command(text, &["success", "failure"]);
        let flags = ["--step-timeout", "1"];
        let printed = run(&user, &[&["one.yaml"], &flags[..]].concat()).exits(0);
        assert!(printed.stderr.contains(&format!("failure ({why}")), "{why}: {}", printed.stderr);
        let step = &user.towpath(&["show", "--json", user.run().as_str()]).json()["steps"][0];
        let error = step["error"].as_str().expect("a text");
        assert!(error.starts_with(why), "{error}");
    }
    // A machine at its limit is a failure for its caller, and its reason is what it gives.
    let user = user(&["broken", "fixed", "broken"]);
    user.write(
        "outer.yaml",
        "id: outer\nlabel: O\ndescription: d\ninitialStep: call\nguardrails: {}\ncontext: {how: none}\n\
         steps:\n  call: {recipe: fix, output: how, outcomes: [success, failure], onOutcome: \
         {success: {action: exit, reason: fine}, failure: {nextStep: print}}}\n  \
         print: {command: \"echo it was {{how.reason}}\", outcomes: [success, failure], onOutcome: \
         {success: {action: exit, reason: printed}, failure: {action: exit, reason: bad}}}\n",
    );
    let fix = user.read("fix.yaml");
    user.write("fix.yaml", &fix.replace("guardrails: {}", "guardrails: {maxStepVisits: 1}"));
    let printed = run(&user, &["outer.yaml"]).exits(0);
    let reason = "max-step-visits-exceeded:look";
    assert!(printed.stderr.contains(&format!("{reason})")), "{}", printed.stderr);
    assert!(printed.stdout.contains(&format!("it was {reason}")), "{}", printed.stdout);
    // However it ends without an exit of its own, its reason is a word.
    for (answers, reason) in [
        (&["Hm.", "Hm."][..], "orchestration-error"),
        (&["{\"error\": \"crash\"}"], "backend-error"),
    ] {
        script(&user, answers);
        let printed = run(&user, &["outer.yaml"]).exits(0);
        assert!(printed.stdout.contains(&format!("it was {reason}\n")), "{}", printed.stdout);
    }
}

#[test]
fn an_outcome_that_a_command_does_not_have_ends_the_run_without_a_reminder() {
    let user = command("echo '{\"outcome\": \"strange\"}'", &["success", "failure"]);
    let printed = run(&user, &["one.yaml"]).exits(1);
    assert!(
        printed.stderr.contains("Outcome 'strange' is not one of: success, failure"),
        "{printed:?}"
    );
    assert_eq!(shown(&user)["machine"]["reason"], "orchestration-error");
    assert!(calls(&user).is_empty());
}

#[test]
fn only_what_is_declared_is_filled_in() {
    let text = "echo \"{{word}} \\{{nobody}} <{{nobody?}}> {{.ID}}\"";
    let user = command(text, &["success", "failure"]);
    run(&user, &["one.yaml"]).exits(0).prints("hello {{nobody}} <> {{.ID}}\n");
    run(&user, &["one.yaml", "--set", "word=$(id)", "--set", "nobody=$HOME"])
        .exits(0)
        .prints("$(id) {{nobody}} <$HOME> {{.ID}}\n");
}

#[test]
fn a_prompt_is_its_text_and_the_outcomes_and_nothing_else() {
    let user = user(&["fine"]);
    run(&user, &["fix.yaml", "--set", "word={{nobody}}"]).exits(0);
    assert_eq!(
        prompts(&user),
        ["Look. {{nobody}} {{nobody}}\n\nEnd your response with one of these JSON blocks on the \
          last line:\n\n{\"outcome\": \"broken\"}\n{\"outcome\": \"fine\"}\n\
          {\"outcome\": \"other\", \"otherDescription\": \"<brief description>\"}"]
    );
}

#[test]
fn a_context_is_before_the_first_prompt_of_every_session() {
    let user = User::new();
    let answers = ["complete", "no-issues", "committed", "no-tasks"];
    script(&user, &answers);
    run(&user, &["implement-and-review-all", "--context", "Only the parser."]).exits(0);
    let with: Vec<bool> = prompts(&user)
        .iter()
        .map(|prompt| prompt.starts_with("## Context\n\nOnly the parser.\n\n---\n\n"))
        .collect();
    assert_eq!(with, [true, false, false, true]);
}

#[test]
fn a_model_is_the_steps_own_then_the_flags_then_none() {
    let models = |flags: &[&str]| -> Vec<String> {
        let user = user(&["broken", "fixed", "fine"]);
        run(&user, &[&["fix.yaml"], flags].concat()).exits(0);
        let model = |line: &str| {
            let call: serde_json::Value = serde_json::from_str(line).expect("JSON");
            call["model"].as_str().unwrap_or("none").to_owned()
        };
        user.read("calls.jsonl").lines().map(model).collect()
    };
    assert_eq!(models(&[]), ["none", "opus", "none"]);
    assert_eq!(models(&["--model", "haiku"]), ["haiku", "opus", "haiku"]);
}

const PARENT: &str = r#"
id: parent
label: Parent
description: Calls recipes of both kinds
initialStep: call
guardrails: {}
steps:
  call:
    recipe: CALLED
    output: end
    outcomes: [success, failure, all-fine]
    onOutcome:
      success: { action: exit, reason: it-succeeded }
      failure: { action: exit, reason: it-failed }
      all-fine: { nextStep: print }
  print:
    command: echo {{end}}
    outcomes: [success, failure]
    onOutcome:
      success: { action: exit, reason: it-was-fine }
      failure: { action: exit, reason: wrong }
"#;

#[test]
fn a_called_recipe_reports_how_it_ended() {
    let other = "{\"outcome\": \"other\", \"otherDescription\": \"dark\"}";
    for (called, answers, reason) in [
        ("good", &[][..], "it-succeeded"),
        ("bad", &[], "it-failed"),
        ("fix", &["fine"], "it-was-fine"),
        ("fix", &[other], "it-failed"),
        ("fix", &["Hm.", "Hm."], "it-failed"),
        ("fix", &["{\"error\": \"crash\"}"], "it-failed"),
    ] {
        let user = user(answers);
        user.write("good.yaml", "name: good\nsteps:\n  - {id: x, command: echo x}\n");
        user.write("bad.yaml", "name: bad\nsteps:\n  - {id: x, command: exit 3}\n");
        user.write("parent.yaml", &PARENT.replace("CALLED", called));
        let printed = run(&user, &["parent.yaml"]).exits(0);
        assert_eq!(shown(&user)["machine"]["reason"], reason, "{called} {answers:?}");
        if reason == "it-was-fine" {
            let last = printed.stdout.lines().last();
            assert_eq!(last, Some("{\"reason\":\"all-fine\",\"description\":null}"));
        }
    }
}

#[test]
fn a_fault_that_no_transition_can_answer_ends_the_caller_too() {
    for (error, code) in [("auth", 4), ("limit", 75)] {
        let user = user(&[&format!("{{\"error\": \"{error}\"}}")]);
        user.write("parent.yaml", &PARENT.replace("CALLED", "fix"));
        run(&user, &["parent.yaml"]).exits(code);
    }
}

#[test]
fn a_machine_is_a_step_of_a_list_and_gives_its_reason_and_description() {
    let other = "{\"outcome\": \"other\", \"otherDescription\": \"it is dark\"}";
    let user = user(&[other]);
    user.write(
        "outer.yaml",
        "name: outer\nsteps:\n  - id: call\n    recipe: fix\n    continue_on_error: true\n  - id: print\n    command: |\n      \
         echo {{call.reason}}: {{call.description}}\n",
    );
    let printed = run(&user, &["outer.yaml"]).exits(0);
    assert!(printed.stdout.ends_with("\nuser-provided-other: it is dark\n"), "{}", printed.stdout);
    for (answers, code) in [
        (&["Hm.", "Hm."][..], 1),
        (&[other], 1),
        (&["broken", "fixed", "broken", "fixed", "broken", "fixed"], 3),
        (&["{\"error\": \"crash\"}"], 4),
    ] {
        script(&user, answers);
        user.write("outer.yaml", &user.read("outer.yaml").replace("true", "false"));
        run(&user, &["outer.yaml"]).exits(code);
    }
}

/// What a program of each maker prints for an answer.
const MAKERS: [(&str, &str, &str); 4] = [
    (
        "claude-code",
        "claude",
        r#"{"type":"result","subtype":"success","is_error":false,"session_id":"s1","result":ANSWER}"#,
    ),
    (
        "cursor",
        "cursor-agent",
        r#"{"type":"result","subtype":"success","is_error":false,"session_id":"s1","result":ANSWER}"#,
    ),
    (
        "opencode",
        "opencode",
        "{\"type\":\"text\",\"sessionID\":\"s1\",\"part\":{\"type\":\"text\",\"text\":ANSWER}}\n\
         {\"type\":\"step_finish\",\"sessionID\":\"s1\",\"part\":{\"type\":\"step-finish\",\
         \"reason\":\"stop\"}}",
    ),
    (
        "gemini",
        "gemini",
        "{\"type\":\"init\",\"session_id\":\"s1\"}\n\
         {\"type\":\"message\",\"role\":\"assistant\",\"content\":ANSWER,\"delta\":true}\n\
         {\"type\":\"result\",\"status\":\"success\"}",
    ),
];

#[test]
fn the_same_machine_runs_with_programs_of_every_maker() {
    let answer = serde_json::Value::from("I looked.\n\n{\"outcome\": \"fine\"}").to_string();
    for (backend, program, lines) in MAKERS {
        let user = user(&[]);
        let printed = lines.replace("ANSWER", &answer);
        let script = format!("#!/bin/sh\ncat > asked\ncat <<'END'\n{printed}\nEND\n");
        user.program(&format!("bin/{program}"), &script);
        let bin = user.path("bin");
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a PATH"));
        let mut command = user.command(&["run", "fix.yaml", "--backend", backend]);
        let printed =
            crate::support::Printed::from(command.env("PATH", path).output().expect("starts"));
        printed.exits(0).shows("I looked.");
        assert_eq!(shown(&user)["machine"]["reason"], "all-fine", "{backend}");
        assert!(user.read("asked").starts_with("Look. hello {{nobody}}\n"), "{backend}");
    }
}
