//! Ending: a step is over when it must be, whether it listens or not.

use crate::support::{Signal, User, lives, signal, until};

#[test]
fn ctrl_c_ends_a_step_that_has_a_timeout() {
    let recipe =
        "name: r\nsteps:\n  - {id: a, timeout: 600, command: 'echo $$ > pid; sleep 600'}\n";
    let user = User::new().file("r.yaml", recipe);
    let mut child = user.start(&["as", "recipe-runner-rs", "r.yaml"]);
    until("the step runs", || user.read("pid").ends_with('\n'));
    signal(&child, Signal::INT);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(!lives(&user.read("pid")));
}

#[test]
fn a_step_that_does_not_listen_is_killed_after_its_timeout() {
    let recipe = "name: r\nsteps:\n  - id: deaf\n    timeout: 0.2\n    command: |\n      trap '' TERM\n      echo $$ > pid\n      while :; do sleep 0.1; done\n";
    let user = User::new().file("r.yaml", recipe);
    user.towpath(&["run", "r.yaml"]).exits(1).reports("timed out after 0.2 s");
    assert!(!lives(&user.read("pid")));
}
