//! Nothing escapes: whatever a job does to get away, it is gone after its run has ended or its
//! runner was killed. The time that took is printed; it is a figure for the benchmarks, not a test.
#![allow(clippy::print_stdout, reason = "the times are meant to be read")]

mod support;

use support::{Person, kill_hard, lives, signal, until};

/// Ways to get away. Each notes the pid of what must not survive.
const TRICKS: &[(&str, &str)] = &[
    ("setsid", "setsid bash -c 'echo $$ > pid; sleep 600' &"),
    ("double fork", "( ( bash -c 'echo $$ > pid; exec sleep 600' & ) & )"),
    (
        "setsid twice, detached",
        "( setsid bash -c '( setsid bash -c \"echo \\$\\$ > pid; sleep 600\" & )' & )",
    ),
    (
        "ignores TERM",
        "bash -c 'trap \"\" TERM INT HUP; echo $$ > pid; while :; do sleep 1; done' &",
    ),
    ("holds the pipe", "sleep 600 & echo $! > pid"),
    ("empty environment", "env -i /bin/bash -c 'echo $$ > pid; sleep 600' &"),
    (
        "forks in a loop",
        "bash -c 'echo $$ > pid; for i in $(seq 150); do (sleep 600 &) ; done; sleep 600' &",
    ),
];

fn recipe(trick: &str) -> String {
    format!(
        "name: escape\nsteps:\n  - id: away\n    command: |\n      {trick}\n      until [ -s pid ]; do sleep 0.01; done\n      touch ready\n      [ -e end ] || sleep 600\n"
    )
}

fn begin(trick: &str) -> (Person, std::process::Child) {
    let person = Person::new().file("escape.yaml", &recipe(trick));
    let runner = person.start(&["run", "escape.yaml"]);
    until("the child is away", || person.path("work/ready").exists());
    (person, runner)
}

fn gone(person: &Person, name: &str, how: &str) {
    let run = person.run();
    let took = until(name, || {
        !lives(&person.read("pid")) && towpath_process::marked(run.as_str()).is_empty()
    });
    println!("{how}, {name}: nothing alive after {} ms", took.as_millis());
}

#[test]
fn after_kill_9_of_the_runner() {
    for (name, trick) in TRICKS {
        let (person, mut runner) = begin(trick);
        assert!(lives(&person.read("pid")), "{name}: the trick works");
        kill_hard(&mut runner);
        gone(&person, name, "kill -9");
    }
}

#[test]
fn after_a_signal() {
    for (name, trick) in TRICKS {
        let (person, mut runner) = begin(trick);
        signal(&runner, "-TERM");
        assert_eq!(runner.wait().expect("the runner ends").code(), Some(143), "{name}");
        gone(&person, name, "TERM");
    }
}

#[test]
fn after_the_end_of_the_run() {
    for (name, trick) in TRICKS {
        let person = Person::new().file("escape.yaml", &recipe(trick)).file("end", "");
        let said = person.towpath(&["run", "escape.yaml"]).exits(0);
        assert!(!lives(&person.read("pid")), "{name}");
        assert!(said.stderr.contains("ended"), "{name}: what was ended is told: {}", said.stderr);
        gone(&person, name, "end of the run");
    }
}

#[test]
fn after_a_timeout() {
    for (name, trick) in TRICKS {
        let recipe = recipe(trick).replace("    command:", "    timeout: 1\n    command:");
        let person = Person::new().file("escape.yaml", &recipe);
        person.towpath(&["run", "escape.yaml"]).exits(1).says("timed out after 1 s");
        gone(&person, name, "timeout");
    }
}

#[test]
fn after_kill_9_of_the_warden_and_of_both() {
    for both in [false, true] {
        let (person, mut runner) = begin(TRICKS[0].1);
        let run = person.run();
        let warden = warden_of(runner.id());
        std::process::Command::new("kill").args(["-9", &warden]).status().expect("kill starts");
        if both {
            kill_hard(&mut runner);
            person.write("end", "");
            person.towpath(&["resume", run.as_str()]).exits(0);
        } else {
            let code = runner.wait().expect("the runner ends").code();
            assert_eq!(code, Some(5), "the runner says that its warden is gone");
        }
        gone(&person, "setsid", "kill -9 of the warden");
    }
}

/// The one child of the runner.
fn warden_of(runner: u32) -> String {
    let path = format!("/proc/{runner}/task/{runner}/children");
    let children = std::fs::read_to_string(path).expect("the kernel tells the children");
    children.split_whitespace().next().expect("the runner has a warden").to_owned()
}
