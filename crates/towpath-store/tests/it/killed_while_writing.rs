//! `kill -9` at any instant: what was acknowledged is there, and no commit is there in part.

use crate::second_process_for_tests::start;
use crate::support::{Dice, bodies, create, id, problems};
use std::thread::sleep;
use std::time::Duration;
use tempfile::tempdir;
use towpath_core::RunId;
use towpath_store::Store;

const ROUNDS: u64 = 60;

fn name_of(round: u64) -> RunId {
    let digit = |n: u64| char::from(b"0123456789abcdefghjkmnpqrstvwxyz"[(n % 32) as usize]);
    id(&format!("kk{}{}", digit(round / 32), digit(round)))
}

/// How many batches there are; fails when one is not whole or they are out of order.
fn whole_batches(store: &Store, run: &RunId) -> u64 {
    let mut expected = (0, 0);
    let mut open = false;
    for body in bodies(store, run) {
        let numbers: Vec<u64> =
            body.trim_matches(['[', ']']).split(',').map(|n| n.parse().unwrap()).collect();
        assert_eq!((numbers[0], numbers[1]), expected, "run {run}");
        open = numbers[1] + 1 < numbers[2];
        expected = if open { (numbers[0], numbers[1] + 1) } else { (numbers[0] + 1, 0) };
    }
    assert!(!open, "run {run} ends in the middle of a batch");
    expected.0
}

#[test]
fn a_runner_killed_while_it_appends_loses_nothing_it_acknowledged() {
    let directory = tempdir().unwrap();
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    for round in 0..ROUNDS {
        let run = name_of(round);
        let mut child = start("append", directory.path(), run.as_str());
        assert_eq!(child.next().as_deref(), Some("created"));
        let mut printed: Vec<String> = Vec::new();
        for _ in 0..dice.below(40) {
            printed.push(child.next().expect("it appends until it is killed"));
        }
        sleep(Duration::from_micros(dice.below(1_500)));
        printed.extend(child.kill());
        let acknowledged = printed.len() as u64;
        let store = Store::open(directory.path()).unwrap();
        let stored = whole_batches(&store, &run);
        let expected = acknowledged..=acknowledged + 1;
        assert!(expected.contains(&stored), "round {round}: {stored}, acknowledged {acknowledged}");
    }
    let store = Store::open(directory.path()).unwrap();
    assert_eq!(problems(&store), Vec::<String>::new());
    for round in 0..ROUNDS {
        whole_batches(&store, &name_of(round));
    }
}

#[test]
fn a_runner_killed_while_it_makes_the_journal_leaves_one_that_opens() {
    let mut dice = Dice(0x1234_5678_9abc_def1);
    for round in 0..ROUNDS {
        let directory = tempdir().unwrap();
        let dir = directory.path().join("state");
        let mut child = start("create", &dir, "7f3k");
        assert_eq!(child.next().as_deref(), Some("ready"));
        sleep(Duration::from_micros(dice.below(6_000)));
        let printed = child.kill();
        let mut store = Store::open(&dir).unwrap();
        assert_eq!(problems(&store), Vec::<String>::new(), "round {round}");
        if printed.iter().any(|line| line == "created") {
            assert!(store.run(&id("7f3k")).unwrap().is_some(), "round {round}");
        }
        create(&mut store, "6q0d");
    }
}
