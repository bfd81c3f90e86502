//! Scarcity: open files and processes that run out, a state directory that is removed, a clock that is
//! set. The run reports it, or does not notice at all.

use crate::support::{Printed, User};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

/// A group of 150 steps, each of which prints how many files it may have open, then does this.
fn many(then: &str) -> User {
    let step = |n| format!("  - {{id: s{n}, parallel_group: g, command: bash step.sh {n}}}\n");
    let steps: String = (1..=150).map(step).collect();
    let user = User::new().file("many.yaml", &format!("name: many\nsteps:\n{steps}"));
    user.file("step.sh", &format!("ulimit -Sn | tee /dev/stderr\n{then}\n"))
}

/// Runs `towpath ARGUMENTS` from bash, after this.
fn after(user: &User, before: &str, arguments: &str) -> Printed {
    let command = user.command(&[]);
    let mut bash = Command::new("bash");
    bash.args(["-c", &format!("{before}; exec \"$0\" {arguments}"), env!("CARGO_BIN_EXE_towpath")]);
    bash.current_dir(user.path("work"));
    bash.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Printed::from(bash.output().expect("bash starts"))
}

/// The last step waits for all others, so that all run at once.
#[test]
fn more_steps_at_once_than_files_may_be_open() {
    let user = many(
        "mkdir -p there; touch there/$1\n\
         if [ $1 = 150 ]; then until [ $(ls there | wc -l) = 150 ]; do sleep 0.1; done; touch go; fi\n\
         until [ -e go ]; do sleep 0.2; done",
    );
    let printed = after(&user, "ulimit -Sn 100", "run many.yaml --quiet").exits(0);
    printed.prints(&"100\n".repeat(150));
}

#[test]
fn steps_wait_where_no_more_files_may_be_open() {
    let printed = after(&many(""), "ulimit -n 60", "run many.yaml --quiet").exits(0);
    printed.prints(&"60\n".repeat(150));
}

/// A command that may have so many processes and threads, as a user that has no other.
fn with_processes(user: &User, count: usize) -> Command {
    let mut command = Command::new("unshare");
    if rustix::process::geteuid().is_root() {
        // Root has no such limit; but the files are root's.
        let kept = "+dac_override";
        command = Command::new("setpriv");
        command.args([
            "--reuid=54321",
            "--clear-groups",
            "--bounding-set=-sys_resource,-sys_admin",
        ]);
        command.args([format!("--inh-caps={kept}"), format!("--ambient-caps={kept}")]);
    } else {
        command.arg("--map-root-user");
    }
    let towpath = user.command(&[]);
    command.args(["prlimit".to_owned(), format!("--nproc={count}:{count}")]);
    command.args([env!("CARGO_BIN_EXE_towpath"), "run", "one.yaml"]);
    command.current_dir(user.path("work"));
    command.envs(towpath.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

#[test]
fn too_few_processes_are_an_error_and_a_step_that_cannot_start_fails() {
    let user = User::new().file("one.yaml", "name: one\nsteps:\n  - {id: a, command: echo hi}\n");
    let everyone = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(user.path("work"), everyone).expect("a mode");
    let mut codes = Vec::new();
    for count in 1..30 {
        let printed = Printed::from(with_processes(&user, count).output().expect("it starts"));
        let code = printed.code.expect("it ends by itself");
        assert!(!printed.stderr.contains("panicked"), "{count}: {}", printed.stderr);
        match code {
            5 => {
                assert!(printed.stderr.contains("Resource temporarily unavailable"), "{printed:?}");
            }
            1 => assert!(printed.stderr.contains("cannot make a process for"), "{printed:?}"),
            _ => assert_eq!((code, printed.stdout.as_str()), (0, "hi\n"), "{printed:?}"),
        }
        codes.push(code);
        if code == 0 {
            break;
        }
    }
    codes.dedup();
    assert_eq!(codes, [5, 1, 0], "the more there are, the further it comes");
}

#[test]
fn a_state_directory_that_is_removed_ends_the_run() {
    for removed in [
        "rm -r $TOWPATH_HOME/state",
        "mv $TOWPATH_HOME/state $TOWPATH_HOME/other; echo printed",
        "rm -r $TOWPATH_HOME/state/runs",
        "rm $TOWPATH_HOME/state/journal.db",
        "cd $TOWPATH_HOME/state; cp journal.db other; mv other journal.db",
    ] {
        for after in ["", "  - {id: next, command: touch next}\n"] {
            let recipe =
                format!("name: gone\nsteps:\n  - id: a\n    command: |\n      {removed}\n{after}");
            let user = User::new().file("gone.yaml", &recipe);
            let printed = user.towpath(&["run", "gone.yaml"]).exits(5);
            assert!(!printed.stderr.contains("lost"), "{removed}: {}", printed.stderr);
            printed.reports("was removed or replaced during the run");
            assert!(!user.path("work/next").exists(), "{removed}: nothing more runs");
        }
    }
}

/// A library that sets the wall clock of whoever uses it 20 years ahead when `jump` is there.
fn jumping_clock(user: &User) -> PathBuf {
    user.write("clock.c", include_str!("clock.c"));
    let (source, library) = (user.path("work/clock.c"), user.path("clock.so"));
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).arg("-ldl");
    assert!(cc.status().expect("a C compiler").success());
    library
}

#[test]
fn a_clock_that_is_set_during_a_run_changes_no_duration() {
    let recipe = "name: jump\nsteps:\n  - {id: before, command: echo 1}\n  \
                  - {id: jump, command: touch jump; date +%Y > year}\n  - {id: after, command: echo 2}\n";
    let user = User::new().file("jump.yaml", recipe);
    let library = jumping_clock(&user);
    let year = this_year();
    let mut command = user.command(&["run", "jump.yaml", "--json"]);
    let jump = user.path("work/jump");
    command.env("LD_PRELOAD", &library).env("JUMP", &jump);
    let printed = Printed::from(command.output().expect("towpath starts")).exits(0);
    let there: i64 = user.read("year").trim().parse().expect("a year");
    assert!(there >= year + 19, "the clock was set: {there}");
    let shown = user.towpath(&["show", user.run().as_str(), "--json"]).exits(0);
    for report in [printed.json(), shown.json()] {
        let took = durations(&report);
        assert!(took.len() >= 3, "{report:#}");
        assert!(took.iter().all(|seconds| (0.0..3600.0).contains(seconds)), "{took:?}");
    }
}

fn this_year() -> i64 {
    let seconds = std::time::UNIX_EPOCH.elapsed().expect("a clock").as_secs();
    1970 + (seconds / 31_557_600) as i64
}

/// Every `duration_seconds` of a report.
fn durations(report: &serde_json::Value) -> Vec<f64> {
    match report {
        serde_json::Value::Object(map) => map
            .iter()
            .flat_map(|(name, value)| match value.as_f64() {
                Some(number) if name.contains("duration") => vec![number],
                _ => durations(value),
            })
            .collect(),
        serde_json::Value::Array(list) => list.iter().flat_map(durations).collect(),
        _ => Vec::new(),
    }
}
