//! A journal that takes no more, at each of its facts: nothing is started whose start is not recorded,
//! nothing that depends on an end that is not recorded, and what was recorded stays.

use super::fake_executor::FakeExecutor;
use super::{Events, Setup};
use rusqlite::Connection;
use towpath_core::RunId;
use towpath_engine::{EngineError, Limits, take_over};
use towpath_run::RunOutcome;
use towpath_store::StoreError;

const RECIPE: &str = "
name: written
steps:
  - {id: a, command: 'true'}
  - {id: b, command: 'true', parallel_group: g}
  - {id: c, command: 'true', parallel_group: g}
  - {id: d, command: 'true'}
";

/// From this fact on the database refuses to take any.
fn refuse_from(setup: &Setup, fact: u32) -> Connection {
    let database = Connection::open(setup.path("state/journal.db")).expect("the database");
    let trigger = format!(
        "CREATE TRIGGER refuse BEFORE INSERT ON facts WHEN NEW.seq >= {fact}
         BEGIN SELECT RAISE(ABORT, 'no more facts'); END"
    );
    database.execute_batch(&trigger).expect("a trigger");
    database
}

/// Drives a run whose journal takes only so many facts.
fn drive(
    setup: &Setup,
    first_refused: u32,
) -> (RunId, Result<RunOutcome, EngineError>, Vec<String>) {
    let mut store = setup.store();
    let prepared = setup.create(&mut store);
    let id = prepared.id().clone();
    let database = refuse_from(setup, first_refused);
    let mut executor = FakeExecutor::succeeding();
    let end = setup.drive_prepared(prepared, &mut store, &mut executor, &mut Events::default());
    database.execute_batch("DROP TRIGGER refuse").expect("no trigger");
    (id, end.map(|end| end.outcome), executor.started())
}

#[test]
fn each_fact_that_cannot_be_written_stops_the_run_before_its_effect() {
    let mut refused = 2;
    loop {
        let setup = Setup::new(RECIPE);
        let (id, end, started) = drive(&setup, refused);
        let facts = setup.facts(&id);
        if end.is_ok() {
            assert_eq!(facts.len(), 10, "all facts were tried: {facts:?}");
            break;
        }
        assert!(matches!(end, Err(EngineError::Store(_))), "{end:?}");
        assert!(facts.len() < refused as usize, "{facts:?}");
        let recorded = |kind: &str, step: &str| facts.contains(&format!("{kind} {step}"));
        for step in &started {
            assert!(recorded("job-started", step), "{step} at {refused}: {facts:?}");
        }
        if started.contains(&"d".to_owned()) {
            assert!(recorded("job-finished", "b") && recorded("job-finished", "c"), "{facts:?}");
        }
        let all = ["a", "b", "c", "d"];
        let rest: Vec<_> = all.into_iter().filter(|step| !recorded("job-finished", step)).collect();
        assert_eq!(setup.resumed_jobs(&id), rest, "at {refused}: {facts:?}");
        refused += 1;
    }
}

/// A lock that locks nothing, as on some network disks: another process takes the run while it is
/// driven here.
#[test]
fn a_run_that_another_process_has_taken_over_ends_here() {
    let setup = Setup::new(RECIPE);
    let mut store = setup.store();
    let prepared = setup.create(&mut store);
    let id = prepared.id().clone();
    let database = Connection::open(setup.path("state/journal.db")).expect("the database");
    let taken = "CREATE TRIGGER taken AFTER INSERT ON facts WHEN NEW.seq = 3
                 BEGIN UPDATE runs SET owner = owner + 1; END";
    database.execute_batch(taken).expect("a trigger");
    let mut executor = FakeExecutor::succeeding();
    let end = setup.drive_prepared(prepared, &mut store, &mut executor, &mut Events::default());
    database.execute_batch("DROP TRIGGER taken").expect("no trigger");
    let error = end.expect_err("it is not ours any more");
    assert!(matches!(error, EngineError::Store(StoreError::TakenOver(_))), "{error:?}");
    let recorded = setup.facts(&id);
    assert_eq!(recorded.last().map(String::as_str), Some("job-started c"), "{recorded:?}");
    let rest = setup.resumed_jobs(&id);
    assert_eq!(rest, ["b", "c", "d"]);
}

/// A fact that was changed from outside: nothing of the run starts again.
#[test]
fn a_damaged_run_is_not_resumed() {
    let setup = Setup::new(RECIPE);
    let (id, end) = setup.drive(&mut FakeExecutor::succeeding());
    assert_eq!(end.expect("it ends").outcome, RunOutcome::Done);
    let database = Connection::open(setup.path("state/journal.db")).expect("the database");
    let changed = "UPDATE facts SET body = replace(body, 'Exited\":0', 'Exited\":1') WHERE seq = 3";
    assert_eq!(database.execute(changed, []).expect("an update"), 1);
    let secrets = towpath_core::Secrets::default();
    let taken = take_over(&mut setup.store(), &id, Limits::default(), &secrets);
    let error = taken.expect_err("it is damaged").to_string();
    assert!(error.contains("fact 3 is not as it was recorded"), "{error}");
}
