//! What a command may use is limited, and reaching a limit ends it and nothing else.

use super::*;
use crate::support::{Guard, alive, run_id};

pub fn time(kind: Kind) {
    let mut session = open(kind);
    let mut command = bash("trap '' TERM; while :; do sleep 1000; done");
    command.time_limit = Duration::from_millis(300);
    assert_eq!(run(&mut session, &command).status, EndStatus::TimedOut);
    assert_eq!(run(&mut session, &bash("exit 4")).status, EndStatus::Exited(4));
}

pub fn output(kind: Kind) {
    let mut session = open(kind);
    let mut command = bash("yes");
    command.output_limit = 100_000;
    let end = run(&mut session, &command);
    assert_eq!((end.status, end.stdout.len()), (EndStatus::OutputLimit, 100_000));
    command = bash("head -c 99999 /dev/zero; echo >&2");
    command.output_limit = 100_000;
    let end = run(&mut session, &command);
    assert_eq!(end.status, EndStatus::Exited(0), "what fits is no flood");
    assert_eq!((end.stdout.len(), end.stderr.len()), (99_999, 1));
}

pub fn memory(kind: Kind) {
    let mut session = open(kind);
    // Two processes that have not too much alone.
    let eat = "head -c 180000000 /dev/zero | tail -c 180000000 | (sleep 1000; cat) >/dev/null";
    let end = run(&mut session, &bash(&format!("({eat}) & {eat}")));
    assert_eq!(end.status, EndStatus::MemoryLimit);
    assert_eq!(run(&mut session, &bash("exit 4")).status, EndStatus::Exited(4));
}

/// Memory that no file is made for and that is no process's own.
pub fn shared_memory(kind: Kind) {
    let mut session = open_with(kind, &with_own_program(policy()));
    let end = run(&mut session, &role("map", &["400000000"]));
    assert_eq!(end.status, EndStatus::MemoryLimit);
}

/// The kernel refuses one process more.
pub fn processes_exactly(kind: Kind) {
    let mut session = open_with(kind, &with_own_program(policy()));
    let (status, stdout, _) = texts(run(&mut session, &role("fork", &["1000", "stay"])));
    assert_eq!(status, EndStatus::Exited(0));
    // The command itself is one of the 64.
    assert!(stdout.starts_with("63 Resource temporarily unavailable"), "{stdout}");
    let (_, again, _) = texts(run(&mut session, &role("fork", &["1000", "stay"])));
    assert_eq!(stdout, again, "those of the last command are not counted");
}

/// The kernel counts these with all others of the same user: too many are seen, and ended.
pub fn processes_watched(kind: Kind) {
    let mut session = open_with(kind, &with_own_program(policy()));
    let end = run(&mut session, &role("fork", &["200", "stay"]));
    assert_eq!(end.status, EndStatus::ProcessLimit);
    let (status, stdout, _) = texts(run(&mut session, &role("fork", &["20", "leave"])));
    assert_eq!((status, stdout.as_str()), (EndStatus::Exited(0), "20 all\n"));
}

pub fn a_fork_bomb_ends(kind: Kind) {
    let token = run_id();
    let _guard = Guard(token.clone());
    for policy in policies() {
        let mut session = open_with(kind, &policy);
        let mut command = bash(&format!("b() {{ b | b & b; }}; : {token}; b"));
        command.time_limit = Duration::from_secs(2);
        let end = run(&mut session, &command);
        assert_ne!(end.status, EndStatus::Exited(0));
        assert_eq!(alive(&token), []);
        assert_eq!(run(&mut session, &bash("exit 4")).status, EndStatus::Exited(4));
    }
}

pub fn scratch(kind: Kind) {
    let mut session = open(kind);
    for directory in ["$HOME", ".", "$TMPDIR", "/tmp", "/dev/shm", "/var/tmp"] {
        let script = format!(
            "head -c 40000000 /dev/zero >\"{directory}/file\" || stat -c %s \"{directory}/file\""
        );
        let (_, stdout, stderr) = texts(run(&mut session, &bash(&script)));
        let size: u64 = stdout.trim().parse().unwrap_or_else(|_| panic!("{stdout}{stderr}"));
        assert!(size <= 16 << 20 && stderr.contains("No space left"), "{size} {stderr}");
    }
    let script = "echo room >file && cat file";
    assert_eq!(texts(run(&mut session, &bash(script))).1, "room\n", "there is room again");
}

pub fn one_file(kind: Kind) {
    let limits = Limits { file_bytes: 1 << 20, ..policy().limits };
    let mut session = open_with(kind, &Policy { limits, ..policy() });
    let end = run(&mut session, &bash("exec head -c 2000000 /dev/zero >file"));
    assert_eq!(end.status, EndStatus::Signaled(libc::SIGXFSZ));
}
