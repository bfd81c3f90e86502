//! Another run in the same directory is reported, and never is in the way.

use crate::support::{User, kill_hard, until};

const HOLD: &str = "name: hold\nsteps:\n  - {id: hold, command: 'touch began; sleep 60'}\n";
const QUICK: &str = "name: quick\nsteps:\n  - {id: quick, command: 'test -e ok'}\n";
const TOLD: &str = "of hold, started just now, goes on in this directory too";

#[test]
fn a_run_that_continues_in_this_directory_is_named_and_nothing_is_refused() {
    let user = User::new().file("hold.yaml", HOLD).file("quick.yaml", QUICK);
    let alone = user.towpath(&["run", "quick.yaml"]).exits(1);
    assert!(!alone.stderr.contains("warning"), "{}", alone.stderr);
    let quick = user.run();
    let mut runner = user.start(&["run", "hold.yaml"]);
    until("it holds", || user.path("work/began").exists());
    let hold = user.run();
    user.write("ok", "");
    let printed = user.towpath(&["run", "quick.yaml"]).exits(0);
    printed.reports(&format!("warning: run {hold} {TOLD}"));
    user.towpath(&["resume", quick.as_str()]).exits(0).reports(TOLD);
    let quiet = user.towpath(&["run", "quick.yaml", "-q"]).exits(0);
    assert_eq!(quiet.stderr, "");
    std::fs::create_dir(user.path("work/sub")).unwrap();
    user.write("sub/ok", "");
    let elsewhere = user.towpath(&["run", "./quick.yaml", "-C", "sub"]).exits(0);
    assert!(!elsewhere.stderr.contains("warning"), "{}", elsewhere.stderr);
    kill_hard(&mut runner);
    until("its owner is gone", || {
        !user.towpath(&["run", "quick.yaml"]).exits(0).stderr.contains(TOLD)
    });
}

#[test]
fn a_run_inside_a_run_is_no_stranger() {
    let outer = format!(
        "name: hold\nsteps:\n  - {{id: inner, command: '{} run quick.yaml'}}\n",
        env!("CARGO_BIN_EXE_towpath")
    );
    let user = User::new().file("outer.yaml", &outer).file("quick.yaml", QUICK).file("ok", "");
    let printed = user.towpath(&["run", "outer.yaml"]).exits(0).reports("done quick");
    assert!(!printed.stderr.contains("warning"), "{}", printed.stderr);
}
