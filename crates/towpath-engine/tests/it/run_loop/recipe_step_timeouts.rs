//! The timeouts of recipe steps, which the loop measures itself.

use super::Setup;
use super::fake_executor::FakeExecutor;
use std::cell::RefCell;
use std::fs;
use std::rc::Rc;
use std::time::{Duration, Instant};
use towpath_executor::EndStatus;
use towpath_run::{FailureKind, RunOutcome};

const OUTER: &str = "
name: outer
steps:
  - {id: call, recipe: inner, timeout: 1}
";

const INNER: &str = "
name: inner
steps:
  - {id: work, command: 'true'}
  - {id: more, command: 'true'}
";

fn setup() -> Setup {
    let setup = Setup::new(OUTER);
    fs::write(setup.path("inner.yaml"), INNER).expect("a recipe");
    setup
}

#[test]
fn a_recipe_step_that_takes_too_long_is_stopped_once_and_fails() {
    let setup = setup();
    let latest = Rc::new(RefCell::new(None));
    let kept = Rc::clone(&latest);
    let mut executor = FakeExecutor::new(move |turn| {
        let began = kept.borrow_mut().get_or_insert_with(Instant::now).to_owned();
        assert!(turn.until <= began + Duration::from_secs(2), "it is looked at in time");
        std::thread::sleep(turn.until.saturating_duration_since(Instant::now()));
        // It takes some turns to end.
        if !turn.stopped.is_empty() && turn.number % 4 == 0 {
            turn.end_all();
        }
        Ok(())
    });
    let (id, end) = setup.drive(&mut executor);
    let RunOutcome::Failed { step, failure } = end.expect("an end").outcome else { panic!() };
    assert_eq!((step.as_str(), failure.kind), ("call", FailureKind::Timeout));
    assert_eq!(executor.log, ["start work", "stop work", "close"]);
    assert_eq!(
        setup.facts(&id),
        ["started", "job-started call/work", "expired", "job-finished call/work", "ended"]
    );
}

#[test]
fn a_recipe_step_that_ends_in_time_has_no_timer_left() {
    let setup = setup();
    let mut executor = FakeExecutor::succeeding();
    let (id, end) = setup.drive(&mut executor);
    assert_eq!(end.expect("an end").outcome, RunOutcome::Done);
    assert!(!setup.facts(&id).contains(&"expired".to_owned()));
}

#[test]
fn time_spent_paused_does_not_count() {
    let setup = setup();
    let mut executor = FakeExecutor::new(|turn| {
        if turn.number == 0 {
            turn.controller.pause(|| std::thread::sleep(Duration::from_millis(1_100)));
        } else {
            // Twice the time has passed for the clock on the wall.
            turn.end_all();
        }
        Ok(())
    });
    let (id, end) = setup.drive(&mut executor);
    assert_eq!(end.expect("an end").outcome, RunOutcome::Done);
    assert!(!setup.facts(&id).contains(&"expired".to_owned()));
}

#[test]
fn an_end_that_comes_with_the_timer_is_recorded_before_it() {
    let setup = setup();
    let mut executor = FakeExecutor::new(|turn| {
        if turn.number == 0 {
            std::thread::sleep(Duration::from_millis(1_050));
            let job = turn.job("work").expect("it runs");
            turn.end(job, EndStatus::Exited(0));
        } else {
            turn.end_all();
        }
        Ok(())
    });
    let (id, end) = setup.drive(&mut executor);
    let RunOutcome::Failed { failure, .. } = end.expect("an end").outcome else { panic!() };
    assert_eq!(failure.kind, FailureKind::Timeout);
    let facts = setup.facts(&id);
    assert_eq!(facts[2..4], ["job-finished call/work".to_owned(), "expired".to_owned()]);
    assert_eq!(executor.started(), ["work"], "nothing of an expired recipe starts");
}
