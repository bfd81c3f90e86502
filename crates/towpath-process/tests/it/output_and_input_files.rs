//! Where a job's output goes and where its input comes from.

use crate::support::*;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;
use towpath_process::{Event, StartErrorKind};

pub fn files_are_private_and_emptied() {
    let mut run = Run::forked();
    let out = run.path("1.out");
    fs::write(&out, "of an earlier attempt").expect("write");
    fs::set_permissions(&out, fs::Permissions::from_mode(0o644)).expect("chmod");
    run.finish(1, "echo out; echo err >&2");
    assert_eq!(run.output(1), "out\n");
    assert_eq!(fs::read_to_string(run.path("1.err")).expect("file"), "err\n");
    for name in ["1.out", "1.err"] {
        let mode = fs::metadata(run.path(name)).expect("file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

pub fn one_file_for_both_streams_keeps_the_order() {
    let mut run = Run::forked();
    let mut spec = run.job(1, "for n in 1 2 3; do echo out$n; echo err$n >&2; done");
    spec.stderr = spec.stdout.clone();
    run.start(&spec);
    run.ended(1);
    assert_eq!(run.output(1), "out1\nerr1\nout2\nerr2\nout3\nerr3\n");
}

pub fn the_end_does_not_wait_for_who_keeps_the_output_open() {
    let mut run = Run::forked();
    let end = run.finish(1, &format!("sleep 1000 & {IS_EXECUTED}; echo done"));
    assert_eq!(end.status, code(0));
    assert_eq!(run.output(1), "done\n");
    assert_eq!(end.left.len(), 1, "{end:?}");
    assert_eq!(end.left[0].command, "sleep 1000");
}

pub fn a_fifo_without_a_reader_does_not_block_the_warden() {
    let mut run = Run::forked();
    let fifo = run.path("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo");
    assert!(made.success());
    let mut spec = run.job(1, "true");
    spec.stdout = fifo.clone();
    run.warden.start(&spec).expect("a warden that listens");
    match run.events.next() {
        Some(Event::StartFailed { error, .. }) => assert_eq!(error.kind, StartErrorKind::File),
        other => panic!("{other:?}"),
    }
    let mut spec = run.job(2, "exit 5");
    spec.stdin = Some(fifo);
    run.start(&spec);
    assert_eq!(run.ended(2).status, code(5));
}

pub fn stdin_is_empty_or_a_file() {
    let mut run = Run::forked();
    run.finish(1, "cat; readlink /proc/self/fd/0");
    assert_eq!(run.output(1), "/dev/null\n");
    let input = run.path("input");
    fs::write(&input, "a prompt").expect("write");
    let mut spec = run.job(2, "cat");
    spec.stdin = Some(input);
    run.start(&spec);
    assert_eq!(run.ended(2).status, code(0));
    assert_eq!(run.output(2), "a prompt");
    run.warden.sweep(Duration::ZERO).expect("a warden that listens");
    assert_eq!(run.swept(), []);
}
