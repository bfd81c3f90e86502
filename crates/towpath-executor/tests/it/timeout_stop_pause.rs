//! Jobs that are ended by us: at a timeout, for their silence, on request. And a pause, which ends
//! nothing.

use crate::support::{Run, Seen, is_locked, until};
use std::fs;
use std::time::{Duration, Instant};
use towpath_executor::{EndStatus, Executor as _, JobId};

/// A descendant in a session of its own, deaf to signals, that locks a file. What comes next in the
/// script runs when the lock is there.
const ESCAPE: &str = "touch alive
    (setsid bash -c 'trap \"\" TERM HUP; exec 9<alive; flock 9; touch away; sleep 1000; :' &)
    until [ -e away ]; do sleep 0.01; done\n";

/// A timeout that is too short for a busy machine is tried again with a longer one.
pub fn a_timeout_ends_every_descendant() {
    for seconds in [1, 5, 25] {
        let mut run = Run::new();
        let timeout = Some(Duration::from_secs(seconds));
        let mut job = run.job(1, &format!("{ESCAPE} trap '' TERM; sleep 1001; sleep 1002"));
        job.timeout = timeout;
        run.start(job);
        let away = run.path("away");
        run.seen.wait(&mut run.executor, "it got away or timed out", |seen| {
            away.exists() || !seen.finished.is_empty()
        });
        // Nothing waits for the grace, which is longer than the test may take.
        let expired = Instant::now() + Duration::from_secs(seconds) + Duration::from_millis(100);
        run.seen.wait(&mut run.executor, "the timeout is over", |_| Instant::now() >= expired);
        run.executor.kill(JobId(1)).unwrap();
        assert_eq!(run.end_of(1).status, EndStatus::TimedOut);
        if away.exists() {
            assert!(!is_locked(&run.path("alive")), "nothing of it lives after its end");
            return;
        }
    }
    panic!("the descendant never got away");
}

pub fn silence_ends_a_job() {
    let mut run = Run::new();
    let mut job = run.job(1, "echo one; sleep 1000");
    job.idle_timeout = Some(Duration::from_millis(300));
    run.start(job);
    assert_eq!(run.end_of(1).status, EndStatus::Silent(Duration::from_millis(300)));
    // Of a job that ends in time its silence is not asked.
    let mut job = run.job(2, "exit 5");
    job.idle_timeout = Some(Duration::from_secs(1_000));
    run.start(job);
    assert_eq!(run.end_of(2).status, EndStatus::Exited(5));
}

pub fn stop_asks_and_kill_does_not() {
    let mut run = Run::new();
    let job = run.job(1, "trap 'echo asked' TERM; echo ready; while :; do sleep 0.01; done");
    run.start(job);
    run.wait_for_output("s1", "ready");
    run.executor.stop(JobId(1)).unwrap();
    run.wait_for_output("s1", "asked");
    assert!(run.seen.finished.is_empty(), "it lives for the whole grace");
    run.executor.kill(JobId(1)).unwrap();
    assert_eq!(run.end_of(1).status, EndStatus::Stopped);
    assert_eq!(run.seen.stdout_of("s1"), "ready\nasked\n");

    let job = run.job(2, "trap 'echo asked' TERM; echo ready; while :; do sleep 0.01; done");
    run.start(job);
    run.wait_for_output("s2", "ready");
    run.executor.kill(JobId(2)).unwrap();
    assert_eq!(run.end_of(2).status, EndStatus::Stopped);
    assert_eq!(run.seen.stdout_of("s2"), "ready\n");
}

pub fn the_first_cause_counts() {
    let mut run = Run::new();
    let mut job = run.job(1, "trap 'echo asked' TERM; while :; do sleep 0.01; done");
    job.timeout = Some(Duration::from_millis(100));
    run.start(job);
    let expired = Instant::now() + Duration::from_millis(200);
    run.seen.wait(&mut run.executor, "the timeout is over", |_| Instant::now() >= expired);
    run.executor.stop(JobId(1)).unwrap();
    run.executor.kill(JobId(1)).unwrap();
    assert_eq!(run.end_of(1).status, EndStatus::TimedOut);
}

pub fn an_unknown_job_is_no_error() {
    let mut run = Run::new();
    run.executor.stop(JobId(7)).unwrap();
    run.executor.kill(JobId(7)).unwrap();
    assert_eq!(run.finish(1, "exit 6").status, EndStatus::Exited(6));
    run.executor.stop(JobId(1)).unwrap();
    assert_eq!(run.finish(2, "exit 7").status, EndStatus::Exited(7));
}

/// The letter of `/proc/PID/stat`.
fn state(pid: &str) -> char {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process");
    text.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).expect("a state")
}

/// A timeout that is too short for a busy machine is tried again with a longer one.
pub fn paused_time_counts_against_no_timeout() {
    for seconds in [1, 5, 20] {
        let mut run = Run::new();
        let timeout = Duration::from_secs(seconds);
        let mut job = run.job(1, "echo pid $$; until [ -e go ]; do sleep 0.01; done; exit 8");
        job.timeout = Some(timeout);
        run.start(job);
        let begun = |seen: &Seen| seen.stdout_of("s1").contains('\n') || !seen.finished.is_empty();
        run.seen.wait(&mut run.executor, "it begins", begun);
        let printed = run.seen.stdout_of("s1").to_owned();
        let Some(pid) = printed.trim().strip_prefix("pid ") else { continue };
        run.executor.pause().unwrap();
        until("it is stopped", || state(pid) == 'T');
        std::thread::sleep(timeout);
        assert_eq!(state(pid), 'T', "it stays where it is");
        run.executor.resume().unwrap();
        fs::write(run.path("go"), "").unwrap();
        match run.end_of(1).status {
            EndStatus::Exited(8) => return,
            EndStatus::TimedOut => {}
            other => panic!("{other:?}"),
        }
    }
    panic!("the time of the pause counts");
}

pub fn a_wait_ends_when_it_is_woken() {
    let mut run = Run::new();
    let job = run.job(1, "until [ -e go ]; do sleep 0.01; done");
    run.start(job);
    let (waker, go) = (run.executor.waker(), run.path("go"));
    let woken = std::thread::spawn(move || {
        waker.wake();
        fs::write(go, "").unwrap();
    });
    run.executor.events(Instant::now() + Duration::from_secs(1_000), &mut run.seen).unwrap();
    woken.join().unwrap();
    assert_eq!(run.end_of(1).status, EndStatus::Exited(0));
}
