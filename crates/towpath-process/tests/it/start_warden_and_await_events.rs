//! How a warden is started, and how its events are waited for.

use crate::support::*;
use rustix::process::Signal;
use std::time::{Duration, Instant};
use towpath_process::{Awaited, ChildSpec, Event, Marker, ProcessError, Warden};

pub fn a_process_with_threads_cannot_fork_a_warden() {
    let (stay, wait) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || wait.recv());
    let refused = Warden::fork(None, &Marker::new("aaaa"));
    assert!(matches!(refused, Err(ProcessError::Threads { count: 2 })), "{refused:?}");
    drop(stay);
    let _ = thread.join();
}

pub fn a_program_can_be_the_warden() {
    let mut run = Run::spawned();
    assert_eq!(run.finish(1, "exit 4").status, code(4));
    run.start_escapists(2);
    run.warden.stop(2, Duration::from_millis(100)).expect("a warden that listens");
    run.ended(2);
    run.assert_nothing_lives();
    run.warden.sweep(Duration::from_secs(1)).expect("a warden that listens");
    assert_eq!(run.swept(), []);
    assert_eq!(run.events.next(), None);
}

pub fn a_program_that_is_no_warden_is_refused() {
    let marker = Marker::new("aaaa");
    for (program, arguments) in [("/bin/true", vec![]), ("/bin/sh", os(&["-c", "exec sleep 0.3"]))]
    {
        let refused = Warden::spawn(program.as_ref(), &arguments, None, &marker);
        assert!(matches!(refused, Err(ProcessError::NotAWarden { .. })), "{refused:?}");
    }
    let refused = Warden::spawn("/no/such".as_ref(), &[], None, &marker);
    assert!(matches!(refused, Err(ProcessError::System { .. })), "{refused:?}");
}

pub fn a_wait_for_an_event_ends_in_time_and_when_it_is_woken() {
    let mut run = Run::forked();
    let soon = Instant::now() + Duration::from_millis(20);
    assert!(matches!(run.events.next_before(soon), Awaited::Nothing));
    assert!(Instant::now() >= soon);
    let late = Instant::now() + Duration::from_secs(600);
    run.events.waker().wake();
    assert!(matches!(run.events.next_before(late), Awaited::Nothing), "woken before the wait");
    let waker = run.events.waker();
    std::thread::scope(|scope| {
        scope.spawn(move || waker.wake());
        assert!(matches!(run.events.next_before(late), Awaited::Nothing));
    });
    let quiet = ChildSpec { report_start: false, ..run.job(1, "exit 3") };
    run.warden.start(&quiet).expect("a warden that listens");
    let ended = run.events.next_before(late);
    assert!(matches!(ended, Awaited::Event(Event::Ended { id: 1, .. })), "{ended:?}");
    kill(run.warden.pid(), Signal::KILL);
    assert!(matches!(run.events.next_before(late), Awaited::Gone));
    assert!(matches!(run.events.next_before(late), Awaited::Gone), "and stays so");
}

pub fn a_stopped_warden_is_continued_by_short_waits_too() {
    let mut run = Run::forked();
    run.start(&run.job(1, "until [ -e go ]; do sleep 0.01; done"));
    kill(run.warden.pid(), Signal::STOP);
    std::fs::write(run.path("go"), "").expect("a file");
    loop {
        match run.events.next_before(Instant::now() + Duration::from_millis(7)) {
            Awaited::Event(Event::Ended { id: 1, status, .. }) => {
                break assert_eq!(status, code(0));
            }
            Awaited::Nothing => {}
            other => panic!("{other:?}"),
        }
    }
}
