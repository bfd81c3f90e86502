//! Backends without their real programs: what they refuse before anything runs, and a program that
//! stays alive after its last line.

mod complete_answer_kept;

use crate::support::{Printed, User, lives};
use std::fs;

/// The recorded answers of the backends report `ok`, too.
const MACHINE: &str = "
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
fn program(user: &User, text: &str) -> String {
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

#[test]
fn a_conversation_continues_with_the_program_that_has_had_it() {
    let user = User::new().file("two.yaml", MACHINE);
    user.write("answers.jsonl", "\"{\\\"outcome\\\": \\\"ok\\\"}\"\n{\"error\": \"crash\"}\n");
    user.towpath(&["run", "two.yaml", "--script", "answers.jsonl"]).exits(4);
    let printed = user.towpath(&["resume", "--last", "--backend", "codex"]).exits(5);
    printed.reports("the conversation of this run is scripted's, and codex does not know it");
    user.write("more.jsonl", "\"{\\\"outcome\\\": \\\"ok\\\"}\"\n");
    user.towpath(&["resume", "--last", "--script", "more.jsonl"]).exits(0);
}

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

#[test]
fn what_a_backend_cannot_do_is_refused_before_anything_runs() {
    let user = User::new().file("two.yaml", MACHINE);
    for (arguments, codes, words) in [
        (
            &["--backend", "gemini", "--system-prompt", "Be brief."][..],
            (5, 5),
            "gemini does not support --system-prompt; claude-code and codex do",
        ),
        (
            &["--backend", "claude-code", "--session", "my review"],
            (2, 5),
            "--session: `my review` is not a session id of claude-code: its ids are UUIDs",
        ),
    ] {
        let run = [&["run", "two.yaml"], arguments].concat();
        user.towpath(&run).exits(codes.0).reports(words);
        let other = [&["as", "agent-recipes", "two.yaml"], arguments].concat();
        user.towpath(&other).exits(codes.1).reports(words);
    }
    let moving = ["run", "two.yaml", "--session", "s", "--worktree", "auto", "--backend", "gemini"];
    let mut command = user.command(&moving);
    command.env("GEMINI_CLI_PATH", "/bin/true");
    let printed = Printed::from(command.output().expect("towpath starts")).exits(5);
    printed.reports("gemini finds a session only in the directory where it began");
    assert_eq!(user.runs(), 0);
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

/// A command of a user with the number 0, on any machine that lets one be.
fn as_root(user: &User, arguments: &[&str]) -> Option<std::process::Command> {
    let mut command = user.command(arguments);
    if !rustix::process::getuid().is_root() {
        let mapped =
            std::process::Command::new("unshare").args(["--map-root-user", "true"]).status();
        if !mapped.is_ok_and(|status| status.success()) {
            return None;
        }
        let towpath = command.get_program().to_owned();
        let mut inside = user.command(&[]);
        std::mem::swap(&mut inside, &mut command);
        let mut outer = std::process::Command::new("unshare");
        outer.arg("--map-root-user").arg(towpath).args(arguments);
        outer.current_dir(user.path("work"));
        for (name, value) in inside.get_envs() {
            match value {
                Some(value) => outer.env(name, value),
                None => outer.env_remove(name),
            };
        }
        command = outer;
    }
    command.env_remove("IS_SANDBOX").env_remove("CLAUDE_CONFIG_DIR");
    Some(command)
}

/// Known before the start, so refused there: nothing of the recipe runs.
#[test]
fn claude_code_as_root_outside_a_sandbox_is_refused_before_anything_runs() {
    const ADVICE: &str = "run as another user, or set IS_SANDBOX=1 if this machine is a sandbox";
    let recipe = |mode: &str| {
        format!(
            "name: r\nsteps:\n  - {{id: a, command: touch ran}}\n  - {{id: b, prompt: x{mode}}}\n"
        )
    };
    let user = User::new().file("two.yaml", MACHINE);
    user.write("all.yaml", &recipe(""));
    user.write("bypass.yaml", &recipe(", mode: bypassPermissions"));
    user.write("plan.yaml", &recipe(", mode: plan"));
    user.write("skipped.yaml", &recipe(", condition: \"'a' == 'b'\""));
    let agent = program(
        &user,
        "#!/bin/bash\n[ \"$1\" = --version ] && exec echo 2.1.325\ncat > /dev/null; exit 9\n",
    );
    let run = |recipe: &str, sandbox: Option<&str>| {
        let mut command = as_root(&user, &["run", recipe, "--agent-path", &agent])?;
        command.envs(sandbox.map(|value| ("IS_SANDBOX", value)));
        Some(Printed::from(command.output().expect("towpath starts")))
    };
    let Some(printed) = run("two.yaml", None) else { return };
    printed.exits(5).reports(ADVICE);
    for (recipe, sandbox) in [("all.yaml", None), ("bypass.yaml", None), ("all.yaml", Some("yes"))]
    {
        run(recipe, sandbox).expect("as before").exits(5).reports(ADVICE);
    }
    assert!(!user.path("work/ran").exists());
    let mut looked = as_root(&user, &["run", "all.yaml", "--dry-run", "--agent-path", &agent])
        .expect("as before");
    let looked = Printed::from(looked.output().expect("towpath starts"));
    assert!((looked.stdout + &looked.stderr).contains(ADVICE));
    let mut doctor = as_root(&user, &["doctor"]).expect("as before");
    let reported =
        Printed::from(doctor.env("CLAUDE_CLI_PATH", &agent).output().expect("it starts"));
    assert!(reported.stdout.contains("export IS_SANDBOX=1"), "{}", reported.stdout);
    // Only where a call would really work without asking, and nobody has reported that it may.
    run("plan.yaml", None).expect("as before").exits(4);
    run("skipped.yaml", None).expect("as before").exits(0);
    run("all.yaml", Some("1")).expect("as before").exits(4);
    let settings = user.path(".claude/settings.json");
    fs::create_dir_all(settings.parent().expect("a folder")).expect("a folder");
    fs::write(settings, r#"{"env": {"IS_SANDBOX": "1"}}"#).expect("settings");
    run("all.yaml", None).expect("as before").exits(4);
}
