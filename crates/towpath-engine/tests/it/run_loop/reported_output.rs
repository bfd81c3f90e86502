//! What reaches the reporter of what jobs print and leave.

use super::fake_executor::FakeExecutor;
use super::{Events, Setup};
use towpath_core::StepPath;
use towpath_executor::{EndStatus, Finished, JobEvent, Leftover, Stream, Swept};
use towpath_run::{Fact, RunOutcome};

#[test]
fn output_activity_and_what_was_ended_reach_the_reporter() {
    let setup = Setup::new("name: r\nsteps:\n  - {id: a, command: 'true'}\n");
    let mut executor = FakeExecutor::new(|turn| {
        let step = &StepPath::new("a");
        assert!(turn.observer.ready());
        let job = &"a#1.0.0:bash".parse().expect("a key");
        turn.observer.event(JobEvent::Output { job, stream: Stream::Stdout, bytes: b"text\n" });
        turn.observer.event(JobEvent::Activity { step, what: "thinks" });
        let mut finished = Finished::new(turn.job("a").expect("it runs"), EndStatus::Exited(0));
        let process = |pid| Leftover { pid, command: "sleep".into(), job: None };
        finished.ended = vec![process(7)];
        finished.left = vec![process(8)];
        turn.finish(finished);
        let swept = Swept { ended: vec![], left: vec![process(9)] };
        turn.observer.event(JobEvent::Swept(swept));
        Ok(())
    });
    let (mut store, mut events) = (setup.store(), Events::default());
    let prepared = setup.create(&mut store);
    let id = prepared.id().clone();
    let end = setup.drive_prepared(prepared, &mut store, &mut executor, &mut events);
    assert_eq!(
        events.seen,
        [
            "start a",
            "output a text",
            "doing a thinks",
            "ended sleep (7) Step",
            "warning still running after KILL: sleep (9)",
            "end a completed",
            "run done"
        ]
    );
    assert_eq!(end.expect("an end").warnings.len(), 1);
    let left = setup.full_facts(&id).into_iter().find_map(|fact| match fact {
        Fact::JobFinished { end, .. } => Some(end.left),
        _ => None,
    });
    assert_eq!(left.expect("an end"), ["sleep (8)"]);
}

#[test]
fn a_reader_that_is_busy_is_not_ready_for_the_executor_either() {
    let setup = Setup::new("name: r\nsteps:\n  - {id: a, command: 'true'}\n");
    let mut executor = FakeExecutor::new(|turn| {
        assert!(!turn.observer.ready());
        turn.end_all();
        Ok(())
    });
    let mut store = setup.store();
    let prepared = setup.create(&mut store);
    let mut events = Events { busy: true, ..Events::default() };
    let end = setup.drive_prepared(prepared, &mut store, &mut executor, &mut events);
    assert_eq!(end.expect("an end").outcome, RunOutcome::Done);
}
