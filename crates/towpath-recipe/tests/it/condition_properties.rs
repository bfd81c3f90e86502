//! The condition language against chance: no text makes it panic, and generated expressions mean
//! what a second, plain evaluator gives that walks the generated tree and never parses.

mod plain_evaluator;
mod print_tree;
mod random_trees;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use towpath_core::{Map, VarPath, lookup};
use towpath_recipe::condition::{Condition, EvalError};

fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

/// Reads and asks a text that may be anything; every range must be a piece of the text.
fn nothing_breaks(text: &str, scope: &Map) {
    let condition = match Condition::parse(text) {
        Ok(condition) => condition,
        Err(error) => {
            assert!(text.get(error.range.clone()).is_some(), "{text:?} {:?}", error.range);
            assert!(!error.message.is_empty());
            return;
        }
    };
    assert_eq!(condition.text(), text);
    for name in condition.names() {
        let written: String = text[name.range].split_whitespace().collect();
        assert_eq!(written, name.path.as_str());
    }
    match (condition.value(scope), condition.is_true(scope)) {
        (Ok(value), Ok(is_true)) => {
            assert_eq!(plain_evaluator::is_true(&value), is_true, "{text:?}");
        }
        (Err(error), Err(_)) => assert!(text.get(error.range).is_some_and(|t| !t.is_empty())),
        (value, is_true) => panic!("{text:?}: {value:?} but {is_true:?}"),
    }
}

proptest! {
    #![proptest_config(config(3_000))]

    #[test]
    fn random_text_never_panics(text in "\\PC{0,60}", scope in random_trees::scope()) {
        nothing_breaks(&text, &scope);
    }

    #[test]
    fn token_soup_never_panics(
        tokens in prop::collection::vec(prop::sample::select(soup()), 0..14),
        glue in prop::sample::select(vec!["", " ", "\n\u{a0}"]),
        scope in random_trees::scope(),
    ) {
        nothing_breaks(&tokens.join(glue), &scope);
    }

    #[test]
    fn a_path_finds_what_a_placeholder_finds(
        root in prop::sample::select(vec!["o", "l", "s", "my-var", "gone", "é", "_"]),
        segments in prop::collection::vec(
            prop::sample::select(vec!["k", "in", "0", "1", "00", "my-var", "strip", "gone", "2-x"]),
            0..4,
        ),
        scope in random_trees::scope(),
    ) {
        let text = [&[root], segments.as_slice()].concat().join(".");
        let found = Condition::parse(&text).unwrap().value(&scope).unwrap();
        let path = VarPath::new(&text).unwrap();
        prop_assert_eq!(found, lookup(&scope, &path).cloned().unwrap_or(Value::Null));
    }
}

/// Pieces of the language and of its neighbours, cut at blanks.
const SOUP: &str = r#"and or not in true False AND a o.k my-var l s gone len min strip ( ) [ ] () , .
    .strip() .split == != < >= && || = ! ' " 'x' "5" \ \' 0 5 -7 3.14 1. - + { _ é ☃ str( int('5')
    s.find( 0.0 x[0] $ ; 'a b' __ {{ }}"#;

fn soup() -> Vec<&'static str> {
    SOUP.split_whitespace().collect()
}

/// Every call and operator, the latter with both of its outcomes.
fn everything() -> Vec<String> {
    let both = |name: &str, outcomes: [&str; 2]| outcomes.map(|o| format!("{name} {o}"));
    let mut all: Vec<String> = [
        random_trees::FUNCTIONS.as_slice(),
        random_trees::SHAPING.as_slice(),
        random_trees::ASKING.as_slice(),
        &["replace", "split", "join"],
    ]
    .concat()
    .into_iter()
    .map(str::to_owned)
    .collect();
    assert_eq!(all.len(), 7 + 13);
    for operator in random_trees::OPERATORS.iter().chain(&["not"]) {
        all.extend(both(operator, ["true", "false"]));
    }
    all.extend(both("and", ["early", "late"]));
    all.extend(both("or", ["early", "late"]));
    all
}

/// The value, or the name of the call that failed: the rest of a message quotes the text.
fn by_call(found: Result<Value, EvalError>) -> Result<Value, String> {
    found.map_err(|error| error.message.split('`').nth(1).unwrap().to_owned())
}

