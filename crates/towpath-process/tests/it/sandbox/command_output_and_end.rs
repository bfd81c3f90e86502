//! How a command ended is what it did, and nothing that a shell or a mechanism makes of it.

use super::*;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use towpath_process::sandbox::SandboxError;

pub fn codes_and_signals(kind: Kind) {
    let mut session = open(kind);
    for (script, expected) in [
        ("exit 0", EndStatus::Exited(0)),
        ("exit 7", EndStatus::Exited(7)),
        ("exit 255", EndStatus::Exited(255)),
        ("kill -SEGV $$", EndStatus::Signaled(11)),
        ("kill -KILL $$", EndStatus::Signaled(9)),
        ("kill -TERM $$", EndStatus::Signaled(15)),
        ("exec 0<&- 1>&- 2>&-; exit 3", EndStatus::Exited(3)),
    ] {
        assert_eq!(run(&mut session, &bash(script)).status, expected, "{script}");
    }
}

pub fn what_cannot_be_executed(kind: Kind) {
    let directory = tempfile::tempdir().expect("a directory");
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
    let file = |name: &str, content: &[u8], mode| {
        let path = directory.path().join(name);
        fs::write(&path, content).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
        path
    };
    let looped = directory.path().join("loop");
    std::os::unix::fs::symlink("loop", &looped).expect("a link");
    let cases = [
        (directory.path().join("missing"), "ENOENT"),
        (file("empty", b"", 0o755), "ENOEXEC"),
        (file("newline", b"\n", 0o755), "ENOEXEC"),
        (file("text", b"echo hello\n", 0o755), "ENOEXEC"),
        (file("elf", b"\x7fELF", 0o755), "ENOEXEC"),
        (file("plain", b"#!/bin/sh\n", 0o644), "EACCES"),
        (directory.path().to_owned(), "EACCES"),
        (file("orphan", b"#!/no/such/interpreter\n", 0o755), "ENOENT"),
        (file("file", b"", 0o755).join("below"), "ENOTDIR"),
        (looped, "ELOOP"),
    ];
    let policy = Policy { readable: vec![directory.path().to_owned()], ..policy() };
    let mut session = open_with(kind, &policy);
    for (path, errno) in cases {
        let end = run(&mut session, &program(&path, &[]));
        assert_eq!(end.status, EndStatus::NotStarted(errno.to_owned()), "{}", path.display());
    }
    let works = file("works", b"#!/bin/sh\nexit 5\n", 0o755);
    assert_eq!(run(&mut session, &program(works, &[])).status, EndStatus::Exited(5));
}

pub fn output_of_both_streams(kind: Kind) {
    let mut session = open(kind);
    let mut seen = Vec::new();
    let script = "printf 'a\\377'; printf b >&2; head -c 300000 /dev/zero";
    let end = session
        .run(&bash(script), &mut |stream, bytes| seen.push((stream, bytes.to_vec())))
        .expect("an end");
    assert_eq!(end.status, EndStatus::Exited(0));
    let zeros = vec![0; 300_000];
    assert!(end.stdout == [b"a\xff", &zeros[..]].concat(), "{} bytes", end.stdout.len());
    assert_eq!(end.stderr, b"b");
    let of = |wanted| {
        let pieces = seen.iter().filter(|(stream, _)| *stream == wanted);
        pieces.flat_map(|(_, bytes)| bytes.clone()).collect::<Vec<u8>>()
    };
    use towpath_process::Stream;
    assert!(of(Stream::Stdout) == end.stdout && of(Stream::Stderr) == end.stderr);
}

pub fn what_the_sandbox_refuses(kind: Kind) {
    let mut session = open(kind);
    let refused = |session: &mut SandboxSession, command: &SandboxCommand| {
        let error = session.run(command, &mut |_, _| {}).expect_err("it is refused");
        assert!(matches!(error, SandboxError::Command { .. }), "{error}");
        error.to_string()
    };
    let mut missing = bash("exit 0");
    missing.directory = CommandDirectory::At("/no/such/directory".into());
    assert!(refused(&mut session, &missing).contains("directory"));
    assert!(refused(&mut session, &program("/bin/echo", &["a\0b"])).contains("NUL"));
    assert_eq!(run(&mut session, &bash("exit 4")).status, EndStatus::Exited(4), "it continues");
    let policy = Policy { readable: vec!["/no/such".into()], ..policy() };
    let error = SandboxSession::open(&kind.confinement(), &policy, &own_program());
    assert!(matches!(error, Err(SandboxError::Path { .. })), "{error:?}");
}

pub fn arguments_and_environment_arrive(kind: Kind) {
    let odd = OsString::from_vec(b"\xff\x01 'q\" $x\n{{y}}".to_vec());
    let mut command = bash(r#"printf '%s|%s|%s' "$1" "$ODD" "$2""#);
    command.arguments.extend([OsString::from("_"), odd.clone(), OsString::new()]);
    command.environment.push(("ODD".into(), odd.clone()));
    let end = run(&mut open(kind), &command);
    let odd = odd.into_vec();
    assert_eq!(end.stdout, [&odd[..], b"|", &odd, b"|"].concat());
}
