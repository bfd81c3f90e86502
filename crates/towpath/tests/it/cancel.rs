//! `towpath cancel`, of a run with a living owner and of one whose owner was killed.

use crate::read_only_commands::{WAITING, shows};
use crate::support::{User, kill_hard, until};

#[test]
fn a_run_is_cancelled_from_another_terminal() {
    let user = User::new().file("waiting.yaml", WAITING);
    let mut runner = user.start(&["run", "waiting.yaml"]);
    until("the step runs", || user.has_journal() && user.runs() == 1);
    let run = user.run().to_string();
    until("its first word", || user.towpath(&["logs", &run]).stdout == "before\n");
    shows(user.towpath(&["cancel", &run]), &format!("run {run} is cancelled\n"));
    assert_eq!(runner.wait().expect("the runner ends").code(), Some(143));
    shows(
        user.towpath(&["show", &run]),
        &format!(
            "waiting · cancelled · just now · work
  ! wait  stopped      0.0 s
  · pay   not reached

  nothing is lost: towpath resume {run}
"
        ),
    );
    let again = format!("run {run} has already ended: cancelled\n");
    shows(user.towpath(&["cancel", &run]), &again);
}

#[test]
fn a_killed_run_is_interrupted_asks_about_what_may_run_once_and_can_be_cancelled() {
    let user = User::new().file("waiting.yaml", WAITING).file("go", "");
    let mut runner = user.start(&["run", "waiting.yaml"]);
    until("the payment", || !user.read("paid").is_empty());
    kill_hard(&mut runner);
    let run = user.run().to_string();
    shows(
        user.towpath(&["show", &run]),
        &format!(
            "waiting · interrupted · just now · work
  ✓ wait  done         0.0 s  echo before; until [ -e go ]; do sleep 0.02; done; echo after
  ! pay   interrupted

  pay was interrupted, and may run only once: did it do its work?
    yes: towpath resume {run} --done pay
    no:  towpath resume {run} --again pay
"
        ),
    );
    let json = user.towpath(&["show", &run, "--json"]).exits(0).json();
    assert_eq!(json["steps"][1]["status"], "interrupted");
    assert_eq!(json["asking"], serde_json::json!(["pay"]));
    shows(user.towpath(&["cancel", &run]), &format!("run {run} is cancelled\n"));
    assert_eq!(user.towpath(&["runs", "--json"]).json()["runs"][0]["status"], "cancelled");
    user.towpath(&["resume", &run, "--done", "pay"]).exits(0);
}
