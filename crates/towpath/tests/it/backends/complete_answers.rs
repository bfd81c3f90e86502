//! An answer that is complete is paid for. Whatever ends its program, the runner or both after that,
//! it counts, and nobody is asked again. Programs in the place of the real ones print what those
//! were recorded to print.

use crate::support::{Person, Said, kill_hard, lives, signal, signal_to, until};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Child;
use towpath_run::Fact;

const RECIPE: &str = "
name: ask
steps:
  - {id: ask, prompt: Say hello., timeout: TIME, output: answer}
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

/// A user whose agent prints `lines`, notes that it has, and then does `after`.
fn person(lines: &str, after: &str) -> Person {
    let person = Person::new().file("ask.yaml", &RECIPE.replace("TIME", "600"));
    person.write("answer.jsonl", lines);
    let text = format!(
        "#!/bin/bash\ncat > /dev/null\necho \"$*\" >> asked\ncat answer.jsonl\n\
         echo $$ > printed\n{after}\n"
    );
    let program = person.path("agent");
    fs::write(&program, text).expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
    person
}

/// Starts a run, and waits until its agent has printed all.
fn printed(person: &Person, backend: &str, recipe: &str) -> Child {
    let program = person.path("agent");
    let program = program.to_str().expect("a plain path");
    let child = person.start(&["run", recipe, "--backend", backend, "--agent-path", program]);
    until("the answer is printed", || person.read("printed").ends_with('\n'));
    child
}

/// Waits until the warden has moved all that was printed into its file.
fn kept(person: &Person, lines: &str) {
    let directory = person.store().run_directory(&person.run());
    until("the answer is in its file", || {
        let files = fs::read_dir(&directory).into_iter().flatten().flatten();
        let lengths = files
            .filter(|file| file.file_name().to_string_lossy().ends_with(".stdout"))
            .filter_map(|file| file.metadata().ok());
        lengths.map(|file| file.len()).sum::<u64>() == lines.len() as u64
    });
}

/// The warden: the only child of the runner.
fn warden_of(runner: &Child) -> u32 {
    let id = runner.id();
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
    children.expect("a list").trim().parse().expect("one child")
}

fn asked(person: &Person) -> usize {
    person.read("asked").lines().count()
}

