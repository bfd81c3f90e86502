//! Ending: a step is over when it must be, whether it listens or not.

use crate::support::{Person, lives, signal, until};

#[test]
fn ctrl_c_ends_a_step_that_has_a_timeout() {
    let recipe =
        "name: r\nsteps:\n  - {id: a, timeout: 600, command: 'echo $$ > pid; sleep 600'}\n";
    let person = Person::new().file("r.yaml", recipe);
    let mut child = person.start(&["as", "recipe-runner-rs", "r.yaml"]);
    until("the step runs", || person.read("pid").ends_with('\n'));
    signal(&child, "-INT");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(!lives(&person.read("pid")));
}

#[test]
fn a_step_that_does_not_listen_is_killed_after_its_timeout() {
    let recipe = "name: r\nsteps:\n  - id: deaf\n    timeout: 0.2\n    command: |\n      trap '' TERM\n      echo $$ > pid\n      while :; do sleep 0.1; done\n";
    let person = Person::new().file("r.yaml", recipe);
    person.towpath(&["run", "r.yaml"]).exits(1).says("timed out after 0.2 s");
    assert!(!lives(&person.read("pid")));
}
