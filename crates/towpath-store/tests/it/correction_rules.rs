//! Rules: numbers that never come back, replacing, a project's rules.

use std::path::Path;
use tempfile::tempdir;
use towpath_store::{SetRule, Store, StoredRule};

fn numbers(store: &Store) -> Vec<(i64, String)> {
    store.rules().unwrap().into_iter().map(|rule| (rule.number, rule.body)).collect()
}

/// Sets one rule.
pub fn set(store: &mut Store, key: &str, body: &str, at_ms: i64) -> SetRule {
    store.rules_set(&[(key.to_owned(), body.to_owned())], at_ms).unwrap().remove(0)
}

#[test]
fn the_same_key_replaces_and_keeps_the_number() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    assert_eq!(set(&mut store, "a", "1", 10), SetRule::Added(1));
    assert_eq!(set(&mut store, "b", "2", 20), SetRule::Added(2));
    assert!(store.rule_enable(1, false).unwrap());
    assert!(!store.rules().unwrap()[0].enabled);
    assert_eq!(set(&mut store, "a", "3", 30), SetRule::Replaced(1));
    let (key, body) = ("a".to_owned(), "3".to_owned());
    let expected = StoredRule { number: 1, key, body, enabled: true, created_ms: 30, hits: 0 };
    assert_eq!(store.rules().unwrap()[0], expected);
}

#[test]
fn a_removed_number_never_comes_back() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    for key in ["a", "b"] {
        set(&mut store, key, key, 10);
    }
    assert!(store.rule_remove(2).unwrap());
    assert!(!store.rule_remove(2).unwrap());
    assert!(!store.rule_enable(2, true).unwrap());
    assert!(store.has_rule(1).unwrap() && !store.has_rule(2).unwrap());
    drop(store);
    let mut store = Store::open(directory.path()).unwrap();
    assert_eq!(set(&mut store, "b", "b", 20), SetRule::Added(3));
    assert_eq!(numbers(&store), [(1, "a".to_owned()), (3, "b".to_owned())]);
}

#[test]
fn many_rules_are_set_in_one_commit() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    set(&mut store, "b", "old", 10);
    let rules: Vec<_> = ["a", "b"].map(|key| (key.to_owned(), "new".to_owned())).to_vec();
    let set = store.rules_set(&rules, 20).unwrap();
    assert_eq!(set, [SetRule::Added(2), SetRule::Replaced(1)]);
    assert_eq!(numbers(&store), [(1, "new".to_owned()), (2, "new".to_owned())]);
}

#[test]
fn rules_of_a_project_have_numbers_of_the_same_sequence_and_can_be_disabled() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let (shop, farm) = (Path::new("/shop/rules.toml"), Path::new("/farm/rules.toml"));
    set(&mut store, "a", "mine", 10);
    let keys = ["a", "b"].map(str::to_owned);
    assert_eq!(store.project_rule_numbers(shop, &keys, 20).unwrap(), [2, 3]);
    assert_eq!(store.project_rule_numbers(farm, &keys[1..], 20).unwrap(), [4]);
    assert_eq!(store.project_rule_numbers(shop, &keys, 30).unwrap(), [2, 3]);
    assert_eq!(numbers(&store), [(1, "mine".to_owned())]);

    assert!(store.rule_enable(3, false).unwrap());
    let enabled = |store: &Store, file| -> Vec<(i64, bool)> {
        store.project_rules(file).unwrap().iter().map(|rule| (rule.number, rule.enabled)).collect()
    };
    assert_eq!(enabled(&store, shop), [(2, true), (3, false)]);
    assert_eq!(enabled(&store, farm), [(4, true)]);
    assert_eq!(store.project_rule_numbers(shop, &keys, 40).unwrap(), [2, 3]);
    assert_eq!(enabled(&store, shop), [(2, true), (3, false)]);
    assert!(!store.rule_remove(3).unwrap(), "it is in the project's file");
}
