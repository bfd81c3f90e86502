//! What hooks recorded: calls and corrections, found again, counted, never twice.

use crate::correction_rules::set;
use tempfile::tempdir;
use towpath_store::{
    CorrectionFilter, CorrectionRow, CountBy, Order, Store, ToolCallFilter, ToolCallRow,
};

fn call(id: &str, at_ms: i64, host: &str, program: &str, failed: bool) -> ToolCallRow {
    ToolCallRow {
        id: id.into(),
        at_ms,
        host: host.into(),
        version: Some("2.1".into()),
        session: Some(format!("session of {host}")),
        directory: Some("/shop".into()),
        tool: "Bash".into(),
        program: Some(program.into()),
        subcommand: None,
        input: format!("{program} it"),
        failed,
        exit_code: failed.then_some(127),
        error: failed.then(|| format!("{program}: command not found")),
    }
}

fn calls(store: &mut Store) -> [ToolCallRow; 3] {
    let calls = [
        call("a", 10, "claude-code", "gt", true),
        call("b", 30, "codex", "gt", false),
        call("c", 20, "claude-code", "ls", false),
    ];
    assert_eq!(store.tool_calls_add(&calls).unwrap(), 3);
    calls
}

#[test]
fn calls_are_found_by_what_they_are() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let [a, b, c] = calls(&mut store);
    let all = ToolCallFilter::default();
    let cases = [
        (all.clone(), vec![&b, &c, &a]),
        (ToolCallFilter { order: Order::OldestFirst, ..all.clone() }, vec![&a, &c, &b]),
        (ToolCallFilter { limit: Some(1), ..all.clone() }, vec![&b]),
        (ToolCallFilter { since_ms: Some(20), ..all.clone() }, vec![&b, &c]),
        (ToolCallFilter { host: Some("codex".into()), ..all.clone() }, vec![&b]),
        (ToolCallFilter { session: c.session.clone(), ..all.clone() }, vec![&c, &a]),
        (ToolCallFilter { program: Some("gt".into()), ..all.clone() }, vec![&b, &a]),
        (ToolCallFilter { tool: Some("' OR 1".into()), ..all.clone() }, vec![]),
        (ToolCallFilter { failed_only: true, host: Some("claude-code".into()), ..all }, vec![&a]),
    ];
    for (filter, expected) in cases {
        let found = store.tool_calls(&filter).unwrap();
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{filter:?}");
    }
}

#[test]
fn a_known_call_stays_as_it_is() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let [a, ..] = calls(&mut store);
    let changed = ToolCallRow { input: "changed".into(), ..a.clone() };
    assert_eq!(store.tool_calls_add(&[changed, call("d", 5, "codex", "ls", false)]).unwrap(), 1);
    let found = store.tool_calls(&ToolCallFilter::default()).unwrap();
    assert_eq!(found.len(), 4);
    assert!(found.contains(&a));
}

#[test]
fn calls_are_counted() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    calls(&mut store);
    let counts = |filter: &ToolCallFilter, by| -> Vec<(String, u64, u64, u64, i64, i64)> {
        let counts = store.tool_call_counts(filter, by).unwrap();
        let row = |c: &towpath_store::CallCount| {
            (c.value.clone(), c.calls, c.failed, c.sessions, c.first_ms, c.last_ms)
        };
        counts.iter().map(row).collect()
    };
    let all = ToolCallFilter::default();
    let expected = [("gt".to_owned(), 2, 1, 2, 10, 30), ("ls".to_owned(), 1, 0, 1, 20, 20)];
    assert_eq!(counts(&all, CountBy::Program), expected);
    let failed = ToolCallFilter { failed_only: true, ..all };
    assert_eq!(counts(&failed, CountBy::Host), [("claude-code".to_owned(), 1, 1, 1, 10, 10)]);
}

fn correction(id: &str, at_ms: i64, rules: &[i64]) -> CorrectionRow {
    CorrectionRow {
        id: id.into(),
        at_ms,
        host: "claude-code".into(),
        rules: rules.to_vec(),
        before: "grep a".into(),
        after: "rg a".into(),
        decision: "rewritten".into(),
        ..CorrectionRow::default()
    }
}

#[test]
fn a_correction_counts_its_rules_once_however_often_it_is_recorded() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    set(&mut store, "a", "", 0);
    store.project_rule_numbers("/shop".as_ref(), &["b".to_owned()], 0).unwrap();
    let both = [correction("x", 10, &[1, 2]), correction("y", 20, &[1, 12])];
    assert_eq!(store.corrections_add(&both).unwrap(), 2);
    assert_eq!(store.corrections_add(&both).unwrap(), 0);
    assert_eq!(store.rules().unwrap()[0].hits, 2);
    assert_eq!(store.project_rules("/shop".as_ref()).unwrap()[0].hits, 1);
    let by_rule = |rule| {
        let filter = CorrectionFilter { rule: Some(rule), ..CorrectionFilter::default() };
        store.corrections(&filter).unwrap()
    };
    assert_eq!(by_rule(1), [both[1].clone(), both[0].clone()]);
    assert_eq!(by_rule(2), [both[0].clone()]);
}

#[test]
fn what_ran_is_added_later() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    store.corrections_add(&[correction("x", 10, &[])]).unwrap();
    assert!(store.correction_ran("x", "rg a").unwrap());
    assert!(!store.correction_ran("y", "rg a").unwrap());
    let found = store.corrections(&CorrectionFilter::default()).unwrap();
    assert_eq!((found[0].ran.as_deref(), found[0].rules.as_slice()), (Some("rg a"), &[][..]));
}

#[test]
fn the_newest_records_are_kept_and_hits_stay() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    set(&mut store, "a", "", 0);
    let many = 100_002;
    let calls: Vec<ToolCallRow> =
        (0..many).map(|n| call(&n.to_string(), n, "codex", "ls", false)).collect();
    assert_eq!(store.tool_calls_add(&calls).unwrap(), calls.len());
    let corrections: Vec<CorrectionRow> =
        (0..many).map(|n| correction(&n.to_string(), n, &[1])).collect();
    store.corrections_add(&corrections).unwrap();
    let first = ToolCallFilter { order: Order::OldestFirst, limit: Some(1), ..Default::default() };
    assert_eq!(store.tool_calls(&first).unwrap()[0].id, "2");
    assert_eq!(store.corrections(&CorrectionFilter::default()).unwrap().len(), 100_000);
    assert_eq!(store.rules().unwrap()[0].hits, 100_002);
}

#[test]
fn a_journal_may_be_in_any_file() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("deep/other.db");
    assert!(Store::open_file_for_reading(&path).unwrap().is_none());
    set(&mut Store::open_file(&path).unwrap(), "a", "", 0);
    let store = Store::open_file_for_reading(&path).unwrap().unwrap();
    assert_eq!(store.rules().unwrap().len(), 1);
    assert!(Store::open_file("/".as_ref()).is_err());
}