/// What the record says of the call, without its times.
fn call(person: &Person) -> Value {
    let run = person.run();
    let shown = person.towpath(&["show", run.as_str(), "--json"]).exits(0).json();
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
fn sessions(person: &Person) -> Vec<String> {
    let facts = person.store().facts(&person.run()).expect("facts");
    let facts = facts.iter().map(|f| serde_json::from_str(&f.body).expect("a fact"));
    let named = facts.filter_map(|fact| match fact {
        Fact::JobStarted { session, .. } => session,
        Fact::SessionOpened { session, .. } => Some(session),
        _ => None,
    });
    named.collect()
}

/// Resumes what was interrupted: the answer is used, and nobody is asked.
fn resumes(person: &Person, what: &str) {
    let said = person.towpath(&["resume", "--last"]);
    assert_eq!(said.code, Some(0), "{what}: {}", said.stderr);
    finished(person, what);
}

fn finished(person: &Person, what: &str) {
    assert_eq!(asked(person), 1, "{what}: {}", person.read("asked"));
    assert_eq!(person.read("effects"), EFFECT, "{what}");
    assert!(!lives(&person.read("printed")), "{what}");
}

#[test]
fn a_signal_to_the_runner_ends_the_run_and_keeps_the_answer() {
    for (backend, lines) in PROGRAMS {
        for (name, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
            let what = format!("{backend} {name}");
            let person = person(lines, "exec sleep 600");
            let mut runner = printed(&person, backend, "ask.yaml");
            signal(&runner, name);
            assert_eq!(runner.wait().expect("it ends").code(), Some(code), "{what}");
            assert_eq!(person.read("effects"), "", "{what}: nothing more is started");
            call(&person);
            resumes(&person, &what);
        }
    }
}

#[test]
fn a_time_limit_that_comes_after_the_answer_is_none() {
    for (backend, lines) in PROGRAMS {
        let person = person(lines, "exec sleep 600");
        person.write("ask.yaml", &RECIPE.replace("TIME", "1"));
        let mut runner = printed(&person, backend, "ask.yaml");
        assert_eq!(runner.wait().expect("it ends").code(), Some(0), "{backend}");
        finished(&person, backend);
    }
}

#[test]
fn how_the_program_ends_after_its_answer_changes_nothing() {
    for (backend, lines) in PROGRAMS {
        for after in ["exit 7", "kill -9 $$", "kill -SEGV $$"] {
            let person = person(lines, after);
            let mut runner = printed(&person, backend, "ask.yaml");
            assert_eq!(runner.wait().expect("it ends").code(), Some(0), "{backend} {after}");
            finished(&person, backend);
        }
    }
}

/// A program that does not end by itself is ended: some seconds later, or at once where it is known
/// for that.
#[test]
fn a_program_that_lives_on_after_its_answer_is_ended() {
    std::thread::scope(|scope| {
        for (backend, lines) in PROGRAMS {
            scope.spawn(move || {
                let person = person(lines, "trap '' HUP; sleep 600 & wait");
                let mut runner = printed(&person, backend, "ask.yaml");
                assert_eq!(runner.wait().expect("it ends").code(), Some(0), "{backend}");
                finished(&person, backend);
            });
        }
    });
}

#[test]
fn an_answer_that_a_dead_owner_left_on_disk_is_read_and_not_paid_again() {
    for (backend, lines) in PROGRAMS {
        let unbroken = person(lines, "exit 0");
        assert!(printed(&unbroken, backend, "ask.yaml").wait().expect("it ends").success());
        for victims in ["runner", "warden", "both"] {
            let what = format!("{backend} {victims}");
            let person = person(lines, "exec sleep 600");
            let mut runner = printed(&person, backend, "ask.yaml");
            let warden = warden_of(&runner);
            if victims != "runner" {
                kept(&person, lines);
                signal_to(warden, "-9");
            }
            match victims {
                "warden" => assert_eq!(runner.wait().expect("it ends").code(), Some(5), "{what}"),
                _ => kill_hard(&mut runner),
            }
            resumes(&person, &what);
            assert_eq!(call(&person), call(&unbroken), "{what}");
            assert_eq!(sessions(&person).len(), sessions(&unbroken).len(), "{what}");
        }
    }
}

/// Half a line is no answer, wherever the half ends: it is asked again.
#[test]
fn what_is_not_complete_is_asked_again() {
    for (backend, lines) in PROGRAMS {
        let whole = lines.trim_end();
        let cut = &whole[..whole.len() - 1];
        let person = person(cut, "[ $(wc -l < asked) = 1 ] && exec sleep 600; echo '}'");
        let mut runner = printed(&person, backend, "ask.yaml");
        kill_hard(&mut runner);
        let said = person.towpath(&["resume", "--last"]);
        assert_eq!(said.code, Some(0), "{backend}: {}", said.stderr);
        assert_eq!((asked(&person), person.read("effects").as_str()), (2, EFFECT), "{backend}");
    }
}

/// A run that is cancelled after its owner died keeps what was paid for, too.
#[test]
fn a_cancelled_run_keeps_the_answer_of_its_dead_owner() {
    let (backend, lines) = PROGRAMS[0];
    let person = person(lines, "exec sleep 600");
    kill_hard(&mut printed(&person, backend, "ask.yaml"));
    person.towpath(&["cancel", person.run().as_str()]).exits(0);
    resumes(&person, "cancelled");
}

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
    prompt: Go on.
    outcomes: [ok]
    onOutcome: {ok: {action: exit, reason: all-done}}
";

/// The next step continues the session that only the dead call's output names.
#[test]
fn a_machine_goes_on_with_the_session_of_the_dead_call() {
    for (backend, lines) in PROGRAMS {
        let person = person(lines, "[ $(wc -l < asked) = 1 ] && exec sleep 600; exit 0");
        person.write("two.yaml", MACHINE);
        kill_hard(&mut printed(&person, backend, "two.yaml"));
        let said = person.towpath(&["resume", "--last", "--json"]);
        assert_eq!(said.code, Some(0), "{backend}: {}", said.stderr);
        assert_eq!(said.json()["machine"]["reason"], "all-done", "{backend}");
        assert_eq!(asked(&person), 2, "{backend}");
        let named = sessions(&person);
        let second = person.read("asked");
        let second = second.lines().last().expect("two calls");
        assert!(named.iter().any(|id| second.contains(id)), "{backend}: {named:?}: {second}");
    }
}

/// With the runner alive, a machine whose agent was killed right after its answer needs no reminder
/// and no second call.
#[test]
fn a_machine_takes_the_answer_of_an_agent_that_was_killed() {
    let (backend, lines) = PROGRAMS[0];
    let person = person(lines, "kill -9 $$");
    person.write("two.yaml", MACHINE);
    let program = person.path("agent");
    let program = program.to_str().expect("a plain path");
    let run = ["run", "two.yaml", "--backend", backend, "--agent-path", program, "--json"];
    let told = Said::from(person.command(&run).output().expect("it starts")).exits(0).json();
    assert_eq!((told["machine"]["reason"].as_str(), asked(&person)), (Some("all-done"), 2));
}
