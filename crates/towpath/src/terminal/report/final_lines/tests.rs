//! The lines that a user sees, word for word.

use super::*;
use crate::terminal::report::reporter_test_support::*;
use towpath_core::{FaultKind, Usage};
use towpath_run::{Fault, JobEnd, JobStatus, Output};

const SHIP: &str = r#"
name: ship-release
steps:
  - { id: ci, command: "true" }
  - { id: lint, command: "true", continue_on_error: true }
  - { id: review, type: agent, prompt: "look" }
  - { id: deploy-prod, command: "true", condition: "false" }
  - { id: deploy, command: "true" }
  - { id: notify, command: "true" }
"#;

fn shown(end: &RunEnd, limit: Option<usize>) -> String {
    text(end, &[], false, false, limit, 0)
}

fn exit(code: i32) -> JobEnd {
    JobEnd { output: Output::Text(String::new()), ..JobEnd::new(JobStatus::Exited(code)) }
}

fn ship(ends: &mut dyn FnMut(&str) -> JobEnd) -> RunEnd {
    let run = driven(&[("ship", SHIP)], &mut |key| ends(&key.step));
    ended(run, None)
}

fn paid(usd: Option<f64>) -> JobEnd {
    let usage = usd.map(|usd| Usage { cost_usd: Some(usd), ..Usage::default() });
    JobEnd { usage, ..exit(0) }
}

#[test]
fn a_failure_shows_where_why_and_what_to_do() {
    let end = ship(&mut |step| match step {
        "review" => paid(Some(0.42)),
        "deploy" => {
            let error = "starting\n\n\u{1b}[31mscripts/smoke.sh: connection refused".into();
            JobEnd { error, ..exit(1) }
        }
        _ => exit(0),
    });
    assert_eq!(
        shown(&end, Some(120)),
        "\
✗ ship-release failed in 2 m 3 s at step deploy (exit 1)

  deploy  starting
          \u{fffd}[31mscripts/smoke.sh: connection refused
          full output: towpath logs 7f3k deploy

  4 of 6 steps ran · 1 skipped (deploy-prod: condition false) · 1 not reached · $0.42
  nothing is lost: towpath resume 7f3k
"
    );
}

#[test]
fn a_failure_in_50_columns() {
    let end = ship(&mut |step| match step {
        "deploy" => {
            let error = "scripts/smoke.sh: connection refused by staging.example.com".into();
            JobEnd { error, ..exit(1) }
        }
        _ => exit(0),
    });
    assert_eq!(
        shown(&end, Some(50)),
        "\
✗ ship-release failed in 2 m 3 s
  at step deploy (exit 1)

  deploy
    scripts/smoke.sh: connection refused by
    staging.example.com
    full output: towpath logs 7f3k deploy

  4 of 6 steps ran
  1 skipped (deploy-prod: condition false)
  1 not reached · cost unknown
  nothing is lost: towpath resume 7f3k
"
    );
}

#[test]
fn a_success_names_what_was_skipped_tolerated_and_warned_of() {
    let mut end = ship(&mut |step| match step {
        "lint" => exit(2),
        "review" => paid(Some(0.58)),
        _ => exit(0),
    });
    end.warnings.push("lint: odd".into());
    end.unused_lines = vec![4, 5];
    assert_eq!(
        shown(&end, None),
        "warning: lines 4, 5 of the script were not used\n\
         ✓ ship-release done in 2 m 3 s · 5 of 6 steps ran · \
         1 skipped (deploy-prod: condition false) · 1 failed, tolerated (lint: exit 2) · \
         1 warning · $0.58\n"
    );
}

#[test]
fn a_program_that_complains_on_stdout_is_heard() {
    let output = Output::Text("1 test failed".into());
    let end = ship(&mut |step| match step {
        "ci" => JobEnd { output: output.clone(), ..exit(1) },
        _ => exit(0),
    });
    assert!(shown(&end, None).contains("\n  ci  1 test failed\n"));
    let end = ship(&mut |step| exit(i32::from(step == "ci")));
    assert!(shown(&end, None).contains("\n  ci  it printed nothing\n"));
}

#[test]
fn a_rate_limit_shows_until_when() {
    let until_ms = Some(1_800_000_000_000);
    let fault = Fault { kind: FaultKind::Limit, until_ms };
    let error = "You have hit your limit".to_owned();
    let limit = JobEnd { error, ..JobEnd::new(JobStatus::Faulted(fault)) };
    let end = ship(&mut |step| if step == "review" { limit.clone() } else { exit(0) });
    let until = local_time(1_800_000_000_000, 0);
    let expected = format!(
        "? ship-release paused after 2 m 3 s for a limit of the agent, until {until}\n\n  \
         review  You have hit your limit\n\n  \
         2 of 6 steps ran · 1 unfinished (review) · 3 not reached · cost unknown\n  \
         nothing is lost; to wait here and continue: towpath resume 7f3k --wait\n  \
         or from a timer, every few minutes: towpath resume --due\n"
    );
    assert_eq!(shown(&end, None), expected);
}

#[test]
fn a_stopped_run_names_what_was_interrupted() {
    let stop = StopReason::Signal(2);
    let run = driven(&[("ship", SHIP)], &mut |key| match key.step.as_str() {
        "review" => JobEnd::new(JobStatus::Stopped),
        _ => exit(0),
    });
    assert_eq!(
        shown(&ended(run, Some(stop)), None),
        "! ship-release stopped by Ctrl-C after 2 m 3 s at review\n\n  \
         2 of 6 steps ran · 1 stopped (review) · 3 not reached · cost unknown\n  \
         nothing is lost: towpath resume 7f3k\n"
    );
}

#[test]
fn a_step_that_may_run_once_is_asked_about() {
    let once = "name: pay\nsteps:\n  - { id: charge, command: \"true\", effect: once }\n";
    let mut run = driven(&[("pay", once)], &mut |_| JobEnd::new(JobStatus::TimedOut));
    run.apply(&towpath_run::Fact::Resumed, 9).unwrap();
    assert_eq!(
        shown(&ended(run, None), None),
        "\
? pay needs your decision after 2 m 3 s about charge

  charge  was interrupted, and may run only once: did it do its work?
          yes: towpath resume 7f3k --done charge
          no:  towpath resume 7f3k --again charge

  0 of 1 step done, 0 ran now · 1 unfinished (charge)
"
    );
}

#[test]
fn failures_and_skips_in_called_recipes_keep_their_paths() {
    let root = "name: all\nsteps:\n  - { id: call, type: recipe, recipe: inner }\n  \
                - { id: last, command: \"true\" }\n";
    let inner = "name: inner\nsteps:\n  \
                 - { id: gate, command: \"true\", condition: \"false\" }\n  \
                 - { id: a, command: \"true\", parallel_group: g }\n  \
                 - { id: b, command: \"true\", parallel_group: g }\n";
    let run = driven(&[("root", root), ("inner", inner)], &mut |key| match key.step.as_str() {
        "a" => exit(3),
        _ => exit(4),
    });
    assert_eq!(
        shown(&ended(run, None), None),
        "\
✗ all failed in 2 m 3 s at step call/a (exit 3)

  call/a  it printed nothing
          full output: towpath logs 7f3k call/a
  call/b  also failed: exit 4

  1 of 2 steps ran · 1 skipped in called recipes (call/gate: condition false) · 1 not reached
  nothing is lost: towpath resume 7f3k
"
    );
}
