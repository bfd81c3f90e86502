//! Another run in the same directory is told, and never stands in the way.

use crate::support::{Person, kill_hard, until};

const HOLD: &str = "name: hold\nsteps:\n  - {id: hold, command: 'touch began; sleep 60'}\n";
const QUICK: &str = "name: quick\nsteps:\n  - {id: quick, command: 'test -e ok'}\n";
const TOLD: &str = "of hold, started just now, goes on in this directory too";

#[test]
fn a_run_that_goes_on_in_this_directory_is_named_and_nothing_is_refused() {
    let person = Person::new().file("hold.yaml", HOLD).file("quick.yaml", QUICK);
    let alone = person.towpath(&["run", "quick.yaml"]).exits(1);
    assert!(!alone.stderr.contains("warning"), "{}", alone.stderr);
    let quick = person.run();
    let mut runner = person.start(&["run", "hold.yaml"]);
    until("it holds", || person.path("work/began").exists());
    let hold = person.run();
    person.write("ok", "");
    let said = person.towpath(&["run", "quick.yaml"]).exits(0);
    said.says(&format!("warning: run {hold} {TOLD}"));
    person.towpath(&["resume", quick.as_str()]).exits(0).says(TOLD);
    let quiet = person.towpath(&["run", "quick.yaml", "-q"]).exits(0);
    assert_eq!(quiet.stderr, "");
    std::fs::create_dir(person.path("work/sub")).unwrap();
    person.write("sub/ok", "");
    let elsewhere = person.towpath(&["run", "./quick.yaml", "-C", "sub"]).exits(0);
    assert!(!elsewhere.stderr.contains("warning"), "{}", elsewhere.stderr);
    kill_hard(&mut runner);
    until("its owner is gone", || {
        !person.towpath(&["run", "quick.yaml"]).exits(0).stderr.contains(TOLD)
    });
}

#[test]
fn a_run_inside_a_run_is_no_stranger() {
    let outer = format!(
        "name: hold\nsteps:\n  - {{id: inner, command: '{} run quick.yaml'}}\n",
        env!("CARGO_BIN_EXE_towpath")
    );
    let person = Person::new().file("outer.yaml", &outer).file("quick.yaml", QUICK).file("ok", "");
    let said = person.towpath(&["run", "outer.yaml"]).exits(0).says("done quick");
    assert!(!said.stderr.contains("warning"), "{}", said.stderr);
}
