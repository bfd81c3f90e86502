//! A stop, and a second one, at each moment of a run: whatever was under way, nothing more starts, and a
//! resume runs exactly what has no end.

use super::fake_executor::FakeExecutor;
use super::{Events, Setup};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use towpath_engine::{Controller, StopReason};
use towpath_executor::EndStatus;
use towpath_run::{Fact, RunOutcome};

const RECIPE: &str = "
name: stopped
steps:
  - {id: a, command: 'true'}
  - {id: b, command: 'true', parallel_group: g}
  - {id: c, command: 'true', parallel_group: g}
  - {id: d, command: 'true'}
";

/// An executor that asks for a stop during these of its calls. Its jobs take two turns. `stubborn`: they
/// end when they are killed, not when they are asked to.
fn stopping_at(moments: Vec<usize>, stubborn: bool) -> (FakeExecutor, Rc<Cell<usize>>) {
    let calls = Rc::new(Cell::new(0));
    let counted = Rc::clone(&calls);
    let mut seen = BTreeSet::new();
    let executor = FakeExecutor::new(move |turn| {
        for id in turn.jobs.keys().copied().collect::<Vec<_>>() {
            let (stopped, killed) = (turn.stopped.contains(&id), turn.killed.contains(&id));
            if killed || (stopped && !stubborn) {
                turn.end(id, EndStatus::Stopped);
            } else if !seen.insert(id) && !stopped {
                turn.end(id, EndStatus::Exited(0));
            }
        }
        Ok(())
    });
    let controller: Rc<RefCell<Option<Controller>>> = Rc::clone(&executor.controller);
    let executor = executor.watch(move |number, _| {
        counted.set(number + 1);
        if moments.contains(&number)
            && let Some(controller) = &*controller.borrow()
        {
            controller.stop(StopReason::Cancel);
        }
        Ok(())
    });
    (executor, calls)
}

#[test]
fn a_stop_at_each_moment_starts_nothing_more_and_can_be_resumed() {
    let mut moment = 0;
    loop {
        let setup = Setup::new(RECIPE);
        let (mut executor, calls) = stopping_at(vec![moment], false);
        let (id, end) = setup.drive(&mut executor);
        if moment >= calls.get() {
            assert_eq!(moment, 11, "every call was met");
            break;
        }
        let outcome = end.expect("an end").outcome;
        let facts = setup.facts(&id);
        if outcome == RunOutcome::Done {
            // All had ended when it was asked for.
            assert!(facts.contains(&"job-finished d".to_owned()), "at {moment}: {facts:?}");
        } else {
            assert_eq!(outcome, RunOutcome::Stopped { reason: StopReason::Cancel });
            let stopping = facts.iter().position(|fact| fact == "stopping").expect("recorded");
            let later = &facts[stopping..];
            assert!(!later.iter().any(|fact| fact.starts_with("job-started")), "{facts:?}");
            let ended = succeeded(&setup, &id);
            let all = ["a", "b", "c", "d"].map(str::to_owned);
            let rest: Vec<String> = all.into_iter().filter(|step| !ended.contains(step)).collect();
            assert_eq!(setup.resumed_jobs(&id), rest, "at {moment}: {facts:?}");
        }
        moment += 1;
    }
}

/// The steps whose jobs ended by themselves.
fn succeeded(setup: &Setup, id: &towpath_core::RunId) -> Vec<String> {
    let ended = |fact: Fact| match fact {
        Fact::JobFinished { key, end } if end.succeeded() => Some(key.step),
        _ => None,
    };
    setup.full_facts(id).into_iter().filter_map(ended).collect()
}

#[test]
fn a_second_stop_kills_whenever_it_comes() {
    // The jobs of the group are started by the calls 3 and 4; after a stop there are always more turns.
    for (first, second) in [(3, 5), (4, 4), (4, 6), (5, 7), (5, 9), (3, 20)] {
        let setup = Setup::new(RECIPE);
        let (mut executor, _) = stopping_at(vec![first, second], true);
        if first == second {
            let controller = Rc::clone(&executor.controller);
            executor = executor.watch(move |number, _| {
                if number == first {
                    let controller = controller.borrow().clone().expect("it is driven");
                    controller.stop(StopReason::Cancel);
                    controller.stop(StopReason::Cancel);
                }
                Ok(())
            });
        }
        let (_, end) = setup.drive(&mut executor);
        let outcome = end.expect("an end").outcome;
        assert_eq!(outcome, RunOutcome::Stopped { reason: StopReason::Cancel });
        let tail: Vec<&str> = executor.log.iter().skip(3).map(String::as_str).collect();
        assert_eq!(tail, ["stop b", "stop c", "kill b", "kill c", "close"], "{first} {second}");
    }
}

#[test]
fn a_pause_pauses_the_jobs_and_continues_them() {
    let setup = Setup::new(RECIPE);
    let during = Rc::new(RefCell::new(Vec::new()));
    let log = Rc::clone(&during);
    let (sender, paused) = std::sync::mpsc::channel();
    let mut executor = FakeExecutor::new(move |turn| {
        if turn.number == 0 {
            let sender = sender.clone();
            turn.controller.pause(move || sender.send(()).expect("the test listens"));
        } else {
            turn.end_all();
        }
        Ok(())
    })
    .watch(move |_, call| {
        log.borrow_mut().push((call.to_owned(), paused.try_recv().is_ok()));
        Ok(())
    });
    let (mut store, mut events) = (setup.store(), Events::default());
    let prepared = setup.create(&mut store);
    let end = setup.drive_prepared(prepared, &mut store, &mut executor, &mut events);
    assert_eq!(end.expect("an end").outcome, RunOutcome::Done);
    // What was to happen meanwhile happened between the two.
    let during = during.borrow();
    assert_eq!(during[2..4], [("pause".to_owned(), false), ("resume".to_owned(), true)]);
    let (suspended, continued) = ("suspended".to_owned(), "continued".to_owned());
    let at = events.seen.iter().position(|line| *line == suspended).expect("it is reported");
    assert_eq!(events.seen[at + 1], continued);
}

#[test]
fn a_stop_while_paused_is_taken_when_the_run_continues() {
    let setup = Setup::new(RECIPE);
    let mut executor = FakeExecutor::new(|turn| {
        if turn.number == 0 {
            let controller = turn.controller.clone();
            turn.controller.pause(move || controller.stop(StopReason::Cancel));
        } else {
            turn.end_all();
        }
        Ok(())
    });
    let (_, end) = setup.drive(&mut executor);
    let outcome = end.expect("an end").outcome;
    assert_eq!(outcome, RunOutcome::Stopped { reason: StopReason::Cancel });
    assert_eq!(executor.log, ["start a", "pause", "resume", "stop a", "close"]);
}
