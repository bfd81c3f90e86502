//! Ends of jobs as they should come, and as they should not: late, doubled, of nobody's job.

use super::Setup;
use super::fake_executor::FakeExecutor;
use std::cell::RefCell;
use std::rc::Rc;
use towpath_executor::{EndStatus, Finished, JobEvent, JobId, Work};
use towpath_run::{Fact, FailureKind, JobStatus, RunOutcome};

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
