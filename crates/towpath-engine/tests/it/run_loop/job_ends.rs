//! Ends of jobs as they should come, and as they should not: late, doubled, of nobody's job.

use super::fake_executor::FakeExecutor;
use super::{Events, Setup};
use std::cell::RefCell;
use std::fs;
use std::rc::Rc;
use towpath_core::StepPath;
use towpath_engine::EngineError;
use towpath_executor::{
    EndStatus, ExecutorError, Finished, JobEvent, JobId, Leftover, Stream, Swept, Work,
};
use towpath_run::{Fact, FailureKind, JobStatus, RunOutcome};
use towpath_store::StoreError;

const THREE: &str = "
name: three
steps:
  - {id: a, command: echo one, output: first}
  - {id: b, command: 'echo {{first}}', output: second}
  - {id: c, command: 'echo {{second}}'}
";

const GROUP: &str = "
name: group
steps:
  - {id: a, command: 'true', parallel_group: g}
  - {id: b, command: 'true', parallel_group: g}
  - {id: c, command: 'true'}
";

#[test]
fn a_start_is_recorded_before_it_happens_and_an_end_before_what_follows() {
    let setup = Rc::new(Setup::new(THREE));
    let seen = Rc::new(RefCell::new(Vec::new()));
    let (looking, kept) = (Rc::clone(&setup), Rc::clone(&seen));
    let mut executor = FakeExecutor::succeeding().watch(move |_, call| {
        if call != "events" {
            let store = looking.store();
            let id = store.runs(&Default::default()).expect("runs")[0].id.clone();
            let last = looking.facts(&id).pop().expect("a fact");
            kept.borrow_mut().push(format!("{call}: {last}"));
        }
        Ok(())
    });
    let (id, end) = setup.drive(&mut executor);
    assert_eq!(end.expect("an end").outcome, RunOutcome::Done);
    assert_eq!(
        *seen.borrow(),
        [
            "start a: job-started a",
            "start b: job-started b",
            "start c: job-started c",
            "close: ended"
        ]
    );
    assert_eq!(
        setup.facts(&id),
        [
            "started",
            "job-started a",
            "job-finished a",
            "job-started b",
            "job-finished b",
            "job-started c",
            "job-finished c",
            "ended"
        ]
    );
}

#[test]
fn what_a_job_printed_is_the_next_ones_value() {
    let setup = Setup::new(THREE);
    let values = Rc::new(RefCell::new(Vec::new()));
    let kept = Rc::clone(&values);
    let mut executor = FakeExecutor::new(move |turn| {
        for job in turn.jobs.values() {
            let Work::Script { script, substitute: false } = &job.work else { panic!("{job:?}") };
            kept.borrow_mut().extend(script.values.clone());
        }
        let text = format!("it's \n{}\n\n", turn.number);
        for id in turn.jobs.keys().copied().collect::<Vec<_>>() {
            turn.print(id, &text);
        }
        Ok(())
    });
    let (_, end) = setup.drive(&mut executor);
    assert_eq!(end.expect("an end").outcome, RunOutcome::Done);
    assert_eq!(*values.borrow(), ["it's \n0", "it's \n1"]);
}

#[test]
fn a_doubled_a_late_and_an_unknown_end_change_nothing() {
    let setup = Setup::new(THREE);
    let mut first = None;
    let mut executor = FakeExecutor::new(move |turn| {
        let job = *turn.jobs.keys().next().expect("a job");
        let early = *first.get_or_insert(job);
        turn.end(JobId(4711), EndStatus::Exited(1));
        if early != job {
            // The first job again, long after its end, and with another result.
            turn.end(early, EndStatus::Exited(1));
        }
        turn.end(job, EndStatus::Exited(0));
        turn.end(job, EndStatus::TimedOut);
        turn.observer.event(JobEvent::SessionNamed { job, session: "late".into() });
        turn.observer.event(JobEvent::SessionNamed { job: JobId(9), session: "no".into() });
        Ok(())
    });
    let (id, end) = setup.drive(&mut executor);
    assert_eq!(end.expect("an end").outcome, RunOutcome::Done);
    assert_eq!(executor.started(), ["a", "b", "c"]);
    let facts = setup.facts(&id);
    assert_eq!(facts.iter().filter(|fact| fact.starts_with("job-finished")).count(), 3);
    assert!(!facts.iter().any(|fact| fact.starts_with("session-opened")), "{facts:?}");
}

