//! What lives on after its job, and how a run is ended.

use crate::support::*;
use rustix::process::Signal;
use std::time::Duration;
use towpath_process::{Event, StartErrorKind};

pub fn background_children_live_until_the_sweep() {
    let mut run = Run::forked();
    let script = format!("(setsid sleep 1001 & {IS_EXECUTED}); sleep 1002 & {IS_EXECUTED}; exit 3");
    let end = run.finish(1, &script);
    assert_eq!(end.status, code(3));
    let mut commands: Vec<_> = end.left.iter().map(|l| l.command.as_str()).collect();
    commands.sort();
    assert_eq!(commands, ["sleep 1001", "sleep 1002"]);
    assert!(end.left.iter().all(|l| l.job.as_deref() == Some("step1#1.1.1:bash")), "{end:?}");

    let second = run.finish(2, &format!("sleep 1003 & {IS_EXECUTED}"));
    assert_eq!(second.left.len(), 1, "of this job only: {second:?}");
    assert_eq!(second.left[0].command, "sleep 1003");
    assert!(run.finish(3, "true").left.is_empty());
    assert_eq!(alive(&run.token).len(), 3, "they serve later steps");

    run.warden.sweep(Duration::from_secs(5)).expect("a warden that listens");
    let mut commands: Vec<_> = run.swept().into_iter().map(|l| l.command).collect();
    commands.sort();
    assert_eq!(commands, ["sleep 1001", "sleep 1002", "sleep 1003"]);
    run.assert_nothing_lives();
    assert_eq!(run.events.next(), None);
    assert_eq!(state(run.warden.pid()), 'Z');
}

pub fn sweep_with_nothing_left() {
    let mut run = Run::forked();
    run.finish(1, "true");
    run.warden.sweep(LONG).expect("a warden that listens");
    assert_eq!(run.swept(), []);
    assert_eq!(run.events.next(), None);
    assert_eq!(run.events.next(), None, "and again");
    assert!(run.warden.sweep(Duration::ZERO).is_err(), "nobody hears this");
}

pub fn sweep_ends_running_jobs_too() {
    let mut run = Run::forked();
    run.start_and_see(1, "trap 'exit 4' TERM; while :; do sleep 0.05; done", 2);
    run.start(&run.job(2, "sleep 1001; exit 1"));
    let token = run.token.clone();
    until("the sleep is there", || alive(&token).iter().any(|(_, c)| c.starts_with("sleep 1001")));
    run.warden.sweep(LONG).expect("a warden that listens");
    assert_eq!(run.ended(1).status, code(4));
    assert!(!run.ended(2).status.success());
    let swept = run.swept();
    assert!(swept.iter().any(|l| l.command == "sleep 1001"), "{swept:?}");
    run.assert_nothing_lives();
}

pub fn sweep_kills_what_does_not_listen() {
    let mut run = Run::forked();
    run.start_escapists(1);
    run.start_and_see(2, "for n in $(seq 200); do (trap '' TERM; sleep 1000) & done; wait", 50);
    run.warden.sweep(Duration::from_millis(100)).expect("a warden that listens");
    assert_eq!(run.ended(1).status, signal(Signal::KILL));
    run.ended(2);
    assert!(run.swept().len() >= 50, "more than those");
    run.assert_nothing_lives();
    assert_eq!(run.events.next(), None);
}

pub fn nothing_starts_during_a_sweep() {
    let mut run = Run::forked();
    // The sweep lasts until the job may end.
    run.start_and_see(1, "trap '' TERM; until [ -e go ]; do sleep 0.05; done", 2);
    run.warden.sweep(LONG).expect("a warden that listens");
    run.warden.start(&run.job(2, "true")).expect("a warden that listens");
    match run.events.next() {
        Some(Event::StartFailed { id: 2, error }) => {
            assert_eq!(error.kind, StartErrorKind::Refused);
        }
        other => panic!("{other:?}"),
    }
    std::fs::write(run.path("go"), "").expect("a file");
    run.ended(1);
    run.swept();
}

pub fn term_to_the_warden_ends_everything() {
    let mut run = Run::forked();
    run.start_escapists(1);
    for harmless in [Signal::INT, Signal::HUP, Signal::TSTP, Signal::TTOU, Signal::PIPE] {
        kill(run.warden.pid(), harmless);
    }
    assert_eq!(run.finish(2, "exit 2").status, code(2), "it does not mind those");
    kill(run.warden.pid(), Signal::TERM);
    run.ended(1);
    run.swept();
    assert_eq!(run.events.next(), None);
    run.assert_nothing_lives();
}

pub fn an_engine_that_does_not_read_does_not_stop_the_killing() {
    let mut run = Run::forked();
    // Far more answers than a socket has room for, none of them read.
    let mut wrong = run.job(5, "true");
    wrong.program = format!("/no/such/{}", "x".repeat(3000)).into();
    run.start_and_see(1, "trap '' TERM; while :; do sleep 1000; done", 2);
    run.warden.stop(1, Duration::from_millis(300)).expect("a warden that listens");
    let count = 700;
    // By the thread that reads them later: the warden takes every command meanwhile.
    (0..count).for_each(|_| run.warden.start(&wrong).expect("a living warden"));
    until("the job is killed all the same", || alive(&run.token).is_empty());
    let (mut failed, mut ended) = (0, 0);
    while failed < count || ended < 1 {
        match run.events.next().expect("nothing is lost") {
            Event::StartFailed { .. } => failed += 1,
            Event::Ended { id: 1, .. } => ended += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(run.finish(2, "exit 2").status, code(2));
}