#[test]
fn generated_expressions_mean_what_the_plain_evaluator_gives() {
    let used = RefCell::new(BTreeMap::new());
    let outcomes = RefCell::new((0_usize, 0_usize));
    let strategy = (random_trees::tree(), random_trees::scope(), any::<u64>(), any::<u64>());
    let check = |(tree, scope, seed, other_seed): (random_trees::Tree, Map, u64, u64)| {
        let text = print_tree::print(&tree, seed);
        let condition = Condition::parse(&text)
            .map_err(|error| TestCaseError::fail(format!("{text}\n{error:?}")))?;
        let found = condition.value(&scope);
        let expected = plain_evaluator::Plain { scope: &scope, used: &used }.value(&tree);
        match (&found, &expected) {
            (Ok(found), Ok(expected)) => prop_assert_eq!(found, expected, "{}", text),
            (Err(error), Err(call)) => {
                let named = error.message.starts_with(&format!("`{call}`"));
                prop_assert!(named, "{}\n{} but {}", text, error.message, call);
            }
            _ => prop_assert!(false, "{}\nfound {:?}\nexpected {:?}", text, found, expected),
        }
        let other = print_tree::print(&tree, other_seed);
        let again = Condition::parse(&other)
            .map_err(|error| TestCaseError::fail(format!("{other}\n{error:?}")))?;
        prop_assert_eq!(by_call(again.value(&scope)), by_call(found), "{}", other);
        let mut names = Vec::new();
        tree.names(&mut names);
        for condition in [&condition, &again] {
            let read: Vec<String> =
                condition.names().into_iter().map(|name| name.path.to_string()).collect();
            prop_assert_eq!(&read, &names);
        }
        let mut outcomes = outcomes.borrow_mut();
        outcomes.0 += 1;
        outcomes.1 += usize::from(expected.is_ok());
        Ok(())
    };
    TestRunner::new(config(20_000)).run(&strategy, check).unwrap_or_else(|error| panic!("{error}"));

    let (all, good) = outcomes.into_inner();
    assert!(good * 2 >= all, "only {good} of {all} expressions have a value");
    assert!(good < all, "no expression failed: errors were not compared");
    let used = used.into_inner();
    for what in everything() {
        let count = used.get(&what).copied().unwrap_or(0);
        assert!(count >= 10, "`{what}` came {count} times");
    }
}

/// A result that is foreseen must come out for every value of the unknown variables, and so must an
/// error. The unknown ones are tried as absent, too.
#[test]
fn what_is_foreseen_comes_out_whatever_the_unknown_values_are() {
    let counts = RefCell::new([0_usize; 4]);
    let names = ["s", "n", "m", "b", "l", "o", "z", "my-var", "none", "gone"];
    let unknown = prop::collection::btree_set(prop::sample::select(names.to_vec()), 0..5);
    let fillings = prop::collection::vec((random_trees::scope(), any::<u16>()), 6);
    let strategy = (random_trees::tree(), random_trees::scope(), unknown, fillings, any::<u64>());
    TestRunner::new(config(20_000))
        .run(&strategy, |(tree, scope, unknown, fillings, seed)| {
            let text = print_tree::print(&tree, seed);
            let condition = Condition::parse(&text).expect("a generated text is sound");
            let is_unknown = |path: &VarPath| unknown.contains(path.root());
            let mut known = scope;
            known.retain(|name, _| !unknown.contains(name.split('.').next().unwrap_or(name)));
            let foreseen = condition.foresee(&known, &is_unknown);
            let mut counts = counts.borrow_mut();
            counts[match &foreseen {
                Ok(Some(true)) => 0,
                Ok(Some(false)) => 1,
                Ok(None) => 2,
                Err(_) => 3,
            }] += usize::from(condition.names().iter().any(|name| is_unknown(&name.path)));
            for (other, absent) in fillings {
                let mut filled = known.clone();
                for (at, name) in unknown.iter().enumerate() {
                    if let Some(value) = other.get(*name).filter(|_| absent >> at & 1 == 0) {
                        filled.insert((*name).to_owned(), value.clone());
                    }
                }
                let found = condition.is_true(&filled);
                match &foreseen {
                    Ok(Some(is_true)) => prop_assert_eq!(found, Ok(*is_true), "{}", text),
                    Err(_) => prop_assert!(found.is_err(), "{} {:?}", text, found),
                    Ok(None) => {}
                }
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    let [yes, no, open, fails] = counts.into_inner();
    assert!(yes > 50 && no > 50 && open > 1000 && fails > 50, "{yes} {no} {open} {fails}");
}
