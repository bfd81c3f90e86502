//! An executor that is gone, or whose files cannot be written, ends the run.

use super::Setup;
use super::fake_executor::FakeExecutor;
use std::fs;
use std::rc::Rc;
use towpath_engine::EngineError;
use towpath_executor::ExecutorError;
use towpath_store::StoreError;

const THREE: &str = "
name: three
steps:
  - {id: a, command: echo one, output: first}
  - {id: b, command: 'echo {{first}}', output: second}
  - {id: c, command: 'echo {{second}}'}
";

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
