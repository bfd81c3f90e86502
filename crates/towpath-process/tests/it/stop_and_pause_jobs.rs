//! A job that is stopped is gone with all that came of it; nothing else is touched.

use crate::support::*;
use rustix::process::Signal;
use std::time::Duration;

pub fn stop_asks_first() {
    let mut run = Run::forked();
    let script = "trap 'echo asked; exit 9' TERM; echo ready; while :; do sleep 0.05; done";
    run.start(&run.job(1, script));
    until("the trap is set", || run.output(1) == "ready\n");
    run.warden.stop(1, LONG).expect("a warden that listens");
    let end = run.ended(1);
    assert_eq!(end.status, code(9));
    assert_eq!(run.output(1), "ready\nasked\n");
    run.assert_nothing_lives();
}

pub fn stop_ends_every_kind_of_descendant() {
    let mut run = Run::forked();
    run.start_escapists(1);
    run.warden.stop(1, Duration::from_millis(200)).expect("a warden that listens");
    let end = run.ended(1);
    run.assert_nothing_lives();
    assert_eq!(end.status, signal(Signal::KILL), "it ignored TERM");
    assert!(end.left.is_empty(), "{end:?}");
    for command in ["sleep 1001", "sleep 1005", "sleep 1004"] {
        assert!(end.ended.iter().any(|l| l.command == command), "{command} in {:?}", end.ended);
    }
}

pub fn stop_ends_a_chain_that_forks_and_exits() {
    let mut run = Run::forked();
    let script =
        "f() { if [ $1 -gt 0 ]; then f $(($1 - 1)) & fi; }; f 2000; trap '' TERM; sleep 1000";
    run.start_and_see(1, script, 2);
    run.warden.kill_now(1).expect("a warden that listens");
    run.ended(1);
    run.assert_nothing_lives();
}

pub fn stop_ends_two_hundred_forks() {
    let mut run = Run::forked();
    let script = "trap '' TERM; for n in $(seq 200); do (trap '' TERM; sleep 1000) & done; wait";
    run.start_and_see(1, script, 20);
    run.warden.kill_now(1).expect("a warden that listens");
    assert_eq!(run.ended(1).status, signal(Signal::KILL));
    run.assert_nothing_lives();
}

pub fn stop_spares_other_jobs() {
    let mut run = Run::forked();
    let other = run.start(&run.job(1, "(setsid sleep 1001 &); sleep 1002; true"));
    until("the other job is there", || alive(&run.token).len() == 3);
    let pids = |token: &str| alive(token).into_iter().map(|(pid, _)| pid).collect::<Vec<_>>();
    let spared = pids(&run.token);
    run.start_escapists(2);
    run.warden.stop(2, Duration::from_millis(50)).expect("a warden that listens");
    run.ended(2);
    assert_eq!(pids(&run.token), spared, "all of job 1, nothing of job 2");
    assert!(spared.contains(&other));
}

pub fn stop_reaches_a_stopped_job() {
    let mut run = Run::forked();
    let script = "trap 'echo asked; exit 9' TERM; echo ready; while :; do sleep 0.05; done";
    let pid = run.start(&run.job(1, script));
    until("the trap is set", || run.output(1) == "ready\n");
    kill(pid, Signal::STOP);
    until("the job is stopped", || state(pid) == 'T');
    run.warden.stop(1, LONG).expect("a warden that listens");
    assert_eq!(run.ended(1).status, code(9));
    assert_eq!(run.output(1), "ready\nasked\n");
}

pub fn the_rest_is_asked_when_the_leader_has_gone() {
    let mut run = Run::forked();
    // In a session of its own, so that TERM to the job's group does not reach it.
    let script = "setsid bash -c 'trap \"echo asked; exit\" TERM; echo ready; \
                  while :; do sleep 0.05; done' & wait";
    run.start(&run.job(1, script));
    until("the trap is set", || run.output(1) == "ready\n");
    run.warden.stop(1, LONG).expect("a warden that listens");
    let end = run.ended(1);
    assert_eq!(end.status, signal(Signal::TERM));
    assert_eq!(run.output(1), "ready\nasked\n");
    run.assert_nothing_lives();
}

pub fn a_second_stop_shortens_the_grace() {
    let mut run = Run::forked();
    run.start_and_see(1, "trap '' TERM; while :; do sleep 1000; done", 2);
    run.warden.stop(1, LONG).expect("a warden that listens");
    run.warden.stop(1, Duration::from_millis(100)).expect("a warden that listens");
    run.warden.stop(1, LONG).expect("a warden that listens");
    assert_eq!(run.ended(1).status, signal(Signal::KILL));
    run.assert_nothing_lives();
}

pub fn kill_now_does_not_ask() {
    let mut run = Run::forked();
    let script = "trap 'echo asked; exit 9' TERM; echo ready; while :; do sleep 0.05; done";
    run.start(&run.job(1, script));
    until("the trap is set", || run.output(1) == "ready\n");
    run.warden.kill_now(1).expect("a warden that listens");
    assert_eq!(run.ended(1).status, signal(Signal::KILL));
    assert_eq!(run.output(1), "ready\n");
    run.assert_nothing_lives();
}

pub fn stop_of_an_ended_job_is_nothing() {
    let mut run = Run::forked();
    run.finish(1, "true");
    run.warden.stop(1, Duration::ZERO).expect("a warden that listens");
    run.warden.stop(77, LONG).expect("a warden that listens");
    assert_eq!(run.finish(2, "exit 2").status, code(2), "the next event is the next job's");
}

pub fn pause_and_continue() {
    let mut run = Run::forked();
    run.start_escapists(1);
    let states = |token: &str| alive(token).iter().map(|(pid, _)| state(*pid)).collect::<String>();
    run.warden.pause_all().expect("a warden that listens");
    let token = run.token.clone();
    until("all are stopped", || states(&token).chars().all(|s| s == 'T'));
    let late = run.start(&run.job(2, "sleep 0.3; exit 6"));
    until("a job started meanwhile is stopped too", || state(late) == 'T');
    run.warden.continue_all().expect("a warden that listens");
    assert_eq!(run.ended(2).status, code(6));
    until("none is stopped", || states(&token).chars().all(|s| s != 'T'));

    run.warden.pause_all().expect("a warden that listens");
    until("all are stopped", || states(&token).chars().all(|s| s == 'T'));
    run.warden.stop(1, Duration::from_millis(50)).expect("a warden that listens");
    run.ended(1);
    run.assert_nothing_lives();
}

pub fn continue_leaves_stopped_what_the_job_stopped() {
    let mut run = Run::forked();
    let script = "sleep 1000 & kill -STOP $!; echo $!; sleep 1001";
    let job = run.start(&run.job(1, script));
    until("the number is written", || run.output(1).ends_with('\n'));
    let stopped: u32 = run.output(1).trim().parse().expect("a pid");
    until("it is stopped", || state(stopped) == 'T');
    run.warden.pause_all().expect("a warden that listens");
    until("the job is stopped", || state(job) == 'T');
    run.warden.continue_all().expect("a warden that listens");
    until("the job continues", || state(job) != 'T');
    assert_eq!(state(stopped), 'T');
}
