//! A state directory that cannot be used: not writable, damaged, full. It is private.
#![allow(clippy::print_stderr, reason = "a skipped test reports itself")]

use crate::bad_input::with;
use crate::support::{Printed, User};
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn a_state_directory_that_cannot_be_written_is_exit_5() {
    let user = with("name: x\nsteps:\n  - id: a\n    command: touch ran\n");
    user.write("blocker", "");
    let mut command = user.command(&["run", "r.yaml"]);
    command.env("TOWPATH_HOME", user.path("work/blocker/home"));
    Printed::from(command.output().expect("towpath starts")).exits(5).reports("blocker");
    assert_eq!(user.read("ran"), "");
    assert!(!user.path("work/ran").exists(), "nothing ran");
}

#[test]
fn a_damaged_or_newer_database_is_exit_5_and_stays_untouched() {
    let user = with("name: x\nsteps:\n  - id: a\n    command: echo ok\n");
    user.towpath(&["run", "r.yaml"]).exits(0);
    let database = std::fs::read_dir(user.path("home/state"))
        .expect("there is a state directory")
        .filter_map(|e| e.ok().map(|e| e.path()))
        .find(|p| p.extension().is_some_and(|e| e == "db" || e == "sqlite"))
        .expect("there is a database");
    for suffix in ["-wal", "-shm"] {
        let beside = format!("{}{suffix}", database.display());
        let _ = std::fs::remove_file(beside);
    }
    let damaged = vec![7_u8; 8192];
    std::fs::write(&database, &damaged).expect("the database can be written");
    for arguments in [&["run", "r.yaml"][..], &["runs"], &["resume", "--last"]] {
        user.towpath(arguments).exits(5).reports("damaged");
    }
    assert_eq!(std::fs::read(&database).expect("it is still there"), damaged);
}

#[test]
fn a_full_disk_stops_the_run_and_keeps_what_was_recorded() {
    let user = User::new();
    let full = user.path("full");
    std::fs::create_dir(&full).expect("a directory");
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=240k", "none"])
        .arg(&full)
        .output();
    if !mounted.is_ok_and(|o| o.status.success()) {
        // Without the right to mount, the store's own tests of a failing write remain.
        eprintln!("SKIPPED: a small disk cannot be mounted here");
        return;
    }
    let mut recipe = "name: x\nsteps:\n".to_owned();
    for n in 0..60 {
        let _ = writeln!(
            recipe,
            "  - id: s{n}\n    command: echo s{n} >> effects; head -c 5000 /dev/zero | tr '\\0' x"
        );
    }
    user.write("fill.yaml", &recipe);
    let mut command = user.command(&["run", "fill.yaml", "-q"]);
    command.env("TOWPATH_HOME", &full);
    let printed = Printed::from(command.output().expect("towpath starts"));
    let remounted = std::process::Command::new("mount")
        .args(["-o", "remount,size=20m"])
        .arg(&full)
        .status()
        .expect("mount starts");
    let before = user.read("effects").lines().count();
    let mut command = user.command(&["resume", "--last", "-q"]);
    command.env("TOWPATH_HOME", &full);
    let resumed = Printed::from(command.output().expect("towpath starts"));
    std::process::Command::new("umount").arg("-l").arg(&full).status().expect("umount starts");
    assert!(remounted.success());
    let printed = printed.exits(5);
    assert!(printed.stderr.contains("space"), "{}", printed.stderr);
    assert!(before > 0 && before < 60, "it stopped on the way: {before}");
    resumed.exits(0);
    let effects = user.read("effects");
    assert!(effects.lines().count() <= 61, "at most the interrupted step ran twice");
    for n in 0..60 {
        assert!(effects.lines().any(|l| l == format!("s{n}")), "s{n} is missing");
    }
}

#[test]
fn state_is_private() {
    let user = with("name: x\nsteps:\n  - id: a\n    command: head -c 100000 /dev/zero\n");
    user.towpath(&["run", "r.yaml", "-q"]).exits(0);
    let mut pending = vec![user.path("home/state")];
    let mut files = 0;
    while let Some(path) = pending.pop() {
        let mode = path.metadata().expect("an entry").permissions().mode() & 0o777;
        if path.is_dir() {
            assert_eq!(mode, 0o700, "{}", path.display());
            let entries = std::fs::read_dir(&path).expect("a directory");
            pending.extend(entries.map(|e| e.expect("an entry").path()));
        } else {
            files += 1;
            assert_eq!(mode, 0o600, "{}", path.display());
        }
    }
    assert!(files >= 2, "there is a database and an output");
}

#[test]
fn a_home_that_is_not_absolute_is_named_as_that() {
    let user = User::new();
    let mut command = user.command(&["runs"]);
    command.env_remove("TOWPATH_HOME").env("HOME", "relative");
    let printed = Printed::from(command.output().expect("towpath starts"));
    printed.exits(5).reports("HOME is not an absolute path: set it");
}

#[test]
fn without_git_the_demo_asks_to_install_it() {
    let user = User::new();
    let mut command = user.command(&["run", "demo"]);
    command.env("PATH", user.path("work"));
    let printed = Printed::from(command.output().expect("towpath starts"));
    printed.exits(5).reports("git is not installed, or not on PATH: install it");
}
