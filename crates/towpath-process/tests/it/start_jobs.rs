//! Jobs start as specified, or report why not.

use crate::support::*;
use rustix::process::Signal;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use towpath_process::{ChildSpec, Event, StartError, StartErrorKind as Kind};

pub fn codes_and_signals_arrive() {
    let mut run = Run::forked();
    for (id, script, expected) in [
        (1, "exit 0", code(0)),
        (2, "exit 7", code(7)),
        (3, "exit 255", code(255)),
        (4, "kill -KILL $$", signal(Signal::KILL)),
        (5, "kill -TERM $$", signal(Signal::TERM)),
    ] {
        let end = run.finish(id, script);
        assert_eq!(end.status, expected, "{script}");
        assert!(end.left.is_empty() && end.ended.is_empty(), "{script}: {end:?}");
    }
    assert!(code(0).success() && !code(1).success() && !signal(Signal::KILL).success());
}

fn refusal(run: &mut Run, spec: &ChildSpec) -> StartError {
    run.warden.start(spec).expect("a warden that listens");
    match run.events.next() {
        Some(Event::StartFailed { id, error }) if id == spec.id => error,
        other => panic!("{other:?}"),
    }
}

pub fn what_cannot_start_reports_why() {
    let mut run = Run::forked();
    let plain = run.path("plain");
    fs::write(&plain, "echo hello").expect("write");
    let script = |name: &str, text: &str| {
        let path = run.path(name);
        fs::write(&path, text).expect("write");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("chmod");
        path
    };
    let (headless, orphan) = (script("headless", "echo"), script("orphan", "#!/no/such/sh\n"));
    let base = run.job(1, "true");
    let with = |change: &dyn Fn(&mut ChildSpec)| {
        let mut spec = base.clone();
        change(&mut spec);
        spec
    };
    let cases = [
        (with(&|s| s.program = "/no/such".into()), Kind::ProgramNotFound, "does not exist"),
        (
            with(&|s| s.program = "no-such-program".into()),
            Kind::ProgramNotFound,
            "not found on PATH",
        ),
        (with(&|s| s.program = "".into()), Kind::ProgramNotFound, "empty"),
        (with(&|s| s.program = orphan.clone().into()), Kind::ProgramNotFound, "interpreter"),
        (with(&|s| s.program = plain.clone().into()), Kind::NotExecutable, "not executable"),
        (with(&|s| s.program = headless.clone().into()), Kind::NotExecutable, "`#!` line"),
        (with(&|s| s.program = "/tmp".into()), Kind::NotExecutable, "not executable"),
        (with(&|s| s.directory = "/no/such".into()), Kind::DirectoryMissing, "does not exist"),
        (with(&|s| s.directory = plain.clone()), Kind::DirectoryMissing, "not a directory"),
        (with(&|s| s.stdout = "/no/such/file".into()), Kind::File, "/no/such/file"),
        (with(&|s| s.stdin = Some("/no/such/file".into())), Kind::File, "/no/such/file"),
        (with(&|s| s.arguments.push("x".repeat(200_000).into())), Kind::TooBig, "too big"),
        (with(&|s| s.arguments.push("a\0b".into())), Kind::NulByte, "an argument"),
        (with(&|s| s.environment.push(("V".into(), "\0".into()))), Kind::NulByte, "`V`"),
    ];
    for (spec, kind, text) in cases {
        let error = refusal(&mut run, &spec);
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.to_string().contains(text), "`{error}` does not contain `{text}`");
    }
    assert_eq!(run.finish(1, "exit 3").status, code(3), "the warden continues");
    let sleeper = run.job(9, "sleep 1000");
    run.start(&sleeper);
    assert_eq!(refusal(&mut run, &sleeper).kind, Kind::Refused, "an id is used once at a time");
}

pub fn a_job_inherits_nothing() {
    let mut run = Run::forked();
    let script = "
        echo fds: $(ls -v /proc/self/fd | tr '\\n' ' ')
        cat /proc/self/status
        [ $(ps -o sid= -p $$) = $$ ] && echo own session
        (: </dev/tty) 2>/dev/null || echo no terminal
        pwd
    ";
    let end = run.finish(1, script);
    assert_eq!(end.status, code(0));
    let output = run.output(1);
    // Four: `ls` has the directory open.
    assert!(output.contains("fds: 0 1 2 3 \n") || output.contains("fds: 0 1 2 3\n"), "{output}");
    for mask in ["SigBlk", "SigIgn", "SigCgt"] {
        assert!(output.contains(&format!("{mask}:\t0000000000000000\n")), "{output}");
    }
    assert!(output.contains("own session\nno terminal\n"), "{output}");
    let directory = fs::canonicalize(run.directory.path()).expect("directory");
    assert!(output.ends_with(&format!("{}\n", directory.display())), "{output}");
}

