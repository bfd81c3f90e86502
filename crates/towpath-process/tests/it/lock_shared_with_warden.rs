//! Engine and warden hold one lock together.

use crate::support::*;
use rustix::process::Signal;
use std::os::fd::AsFd as _;
use towpath_process::{Acquire, Marker, RunLock, Warden};

pub fn the_warden_keeps_the_lock_of_a_dead_engine() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("lock");
    let (token, run) = (run_id(), run_id());
    let mut engine = engine(&token, "engine", directory.path(), &run);
    let Acquire::Locked(holder) = RunLock::try_acquire(&path).expect("lock") else {
        panic!("two owners")
    };
    assert_eq!(holder.pid, Some(engine.process.id()));
    assert!(holder.runs);

    // A warden that cannot act holds the lock, as one that is still ending things does.
    kill(engine.warden(), Signal::STOP);
    engine.kill();
    let Acquire::Locked(holder) = RunLock::try_acquire(&path).expect("lock") else {
        panic!("the warden still lives")
    };
    assert_eq!(holder.pid, Some(engine.process.id()));
    assert!(!holder.runs, "the engine is dead, and that is reported");

    kill(engine.warden(), Signal::CONT);
    let free = RunLock::wait_acquire(&path, LONG).expect("lock");
    assert!(matches!(free, Acquire::Acquired(_)), "{free:?}");
    assert_eq!(alive(&token), [], "the lock is free only when all has ended");
}

pub fn no_job_gets_the_lock() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("lock");
    let lock = RunLock::try_acquire(&path).expect("lock");
    let Acquire::Acquired(lock) = lock else { panic!("nobody holds it") };
    let program = std::env::current_exe().expect("own path");
    let lock_fd = Some(lock.as_fd());
    let (warden, events) =
        Warden::spawn(&program, &["--as-warden".into()], lock_fd, &Marker::new("aaaa"))
            .expect("a warden");
    let mut run = Run::of(warden, events, directory);
    let job = run.start(&run.job(1, "sleep 1000"));
    drop(lock);
    assert!(matches!(RunLock::try_acquire(&path).expect("lock"), Acquire::Locked(_)));
    kill(run.warden.pid(), Signal::KILL);
    assert_eq!(run.events.next(), None);
    // The job's child has lost its parent's parent and may live for ever; the lock does not.
    until("the job is gone", || state(job) == 'Z');
    let free = RunLock::wait_acquire(&path, LONG).expect("lock");
    assert!(matches!(free, Acquire::Acquired(_)), "{free:?}");
}
