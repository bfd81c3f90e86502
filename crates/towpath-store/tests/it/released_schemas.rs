//! A sample database of every schema that was released: each must open, now and later.

use crate::support::{bodies, checkpoint, fact, id, new_run};
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::tempdir;
use towpath_core::RunStatus;
use towpath_store::{
    CorrectionRow, NewFact, Output, OutputRef, Pause, PlanHash, SCHEMA_VERSION, Store, Stream,
    Summary, TelemetryEvent, ToolCallFilter, ToolCallRow, TrustRecord,
};

fn fixture(version: i64) -> PathBuf {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    dir.join(format!("schema-{version}.db"))
}

fn sample(dir: &Path) {
    let mut store = Store::open(dir).unwrap();
    let started = NewFact::new(1_000, "run_started", r#"{"v":1}"#);
    let run = store.create_run(&new_run(), &mut |_| id("7f3k"), &[started]).unwrap();
    let finished = NewFact {
        key: Some("build#1.0.0:bash".into()),
        stdout: Some(OutputRef::inline("built\n")),
        stderr: Some(OutputRef::File { name: "build.err".into(), len: 70_000, sum: None }),
        ..NewFact::new(2_000, "job_finished", r#"{"v":1,"status":"done"}"#)
    };
    let summary = Summary {
        status: RunStatus::Done,
        cost_microusd: Some(310_000),
        ended_ms: Some(3_000),
        ..new_run().summary
    };
    store.append(&run, &[finished], Some(&summary)).unwrap();
    store.add_plan(&run, "the second plan", &[fact("{}")], None).unwrap();
    let consent = TrustRecord {
        path: PathBuf::from("/home/me/shop/.towpath"),
        hash: PlanHash([7; 32]),
        at_ms: 500,
        what: "3 recipes".into(),
    };
    store.trust_add(&consent).unwrap();
    crate::correction_rules::set(&mut store, "the key", "the body", 4_000);
    store.rule_enable(1, false).unwrap();
    let call = ToolCallRow { id: "call".into(), failed: true, ..ToolCallRow::default() };
    store.tool_calls_add(&[call]).unwrap();
    let correction = CorrectionRow { rules: vec![1], ..CorrectionRow::default() };
    store.corrections_add(&[correction]).unwrap();
    store.set_pause(Some(Pause { since_ms: 5_000, until_ms: None })).unwrap();
    store.suggestion_dismiss("no", 6_000).unwrap();
    store.telemetry_add(&event()).unwrap();
}

fn event() -> TelemetryEvent {
    TelemetryEvent { at_ms: 7_000, event: "verify_self_repair".into(), body: "{}".into() }
}

#[test]
#[ignore = "writes the sample of a new schema: once, before it is released"]
fn write_sample() {
    let directory = tempdir().unwrap();
    sample(directory.path());
    checkpoint(directory.path());
    fs::copy(directory.path().join("journal.db"), fixture(SCHEMA_VERSION)).unwrap();
}

#[test]
fn every_released_schema_opens_with_all_that_was_in_it() {
    for version in 1..=SCHEMA_VERSION {
        let directory = tempdir().unwrap();
        fs::copy(fixture(version), directory.path().join("journal.db")).unwrap();
        let store = Store::open(directory.path()).unwrap();
        let run = id("7f3k");
        let row = store.run(&run).unwrap().unwrap();
        assert_eq!((row.recipe.as_str(), row.directory), ("ship-release", new_run().directory));
        assert_eq!((row.summary.status.as_str(), row.summary.ended_ms), ("done", Some(3_000)));
        assert_eq!(bodies(&store, &run), [r#"{"v":1}"#, r#"{"v":1,"status":"done"}"#, "{}"]);
        let stdout = store.output(&run, "build#1.0.0:bash", Stream::Stdout).unwrap();
        assert_eq!(stdout, Some(Output::Inline(b"built\n".to_vec())));
        assert_eq!(store.plan(&run, Some(1)).unwrap().text, "the plan");
        assert_eq!(store.plan(&run, None).unwrap().text, "the second plan");
        assert_eq!(store.trust_list().unwrap()[0].hash, PlanHash([7; 32]));
        if version >= 3 {
            let rule = store.rules().unwrap().remove(0);
            assert_eq!((rule.body.as_str(), rule.enabled, rule.hits), ("the body", false, 1));
            assert!(store.tool_calls(&ToolCallFilter::default()).unwrap()[0].failed);
            assert_eq!(store.pause().unwrap().unwrap().since_ms, 5_000);
            assert_eq!(store.dismissed_suggestions().unwrap(), ["no"]);
        }
        let events = if version >= 4 { vec![event()] } else { Vec::new() };
        assert_eq!(store.telemetry().unwrap(), events);
    }
}

/// A change of the tables without a new version would leave older journals behind.
#[test]
fn the_tables_are_those_of_the_sample() {
    let tables = |path: &Path| -> Vec<(String, Option<String>)> {
        let conn = Connection::open(path).unwrap();
        let mut ask = conn.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name").unwrap();
        let rows = ask.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let directory = tempdir().unwrap();
    drop(Store::open(directory.path()).unwrap());
    let copy = directory.path().join("sample.db");
    fs::copy(fixture(SCHEMA_VERSION), &copy).unwrap();
    assert_eq!(tables(&directory.path().join("journal.db")), tables(&copy));
}
