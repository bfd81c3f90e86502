//! Agent programs that are scripts of ours: they die, stay alive after their last line, take over another
//! one's conversation, or take too long.

mod complete_answer_kept;

use crate::support::{Printed, User, lives};
use std::fs;

/// The recorded answers of the backends report `ok`, too.
pub const MACHINE: &str = "
id: two
label: Two
description: Two steps in one conversation
initialStep: first
guardrails: {}
steps:
  first:
    prompt: Begin.
    outcomes: [ok]
    onOutcome: {ok: {nextStep: second}}
  second:
    prompt: Continue.
    outcomes: [ok]
    onOutcome: {ok: {action: exit, reason: all-done}}
";

/// An agent's program, by its path.
pub fn program(user: &User, text: &str) -> String {
    user.program("agent", text).to_str().expect("a plain path").to_owned()
}

/// Prints the documented lines of Cursor, and does not end, as it is reported to.
const PROGRAM: &str = r#"#!/bin/sh
echo "$*" >> arguments
echo $$ >> pids
echo '{"type":"system","subtype":"init","session_id":"chat-1","model":"m","cwd":"."}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"{\"outcome\": \"ok\"}","session_id":"chat-1"}'
exec sleep 600
"#;

/// With --new-session another program takes over, and keeps the conversation from then on.
#[test]
fn another_program_takes_over_in_a_new_session() {
    let user = User::new().file("two.yaml", MACHINE);
    user.write("answers.jsonl", "\"{\\\"outcome\\\": \\\"ok\\\"}\"\n{\"error\": \"crash\"}\n");
    user.towpath(&["run", "two.yaml", "--script", "answers.jsonl"]).exits(4);
    let text = "#!/bin/bash\ncat >> prompts\necho \"$*\" >> arguments\n\
                echo '{\"type\":\"thread.started\",\"thread_id\":\"t-1\"}'\n\
                [ $(wc -l < arguments) = 1 ] && exit 3\n\
                echo '{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\
                \"text\":\"{\\\"outcome\\\": \\\"ok\\\"}\"}}'\n\
                echo '{\"type\":\"turn.completed\",\"usage\":{}}'\n";
    let program = program(&user, text);
    let other = ["resume", "--last", "--backend", "codex", "--agent-path", &program];
    user.towpath(&other).exits(5).reports("or add --new-session");
    user.towpath(&[&other[..], &["--new-session"]].concat()).exits(4);
    let reported = user.read("prompts");
    assert!(reported.contains("- first: ok\n") && reported.contains("Continue."), "{reported}");
    // The record knows who answers now, and in which conversation.
    user.towpath(&["resume", "--last"]).exits(0);
    let arguments = user.read("arguments");
    let (first, second) = arguments.trim_end().split_once('\n').expect("two calls");
    assert!(!first.contains("t-1") && second.contains("resume"), "{arguments}");
    assert!(second.contains("t-1"), "{arguments}");
}

#[test]
fn what_a_program_prints_before_it_dies_is_reported_and_recorded() {
    let user = User::new().file("ask.yaml", "name: ask\nsteps:\n  - {id: ask, prompt: x}\n");
    let text = "#!/bin/bash\ncat > /dev/null\necho '{\"type\": \"thread.started\"}'\n\
                echo 'panic: config broken'; exit 7\n";
    let program = program(&user, text);
    for (backend, variable) in [("codex", "CODEX_CLI_PATH"), ("claude-code", "CLAUDE_CLI_PATH")] {
        let mut command = user.command(&["run", "ask.yaml", "--backend", backend]);
        let printed = Printed::from(command.env(variable, &program).output().expect("it starts"));
        let run = user.run();
        let printed = printed.exits(4).reports("panic: config broken");
        printed.reports(&format!("full output: towpath logs {run} ask --raw"));
        let raw = user.towpath(&["logs", run.as_str(), "ask", "--raw"]).exits(0);
        raw.prints("{\"type\": \"thread.started\"}\npanic: config broken\n");
    }
}

#[test]
fn a_program_that_stays_after_its_last_line_is_ended() {
    let user = User::new().file("two.yaml", MACHINE);
    let program = program(&user, PROGRAM);
    let mut command = user.command(&["as", "agent-recipes", "two.yaml", "--backend", "cursor"]);
    let output = command.env("CURSOR_CLI_PATH", program).output().expect("towpath starts");
    let printed = Printed::from(output).exits(0);
    assert!(printed.stdout.ends_with("Exit: all-done\n"), "{}", printed.stdout);
    let printed = printed.reports("Cost: unknown (2 calls)\n  first: unknown (1 call)\n");
    assert!(!printed.stderr.contains("ended by"), "{}", printed.stderr);
    let pids = user.read("pids");
    assert_eq!(pids.lines().count(), 2);
    assert!(!pids.lines().any(lives), "{pids}");
    let arguments = user.read("arguments");
    let (first, second) = arguments.trim_end().split_once('\n').expect("two calls");
    assert!(!first.contains("chat-1") && second.contains("chat-1"), "{arguments}");
}

/// As Claude Code ends when it is asked to, and with nothing on its outputs.
const SLOW: &str = "#!/bin/bash\ncat > /dev/null\ntrap 'exit 143' TERM\nsleep 600 & wait\n";

/// What our own signal did to a program explains nothing: the message is the time limit.
#[test]
fn a_time_limit_is_reported_as_one_and_not_by_an_exit_code() {
    let user = User::new().file("two.yaml", MACHINE);
    user.write("ask.yaml", "name: ask\nsteps:\n  - {id: ask, prompt: x, timeout: 1}\n");
    let slow = program(&user, SLOW);
    let cases: [(&[&str], i32, &str); 4] = [
        (&["ask.yaml"], 1, "timed out after 1 s"),
        (&["two.yaml", "--step-timeout", "1"], 4, "timed out after 1 s"),
        (&["two.yaml", "--idle-timeout", "0.5"], 4, "timed out: it printed nothing for 0.5 s"),
        (&["ask.yaml", "--idle-timeout", "0.5"], 1, "timed out: it printed nothing for 0.5 s"),
    ];
    for (arguments, code, words) in cases {
        let with = ["--agent-path", &slow, "--events", "json", "--events-file", "events"];
        let printed =
            user.towpath(&[&["run"], arguments, &with].concat()).exits(code).reports(words);
        let shown = user.towpath(&["show", user.run().as_str(), "--json"]).exits(0);
        let reported = printed.stderr + &shown.stdout + &user.read("events");
        // The milliseconds of a time and the digits of an id are no exit code.
        let is_part = |c: char| c.is_alphanumeric() || c == '.' || c == '-';
        let has_code =
            reported.split(|c| !is_part(c)).any(|word| word.trim_matches(['.', '-']) == "143");
        assert!(!has_code && !reported.contains("exit code"), "{reported}");
        assert!(user.read("events").contains(words), "{}", user.read("events"));
        fs::remove_file(user.path("work/events")).expect("a file of events");
    }
}
