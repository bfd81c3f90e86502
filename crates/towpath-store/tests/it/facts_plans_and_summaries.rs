//! Facts, plans and summaries: recorded together, given back in order, or not there at all.

use crate::support::{bodies, create, fact, id, new_run};
use tempfile::tempdir;
use towpath_core::{RunStatus, StepPath};
use towpath_store::{NewFact, OutputRef, Store, StoreError, StoredOutput, Summary};

#[test]
fn facts_are_numbered_per_run_and_keep_their_order() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let first = [fact("a")];
    let one = store.create_run(&new_run(), &mut |_| id("aaaa"), &first).unwrap();
    let two = create(&mut store, "bbbb");
    store.append(&two, &[fact("x"), fact("y")], None).unwrap();
    store.append(&one, &[fact("b"), fact("c")], None).unwrap();
    store.append(&two, &[fact("z")], None).unwrap();
    store.append(&one, &[], None).unwrap();
    let numbers = |run| store.facts(run).unwrap().iter().map(|f| f.seq).collect::<Vec<_>>();
    assert_eq!((numbers(&one), numbers(&two)), (vec![1, 2, 3], vec![1, 2, 3]));
    assert_eq!(bodies(&store, &one), ["a", "b", "c"]);
    assert_eq!(bodies(&store, &two), ["x", "y", "z"]);
}

#[test]
fn a_fact_comes_back_as_it_was() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let run = create(&mut store, "7f3k");
    let recorded = NewFact {
        at_ms: -7,
        kind: "job_finished",
        key: Some("ci/build#2.0.0:bash".into()),
        body: "{\"é\":\"\u{0}\"}".into(),
        stdout: Some(OutputRef::inline(b"\xff\0out".as_slice())),
        stderr: Some(OutputRef::inline("err")),
    };
    store.append(&run, std::slice::from_ref(&recorded), None).unwrap();
    let stored = store.facts(&run).unwrap().remove(0);
    assert_eq!((stored.seq, stored.at_ms, stored.kind.as_str()), (1, -7, "job_finished"));
    assert_eq!((stored.key, stored.body), (recorded.key, recorded.body));
    let bytes = Some(b"\xff\0out".to_vec());
    assert_eq!(stored.stdout, Some(StoredOutput::Inline { len: 5, bytes }));
    assert_eq!(stored.stderr, Some(StoredOutput::Inline { len: 3, bytes: None }));
    let outline = store.facts_after(&run, 0).unwrap().remove(0);
    assert_eq!(outline.stdout, Some(StoredOutput::Inline { len: 5, bytes: None }));
}

#[test]
fn a_run_that_is_not_there_is_reported() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let none = id("zzzz");
    let results = [
        store.append(&none, &[fact("1")], None).err(),
        store.facts(&none).err(),
        store.plan(&none, None).err(),
        store.add_plan(&none, "p", &[], None).err(),
    ];
    for error in results {
        assert!(matches!(error, Some(StoreError::NoSuchRun(ref id)) if *id == none), "{error:?}");
    }
    assert_eq!(store.run(&none).unwrap(), None);
}

#[test]
fn a_refused_batch_leaves_nothing_of_itself() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let run = create(&mut store, "7f3k");
    let outside = OutputRef::File { name: "../other".into(), len: 1, sum: None };
    let bad = NewFact { stdout: Some(outside), ..fact("bad") };
    let ended = Summary { status: RunStatus::Done, ..Summary::default() };
    let refused = store.append(&run, &[fact("good"), bad.clone()], Some(&ended));
    assert!(matches!(refused, Err(StoreError::BadOutputName(_))), "{refused:?}");
    let refused = store.add_plan(&run, "second", &[bad], None);
    assert!(matches!(refused, Err(StoreError::BadOutputName(_))), "{refused:?}");
    assert_eq!(bodies(&store, &run), Vec::<String>::new());
    assert_eq!(store.run(&run).unwrap().unwrap().summary.status, RunStatus::Running);
    assert_eq!(store.plan(&run, None).unwrap().version, 1);
}

#[test]
fn the_summary_changes_with_the_facts() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let (run, other) = (create(&mut store, "7f3k"), create(&mut store, "6q0d"));
    assert_eq!(store.run(&run).unwrap().unwrap().summary, new_run().summary);
    let summary = Summary {
        status: RunStatus::Failed { step: StepPath::new("deploy"), reason: None },
        cost_microusd: Some(420_000),
        cost_unknown: true,
        started_ms: 1_000,
        ended_ms: Some(124_000),
        active_ms: 123_000,
        steps_done: 4,
        steps_skipped: 1,
        steps_total: Some(6),
    };
    store.append(&run, &[fact("end")], Some(&summary)).unwrap();
    assert_eq!(store.run(&run).unwrap().unwrap().summary, summary);
    store.append(&run, &[fact("more")], None).unwrap();
    assert_eq!(store.run(&run).unwrap().unwrap().summary, summary);
    assert_eq!(store.run(&other).unwrap().unwrap().summary, new_run().summary);
}

#[test]
fn a_new_plan_keeps_the_old_ones() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let run = create(&mut store, "7f3k");
    let long = "step: é\n".repeat(50_000);
    assert_eq!(store.add_plan(&run, &long, &[fact("replanned")], None).unwrap(), 2);
    let newest = store.plan(&run, None).unwrap();
    assert_eq!((newest.version, newest.text), (2, long));
    let first = store.plan(&run, Some(1)).unwrap();
    assert_eq!((first.version, first.text.as_str()), (1, "the plan"));
    assert_eq!(bodies(&store, &run), ["replanned"]);
    let none = store.plan(&run, Some(3));
    assert!(matches!(none, Err(StoreError::NoSuchPlan { version: 3, .. })), "{none:?}");
}