#[test]
fn jobs_of_a_group_run_together_and_end_in_any_order() {
    for first in ["a", "b"] {
        let setup = Setup::new(GROUP);
        let mut executor = FakeExecutor::new(move |turn| {
            let ends = if turn.number == 0 { turn.job(first) } else { None };
            match ends {
                Some(job) => turn.end(job, EndStatus::Exited(0)),
                None => turn.end_all(),
            }
            Ok(())
        });
        let (_, end) = setup.drive(&mut executor);
        assert_eq!(end.expect("an end").outcome, RunOutcome::Done);
        assert_eq!(executor.log, ["start a", "start b", "start c", "close"]);
    }
}

#[test]
fn each_way_to_end_is_a_status_of_the_record() {
    let second = std::time::Duration::from_secs(1);
    let ends = [
        (EndStatus::Exited(3), JobStatus::Exited(3), FailureKind::Command),
        (EndStatus::Signalled(11), JobStatus::Signalled(11), FailureKind::Command),
        (EndStatus::TimedOut, JobStatus::TimedOut, FailureKind::Timeout),
        (EndStatus::Silent(second), JobStatus::TimedOut, FailureKind::Timeout),
        (EndStatus::NotStarted, JobStatus::NotStarted, FailureKind::Start),
    ];
    for (status, recorded, kind) in ends {
        let setup = Setup::new("name: r\nsteps:\n  - {id: a, command: 'true', timeout: 9}\n");
        let mut executor = FakeExecutor::new(move |turn| {
            let job = turn.job("a").expect("it runs");
            let mut finished = Finished::new(job, status);
            finished.message = Some("why it ended".into());
            turn.finish(finished);
            Ok(())
        });
        let (id, end) = setup.drive(&mut executor);
        let RunOutcome::Failed { failure, .. } = end.expect("an end").outcome else { panic!() };
        assert_eq!(failure.kind, kind, "{status:?}");
        let facts = setup.full_facts(&id);
        let end = facts.iter().find_map(|fact| match fact {
            Fact::JobFinished { end, .. } => Some(end),
            _ => None,
        });
        let end = end.expect("its end is recorded");
        assert_eq!(end.status, recorded);
        assert_eq!(end.error, "why it ended");
        assert_eq!(end.silent_ms, matches!(status, EndStatus::Silent(_)).then_some(1000));
    }
}

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

#[test]
fn an_executor_that_is_gone_ends_the_run_and_a_resume_runs_what_has_no_end() {
    // At each of its calls: the start of a, the wait for it, the start of b, and so on.
    for gone in 0..7 {
        let setup = Setup::new(THREE);
        let mut executor = FakeExecutor::succeeding().watch(move |number, _| match number {
            number if number == gone => Err(ExecutorError::Gone),
            _ => Ok(()),
        });
        let (id, end) = setup.drive(&mut executor);
        let error = end.expect_err("it is gone");
        assert!(matches!(error, EngineError::WardenGone), "{error}");
        let finished: Vec<String> = setup.facts(&id);
        let ended = |step: &&str| finished.contains(&format!("job-finished {step}"));
        let rest: Vec<&str> = ["a", "b", "c"].into_iter().filter(|step| !ended(step)).collect();
        assert_eq!(setup.resumed_jobs(&id), rest, "gone at call {gone}: {finished:?}");
    }
}

#[test]
fn a_file_of_a_job_that_cannot_be_written_ends_the_run() {
    let setup = Setup::new(THREE);
    let mut executor = FakeExecutor::new(|_| {
        let error = std::io::Error::from(std::io::ErrorKind::StorageFull);
        Err(ExecutorError::Io { path: "1.stdout".into(), error })
    });
    let (_, end) = setup.drive(&mut executor);
    let error = end.expect_err("the disk is full");
    assert!(matches!(error, EngineError::Store(StoreError::Full { .. })), "{error}");
}

#[test]
fn a_run_whose_directory_was_removed_ends_as_gone() {
    let setup = Rc::new(Setup::new(THREE));
    let removing = Rc::clone(&setup);
    let mut executor = FakeExecutor::new(move |turn| {
        if turn.number == 1 {
            fs::remove_dir_all(removing.path("state/runs")).expect("it can be removed");
        }
        turn.end_all();
        Ok(())
    });
    let (_, end) = setup.drive(&mut executor);
    let error = end.expect_err("nothing of it is there");
    assert!(matches!(error, EngineError::Store(StoreError::Gone { .. })), "{error}");
    assert_eq!(executor.started(), ["a", "b"]);
}
