//! Another run in the same directory is reported, and never is in the way.

use crate::support::{User, kill_hard, until};

const SLOW: &str = "name: slow\nsteps:\n  - {id: slow, command: 'touch began; sleep 60'}\n";
const QUICK: &str = "name: quick\nsteps:\n  - {id: quick, command: 'test -e ok'}\n";
const WARNING: &str = "of slow, started just now, is active in this directory too";

#[test]
fn another_run_in_the_same_directory_is_a_warning_and_nothing_is_refused() {
    let user = User::new().file("slow.yaml", SLOW).file("quick.yaml", QUICK);
    let alone = user.towpath(&["run", "quick.yaml"]).exits(1);
    assert!(!alone.stderr.contains("warning"), "{}", alone.stderr);
    let quick = user.run();
    let mut runner = user.start(&["run", "slow.yaml"]);
    until("its step runs", || user.path("work/began").exists());
    let slow = user.run();
    user.write("ok", "");
    let printed = user.towpath(&["run", "quick.yaml"]).exits(0);
    printed.reports(&format!("warning: run {slow} {WARNING}"));
    user.towpath(&["resume", quick.as_str()]).exits(0).reports(WARNING);
    let quiet = user.towpath(&["run", "quick.yaml", "-q"]).exits(0);
    assert_eq!(quiet.stderr, "");
    std::fs::create_dir(user.path("work/sub")).unwrap();
    user.write("sub/ok", "");
    let elsewhere = user.towpath(&["run", "./quick.yaml", "-C", "sub"]).exits(0);
    assert!(!elsewhere.stderr.contains("warning"), "{}", elsewhere.stderr);
    kill_hard(&mut runner);
    until("its owner is gone", || {
        !user.towpath(&["run", "quick.yaml"]).exits(0).stderr.contains(WARNING)
    });
}

#[test]
fn a_run_inside_of_a_run_is_no_warning() {
    let outer = format!(
        "name: outer\nsteps:\n  - {{id: inner, command: '{} run quick.yaml'}}\n",
        env!("CARGO_BIN_EXE_towpath")
    );
    let user = User::new().file("outer.yaml", &outer).file("quick.yaml", QUICK).file("ok", "");
    let printed = user.towpath(&["run", "outer.yaml"]).exits(0).reports("done quick");
    assert!(!printed.stderr.contains("warning"), "{}", printed.stderr);
}
