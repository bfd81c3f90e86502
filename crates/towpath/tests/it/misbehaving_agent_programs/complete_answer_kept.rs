//! An answer that is complete is paid for. Whatever ends its program, the runner or both after that,
//! it counts, and nobody is asked again. Programs instead of the real ones print what those
//! were recorded to print.

use super::MACHINE;
use crate::support::{Signal, User, kill_hard, lives, signal, signal_to, until, warden_of};
use serde_json::Value;
use std::fs;
use std::process::Child;
use towpath_core::SessionId;
use towpath_run::Fact;

const RECIPE: &str = "
name: ask
steps:
  - {id: ask, prompt: Greet me., timeout: TIME, output: answer}
  - {id: note, command: 'echo {{answer}} >> effects'}
";

/// What the recorded calls answer, and the step after them writes.
const EFFECT: &str = "Hello.\n{\"outcome\": \"ok\"}\n";

const CLAUDE_CODE: &str = r#"{"type":"system","subtype":"init","session_id":"SESSION"}
{"type":"assistant","message":{"content":[{"type":"text","text":"Hello.\n{\"outcome\": \"ok\"}"}]},"session_id":"SESSION"}
{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":"Hello.\n{\"outcome\": \"ok\"}","session_id":"SESSION","total_cost_usd":0.5,"usage":{"input_tokens":11,"output_tokens":7}}
"#;

/// The backends, and what a good call of each prints.
const PROGRAMS: [(&str, &str); 6] = [
    ("claude-code", CLAUDE_CODE),
    ("codex", include_str!("../../../../towpath-agent/tests/recorded/codex.jsonl")),
    ("gemini", include_str!("../../../../towpath-agent/tests/recorded/gemini.jsonl")),
    ("github-copilot", include_str!("../../../../towpath-agent/tests/recorded/copilot.jsonl")),
    ("opencode", include_str!("../../../../towpath-agent/tests/recorded/opencode.jsonl")),
    ("cursor", include_str!("../../../../towpath-agent/tests/recorded/cursor.jsonl")),
];

/// Checks every backend with its program's lines, all at once: most of the time each waits.
fn with_each_backend(check: impl Fn(&str, &str) + Sync) {
    std::thread::scope(|scope| {
        for (backend, lines) in PROGRAMS {
            let check = &check;
            scope.spawn(move || check(backend, lines));
        }
    });
}

/// A user whose agent prints `lines`, notes that it has, and then does `after`.
fn user(lines: &str, after: &str) -> User {
    let user = User::new().file("ask.yaml", &RECIPE.replace("TIME", "600"));
    user.write("answer.jsonl", lines);
    let text = format!(
        "#!/bin/bash\ncat > /dev/null\necho \"$*\" >> asked\ncat answer.jsonl\n\
         echo $$ > printed\n{after}\n"
    );
    user.program("agent", &text);
    user
}

/// Starts a run, and waits until its agent has printed all.
fn printed(user: &User, backend: &str, recipe: &str) -> Child {
    let program = user.path("agent");
    let program = program.to_str().expect("a plain path");
    let child = user.start(&["run", recipe, "--backend", backend, "--agent-path", program]);
    until("the answer is printed", || user.read("printed").ends_with('\n'));
    child
}

/// Waits until the warden has moved all that was printed into its file.
fn kept(user: &User, lines: &str) {
    let directory = user.store().run_directory(&user.run());
    until("the answer is in its file", || {
        let files = fs::read_dir(&directory).into_iter().flatten().flatten();
        let lengths = files
            .filter(|file| file.file_name().to_string_lossy().ends_with(".stdout"))
            .filter_map(|file| file.metadata().ok());
        lengths.map(|file| file.len()).sum::<u64>() == lines.len() as u64
    });
}

fn asked(user: &User) -> usize {
    user.read("asked").lines().count()
}

/// What the record shows of the call, without its times.
fn call(user: &User) -> Value {
    let run = user.run();
    let shown = user.towpath(&["show", run.as_str(), "--json"]).exits(0).json();
    let step = &shown["steps"][0];
    assert_eq!(step["status"], "completed", "{shown:#}");
    assert_eq!(step["attempts"], 1, "{shown:#}");
    serde_json::json!([
        step["output"],
        step["usage"],
        step["cost_usd"],
        shown["summary"]["cost_usd"]
    ])
}

/// The sessions that the journal names.
fn sessions(user: &User) -> Vec<SessionId> {
    let named = user.facts(&user.run()).into_iter().filter_map(|fact| match fact {
        Fact::JobStarted { session, .. } => session,
        Fact::SessionOpened { session, .. } => Some(session),
        _ => None,
    });
    named.collect()
}

/// Resumes what was interrupted: the answer is used, and nobody is asked.
fn resumes(user: &User, what: &str) {
    let printed = user.towpath(&["resume", "--last"]);
    assert_eq!(printed.code, Some(0), "{what}: {}", printed.stderr);
    finished(user, what);
}

fn finished(user: &User, what: &str) {
    assert_eq!(asked(user), 1, "{what}: {}", user.read("asked"));
    assert_eq!(user.read("effects"), EFFECT, "{what}");
    assert!(!lives(&user.read("printed")), "{what}");
}

#[test]
fn a_signal_to_the_runner_ends_the_run_and_keeps_the_answer() {
    with_each_backend(|backend, lines| {
        for (sent, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
            let what = format!("{backend} {sent:?}");
            let user = user(lines, "exec sleep 600");
            let mut runner = printed(&user, backend, "ask.yaml");
            signal(&runner, sent);
            assert_eq!(runner.wait().expect("it ends").code(), Some(code), "{what}");
            assert_eq!(user.read("effects"), "", "{what}: nothing more is started");
            call(&user);
            resumes(&user, &what);
        }
    });
}

#[test]
fn a_time_limit_that_comes_after_the_answer_is_none() {
    with_each_backend(|backend, lines| {
        let user = user(lines, "exec sleep 600");
        user.write("ask.yaml", &RECIPE.replace("TIME", "1"));
        let mut runner = printed(&user, backend, "ask.yaml");
        assert_eq!(runner.wait().expect("it ends").code(), Some(0), "{backend}");
        finished(&user, backend);
    });
}

#[test]
fn how_the_program_ends_after_its_answer_changes_nothing() {
    with_each_backend(|backend, lines| {
        for after in ["exit 7", "kill -9 $$", "kill -SEGV $$"] {
            let user = user(lines, after);
            let mut runner = printed(&user, backend, "ask.yaml");
            assert_eq!(runner.wait().expect("it ends").code(), Some(0), "{backend} {after}");
            finished(&user, backend);
        }
    });
}

/// A program that does not end by itself is ended: some seconds later, or at once where it is known
/// for that.
#[test]
fn a_program_that_lives_on_after_its_answer_is_ended() {
    with_each_backend(|backend, lines| {
        let user = user(lines, "trap '' HUP; sleep 600 & wait");
        let mut runner = printed(&user, backend, "ask.yaml");
        assert_eq!(runner.wait().expect("it ends").code(), Some(0), "{backend}");
        finished(&user, backend);
    });
}

#[test]
fn an_answer_that_a_dead_owner_left_on_disk_is_read_and_not_paid_again() {
    with_each_backend(|backend, lines| {
        let unbroken = user(lines, "exit 0");
        assert!(printed(&unbroken, backend, "ask.yaml").wait().expect("it ends").success());
        for victims in ["runner", "warden", "both"] {
            let what = format!("{backend} {victims}");
            let user = user(lines, "exec sleep 600");
            let mut runner = printed(&user, backend, "ask.yaml");
            let warden = warden_of(&runner);
            if victims != "runner" {
                kept(&user, lines);
                signal_to(warden, Signal::KILL);
            }
            match victims {
                "warden" => assert_eq!(runner.wait().expect("it ends").code(), Some(5), "{what}"),
                _ => kill_hard(&mut runner),
            }
            resumes(&user, &what);
            assert_eq!(call(&user), call(&unbroken), "{what}");
            assert_eq!(sessions(&user).len(), sessions(&unbroken).len(), "{what}");
        }
    });
}

/// Half a line is no answer, wherever the half ends: it is asked again.
#[test]
fn what_is_not_complete_is_asked_again() {
    with_each_backend(|backend, lines| {
        let whole = lines.trim_end();
        let cut = &whole[..whole.len() - 1];
        let user = user(cut, "[ $(wc -l < asked) = 1 ] && exec sleep 600; echo '}'");
        let mut runner = printed(&user, backend, "ask.yaml");
        kill_hard(&mut runner);
        let printed = user.towpath(&["resume", "--last"]);
        assert_eq!(printed.code, Some(0), "{backend}: {}", printed.stderr);
        assert_eq!((asked(&user), user.read("effects").as_str()), (2, EFFECT), "{backend}");
    });
}

/// A run that is cancelled after its owner died keeps what was paid for, too.
#[test]
fn a_cancelled_run_keeps_the_answer_of_its_dead_owner() {
    let (backend, lines) = PROGRAMS[0];
    let user = user(lines, "exec sleep 600");
    kill_hard(&mut printed(&user, backend, "ask.yaml"));
    user.towpath(&["cancel", user.run().as_str()]).exits(0);
    resumes(&user, "cancelled");
}

/// The next step continues the session that only the dead call's output names.
#[test]
fn a_machine_continues_with_the_session_of_the_dead_call() {
    with_each_backend(|backend, lines| {
        let user = user(lines, "[ $(wc -l < asked) = 1 ] && exec sleep 600; exit 0");
        user.write("two.yaml", MACHINE);
        kill_hard(&mut printed(&user, backend, "two.yaml"));
        let printed = user.towpath(&["resume", "--last", "--json"]);
        assert_eq!(printed.code, Some(0), "{backend}: {}", printed.stderr);
        assert_eq!(printed.json()["machine"]["reason"], "all-done", "{backend}");
        assert_eq!(asked(&user), 2, "{backend}");
        let named = sessions(&user);
        let second = user.read("asked");
        let second = second.lines().last().expect("two calls");
        assert!(
            named.iter().any(|id| second.contains(id.as_str())),
            "{backend}: {named:?}: {second}"
        );
    });
}

/// With the runner alive, a machine whose agent was killed right after its answer needs no reminder
/// and no second call.
#[test]
fn a_machine_takes_the_answer_of_an_agent_that_was_killed() {
    let (backend, lines) = PROGRAMS[0];
    let user = user(lines, "kill -9 $$");
    user.write("two.yaml", MACHINE);
    let program = user.path("agent");
    let program = program.to_str().expect("a plain path");
    let run = ["run", "two.yaml", "--backend", backend, "--agent-path", program, "--json"];
    let reported = user.towpath(&run).exits(0).json();
    assert_eq!((reported["machine"]["reason"].as_str(), asked(&user)), (Some("all-done"), 2));
}