pub fn arguments_and_environment_arrive_byte_for_byte() {
    let mut run = Run::forked();
    let odd = OsString::from_vec(b"\xff\x01 'q\" $x\n{{y}}".to_vec());
    let mut spec = run.job(1, r#"printf '%s|%s|%s|%s' "$1" "$ODD" "$2" "$TOWPATH_JOB""#);
    spec.arguments.extend([OsString::from("_"), odd.clone(), OsString::new()]);
    spec.environment.push(("ODD".into(), odd.clone()));
    run.start(&spec);
    assert_eq!(run.ended(1).status, code(0));
    let odd = odd.into_vec();
    let expected = [&odd[..], b"|", &odd, b"||step1#1.1.1:bash"].concat();
    assert_eq!(fs::read(&spec.stdout).expect("output"), expected);
}

pub fn a_large_environment_arrives_and_a_too_large_one_is_refused() {
    let mut run = Run::forked();
    let mut spec = run.job(1, r#"echo ${#V7} $(env | wc -c)"#);
    for n in 0..10 {
        spec.environment.push((format!("V{n}").into(), "x".repeat(100_000).into()));
    }
    run.start(&spec);
    assert_eq!(run.ended(1).status, code(0));
    let output = run.output(1);
    let (length, all) = output.trim().split_once(' ').expect("two numbers");
    assert_eq!(length, "100000");
    assert!(all.parse::<u32>().expect("a number") > 1_000_000);

    spec.environment.extend((0..90).map(|n| (format!("W{n}").into(), "x".repeat(100_000).into())));
    assert_eq!(refusal(&mut run, &spec).kind, Kind::TooBig);
}

pub fn a_path_is_searched_in_the_jobs_environment() {
    let mut run = Run::forked();
    let (first, second) = (run.path("first"), run.path("second"));
    for (directory, mode, text) in [(&first, 0o600, "one"), (&second, 0o700, "two")] {
        fs::create_dir(directory).expect("directory");
        let tool = directory.join("tool");
        fs::write(&tool, format!("#!/bin/sh\necho {text}\n")).expect("write");
        fs::set_permissions(&tool, fs::Permissions::from_mode(mode)).expect("chmod");
    }
    let mut spec = run.job(1, "");
    spec.program = "tool".into();
    spec.arguments.clear();
    spec.environment[0].1 =
        format!("/no/such:{}:{}:/bin:/usr/bin", first.display(), second.display()).into();
    run.start(&spec);
    assert_eq!(run.ended(1).status, code(0));
    assert_eq!(run.output(1), "two\n", "a file that may not be executed is passed over");

    spec.program = "./second/tool".into();
    run.start(&spec);
    assert_eq!(run.ended(1).status, code(0), "relative to the job's directory");
}

pub fn a_thousand_jobs_one_after_another() {
    let mut run = Run::forked();
    let mut spec = run.job(0, "");
    spec.program = "/bin/true".into();
    spec.arguments.clear();
    for id in 0..1000 {
        spec.id = id;
        run.start(&spec);
        let end = run.ended(id);
        assert!(end.status.success() && end.left.is_empty(), "{id}: {end:?}");
    }
    let files = fs::read_dir(format!("/proc/{}/fd", run.warden.pid())).expect("fds").count();
    assert!(files < 10, "the warden keeps {files} files open");
}

pub fn a_hundred_jobs_at_once() {
    let mut run = Run::forked();
    for id in 0..100 {
        let spec =
            run.job(id, "sleep 0.2; exit $((JOB % 50))".replace("JOB", &id.to_string()).as_str());
        run.warden.start(&spec).expect("a warden that listens");
    }
    let (mut started, mut ended) = (0, 0);
    while ended < 100 {
        match run.events.next().expect("a living warden") {
            Event::Started { .. } => started += 1,
            Event::Ended { id, status, left, .. } => {
                assert_eq!(status, code((id % 50) as i32));
                assert!(left.is_empty(), "another job's process is not left behind: {left:?}");
                ended += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(started, 100);
}
