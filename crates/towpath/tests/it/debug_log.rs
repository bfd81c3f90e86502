//! `TOWPATH_LOG`: the log for finding faults, one line per decision.

use crate::support::{Printed, User};

const TWO_STEPS: &str =
    "name: two\nsteps:\n  - id: one\n    command: echo first\n  - id: two\n    command: exit 3\n";

fn logged(user: &User, variables: &[(&str, &str)]) -> Printed {
    let mut command = user.command(&["run", "two.yaml"]);
    command.envs(variables.iter().copied());
    Printed::from(command.output().expect("towpath starts"))
}

#[test]
fn it_is_silent_unless_asked_for() {
    let user = User::new().file("two.yaml", TWO_STEPS);
    let printed = logged(&user, &[]).exits(1);
    assert!(!printed.stderr.contains("DEBUG"), "{}", printed.stderr);
}

#[test]
fn every_decision_is_a_line_on_stderr() {
    let user = User::new().file("two.yaml", TWO_STEPS);
    let printed = logged(&user, &[("TOWPATH_LOG", "debug")]).exits(1);
    let lines: Vec<&str> = printed.stderr.lines().filter(|line| line.contains(" DEBUG ")).collect();
    let decisions = [
        "resolved the recipe",
        "created the run",
        "kind=\"job-started\" key=one#1.0.0:bash",
        "kind=\"job-finished\" key=one#1.0.0:bash",
        "kind=\"job-started\" key=two#1.0.0:bash",
        "kind=\"ended\"",
        "committed",
    ];
    for decision in decisions {
        assert!(lines.iter().any(|line| line.contains(decision)), "{decision}: {lines:#?}");
    }
}

#[test]
fn it_goes_to_a_file_for_some_crates_and_without_secrets() {
    let user = User::new().file("two.yaml", TWO_STEPS);
    let variables =
        [("TOWPATH_LOG", "towpath_executor=debug"), ("TOWPATH_LOG_FILE", "log"), ("TOKEN", "bash")];
    let mut command = user.command(&["run", "two.yaml", "--secret", "TOKEN"]);
    let printed = Printed::from(command.envs(variables).output().expect("towpath starts")).exits(1);
    assert!(!printed.stderr.contains("DEBUG"), "{}", printed.stderr);
    let log = user.read("log");
    assert!(log.contains("towpath_executor::local: start job="), "{log}");
    assert!(!log.contains("towpath_engine") && !log.contains("bash"), "{log}");
}

#[test]
fn a_bad_request_is_reported_and_changes_nothing() {
    let user = User::new().file("two.yaml", TWO_STEPS);
    let wrong = [("TOWPATH_LOG", "towpath=loud")];
    logged(&user, &wrong).exits(1).reports("TOWPATH_LOG=towpath=loud: write a level");
    let nowhere = [("TOWPATH_LOG", "debug"), ("TOWPATH_LOG_FILE", "no/such/file")];
    logged(&user, &nowhere).exits(1).reports("TOWPATH_LOG_FILE=no/such/file: No such file");
}
