//! Flipped bits, cut files, older copies and swapped facts: what is read is what was recorded, or the
//! run is refused with the reason.

use crate::support::{Dice, checkpoint, create, fact, id, problems};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::{TempDir, tempdir};
use towpath_core::{RunId, RunStatus};
use towpath_store::{
    NewFact, Output, OutputRef, RunFilter, Store, StoreError, Stream, Summary, read_output,
    settle_output,
};

const RUNS: [&str; 3] = ["7f3k", "6q0d", "zz9a"];
const DATABASE: &str = "journal.db";
const LOG: &str = "journal.db-wal";
const LARGE: &str = "runs/6q0d/large.out";
const NOTED: &str = "runs/6q0d/last-fact";

/// Three runs that have ended, all of them in the log.
fn journal(dir: &Path) {
    let mut store = Store::open(dir).unwrap();
    for name in RUNS {
        let run = create(&mut store, name);
        let large = store.run_directory(&run).join("large.out");
        fs::write(large, name.repeat(16_500)).unwrap();
        for step in 0..6 {
            let text = format!("{name} {step} ").repeat(40 * step + 1);
            let stdout = match step {
                5 => settle_output(&store.run_directory(&run), "large.out").unwrap(),
                _ => Some(OutputRef::inline(text.clone())),
            };
            let started = fact(&format!("{{\"started\":{step}}}"));
            let ended = NewFact {
                key: Some(format!("step{step}#1.0.0:bash")),
                stdout,
                stderr: Some(OutputRef::inline(text)),
                ..NewFact::new(10 + step as i64, "job_finished", format!("{{\"ended\":{step}}}"))
            };
            store.append(&run, &[started, ended], None).unwrap();
        }
        let done = Summary { status: RunStatus::Done, ended_ms: Some(99), ..Summary::default() };
        store.add_plan(&run, &"another plan ".repeat(500), &[fact("{}")], Some(&done)).unwrap();
    }
}

/// The readable record of a run, question by question.
type Read = BTreeMap<String, Result<String, StoreError>>;

fn read(store: &Store, run: &RunId) -> Read {
    let mut read = Read::new();
    let mut note = |name: String, text| read.insert(name, text);
    note("row".into(), store.run(run).map(|row| format!("{row:?}")));
    note("facts".into(), store.facts(run).map(|facts| format!("{facts:?}")));
    note("outline".into(), store.facts_after(run, 3).map(|facts| format!("{facts:?}")));
    for version in [Some(1), Some(2), None] {
        note(format!("plan {version:?}"), store.plan(run, version).map(|p| format!("{p:?}")));
    }
    for (step, stream) in (0..6).flat_map(|step| [(step, Stream::Stdout), (step, Stream::Stderr)]) {
        let output = store.output(run, &format!("step{step}#1.0.0:bash"), stream);
        let output = output.and_then(|output| match output {
            Some(Output::File { path, len }) => read_output(&path, len, None),
            Some(Output::Inline(bytes)) => Ok(bytes),
            None => Ok(Vec::new()),
        });
        note(format!("{stream:?} {step}"), output.map(|bytes| String::from_utf8(bytes).unwrap()));
    }
    read
}

fn all_read(dir: &Path) -> Result<Vec<Read>, StoreError> {
    let store = Store::open(dir)?;
    Ok(RUNS.iter().map(|run| read(&store, &id(run))).collect())
}

struct Scene {
    directory: TempDir,
    whole: Vec<Read>,
    refused: usize,
}

impl Scene {
    fn new(in_log: bool) -> Scene {
        let directory = tempdir().unwrap();
        journal(directory.path());
        if !in_log {
            checkpoint(directory.path());
        }
        let copy = tempdir().unwrap();
        copy_all(directory.path(), copy.path());
        let whole = all_read(copy.path()).unwrap();
        assert!(whole.iter().flat_map(Read::values).all(Result::is_ok), "{whole:?}");
        Scene { directory, whole, refused: 0 }
    }

    fn bytes(&self, file: &str) -> Vec<u8> {
        fs::read(self.directory.path().join(file)).unwrap()
    }

    /// Spoils a copy: everything that is read of it is as it was recorded.
    fn spoil(&mut self, how: &str, spoil: impl FnOnce(&Path)) {
        let copy = tempdir().unwrap();
        copy_all(self.directory.path(), copy.path());
        spoil(copy.path());
        let Ok(read) = all_read(copy.path()) else {
            self.refused += 1;
            return;
        };
        for (run, (read, whole)) in RUNS.iter().zip(read.iter().zip(&self.whole)) {
            for (question, answer) in read {
                if let Ok(text) = answer {
                    let recorded = whole[question].as_ref().unwrap();
                    assert_eq!(text, recorded, "{how}: {question} of {run}");
                }
            }
        }
        self.refused += usize::from(read.iter().flat_map(Read::values).any(Result::is_err));
    }

    fn flip_bits(&mut self, file: &str, times: u64, seed: u64) {
        let whole = self.bytes(file);
        let mut dice = Dice(seed);
        for _ in 0..times {
            let bit = dice.below(whole.len() as u64 * 8) as usize;
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            self.spoil(&format!("bit {bit} of {file}"), |dir| {
                fs::write(dir.join(file), &bytes).unwrap();
            });
        }
    }
}

fn copy_all(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target: PathBuf = to.join(path.file_name().unwrap());
        if path.is_dir() {
            fs::create_dir(&target).unwrap();
            copy_all(&path, &target);
        } else if !path.to_str().unwrap().ends_with("-shm") {
            fs::copy(&path, &target).unwrap();
        }
    }
}

#[test]
fn a_flipped_bit_of_the_database_is_noticed_or_harmless() {
    let mut scene = Scene::new(false);
    scene.flip_bits(DATABASE, 1_000, 0x51ED_5EED);
    assert!(scene.refused > 100, "{}", scene.refused);
}

#[test]
fn a_flipped_bit_of_the_log_is_noticed_or_harmless() {
    let mut scene = Scene::new(true);
    scene.flip_bits(LOG, 1_000, 0xB170_F106);
    assert!(scene.refused > 500, "{}", scene.refused);
}

#[test]
fn a_flipped_bit_of_a_file_beside_the_run_is_noticed() {
    let mut scene = Scene::new(false);
    scene.flip_bits(LARGE, 300, 0x0B16_F11E);
    scene.flip_bits(NOTED, 300, 0x1A57_FAC7);
    assert_eq!(scene.refused, 600);
}

#[test]
fn a_cut_file_is_noticed() {
    for (in_log, file) in [(true, LOG), (false, DATABASE), (false, LARGE), (false, NOTED)] {
        let mut scene = Scene::new(in_log);
        let whole = scene.bytes(file);
        for part in 0..60 {
            let len = whole.len() * part / 60;
            // An empty note is what a power cut leaves of one that was just made.
            if file != NOTED || len > 0 {
                scene.spoil(&format!("{len} bytes of {file}"), |dir| {
                    fs::write(dir.join(file), &whole[..len]).unwrap();
                });
            }
        }
        assert!(scene.refused >= 58, "{file}: {}", scene.refused);
    }
}

/// A backup that was copied over the journal, and a journal without its log.
#[test]
fn an_older_journal_is_noticed() {
    let scene = &mut Scene::new(true);
    scene.spoil("no log", |dir| fs::remove_file(dir.join(LOG)).unwrap());
    assert_eq!(scene.refused, 1);
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let (run, later) = (create(&mut store, "7f3k"), id("6q0d"));
    store.append(&run, &[fact("1"), fact("2")], None).unwrap();
    store.settle_run(&run).unwrap();
    let older = fs::read(directory.path().join(DATABASE)).unwrap();
    store.append(&run, &[fact("3")], None).unwrap();
    create(&mut store, "6q0d");
    drop(store);
    fs::remove_file(directory.path().join(LOG)).unwrap();
    fs::write(directory.path().join(DATABASE), older).unwrap();

    let mut store = Store::open(directory.path()).unwrap();
    let lost = store.facts(&run).unwrap_err();
    assert!(matches!(lost, StoreError::LostFacts { noted: 3, found: 2, .. }), "{lost:?}");
    for error in [store.run(&later).unwrap_err(), store.find("6q0d").unwrap_err()] {
        assert!(matches!(error, StoreError::LostRun { .. }), "{error:?}");
    }
    assert_eq!(problems(&store).len(), 2, "{:?}", problems(&store));
    // The user decides to continue from what is left.
    fs::remove_file(store.run_directory(&run).join("last-fact")).unwrap();
    assert_eq!(store.facts(&run).unwrap().len(), 2);
    store.append(&run, &[fact("another third")], None).unwrap();
    assert_eq!(store.facts(&run).unwrap().len(), 3);
}

/// Facts, outputs and plans that are valid, and not where they were recorded.
#[test]
fn swapped_rows_are_noticed() {
    let swap = |table: &str, columns: &str, one: &str, other: &str| {
        format!(
            "CREATE TEMP TABLE t AS SELECT {columns} FROM {table} WHERE {one};
             UPDATE {table} SET ({columns}) = (SELECT {columns} FROM {table} WHERE {other}) WHERE {one};
             UPDATE {table} SET ({columns}) = (SELECT {columns} FROM t) WHERE {other};"
        )
    };
    let fact =
        "at_ms, kind, key, body, stdout_len, stdout_file, stdout_sum, stderr_len, stderr_file,
        stderr_sum, sum, stdout, stderr";
    let in_run = |seq| format!("run = 1 AND seq = {seq}");
    let other_run = "run = 2 AND seq = 4".to_owned();
    let spoiled = [
        swap("facts", fact, &in_run(4), &in_run(6)),
        swap("facts", fact, &in_run(4), &other_run),
        swap("facts", "stdout", &in_run(4), &in_run(6)),
        swap("facts", "body", &in_run(4), &in_run(6)),
        swap("plans", "plan, sum", "run = 1 AND version = 1", "run = 1 AND version = 2"),
        "DELETE FROM facts WHERE run = 1 AND seq = 13".to_owned(),
        "DELETE FROM plans WHERE run = 1 AND version = 2".to_owned(),
        "UPDATE runs SET directory = x'2f' WHERE n = 1".to_owned(),
        "UPDATE runs SET status = 'running' WHERE n = 1".to_owned(),
    ];
    let mut scene = Scene::new(false);
    for (done, sql) in spoiled.iter().enumerate() {
        scene.spoil(sql, |dir| {
            Connection::open(dir.join(DATABASE)).unwrap().execute_batch(sql).unwrap();
            let store = Store::open(dir).unwrap();
            assert!(!problems(&store).is_empty(), "{sql}");
        });
        assert_eq!(scene.refused, done + 1, "{sql}");
    }
}

#[test]
fn a_list_marks_a_damaged_row_and_shows_the_others() {
    let directory = tempdir().unwrap();
    journal(directory.path());
    let changed = "UPDATE runs SET cost_microusd = 7 WHERE n = 2";
    Connection::open(directory.path().join(DATABASE)).unwrap().execute_batch(changed).unwrap();
    let store = Store::open(directory.path()).unwrap();
    let rows = store.runs(&RunFilter::default()).unwrap();
    let shown: Vec<&str> = rows.iter().map(|row| row.summary.status.as_str()).collect();
    assert_eq!(shown, ["done", "damaged", "done"]);
    assert!(matches!(store.find("6q0d"), Err(StoreError::DamagedRun { .. })));
}

/// A lock that locks nothing, as on some network disks: the owner before records nothing more.
#[test]
fn a_run_that_another_took_over_is_not_recorded_any_more() {
    let directory = tempdir().unwrap();
    let mut first = Store::open(directory.path()).unwrap();
    let run = create(&mut first, "7f3k");
    first.append(&run, &[fact("1")], None).unwrap();
    let mut second = Store::open(directory.path()).unwrap();
    second.take_over(&run).unwrap();
    let refused = first.append(&run, &[fact("of the first")], None).unwrap_err();
    assert!(matches!(refused, StoreError::TakenOver(_)), "{refused:?}");
    second.append(&run, &[fact("2")], None).unwrap();
    assert!(first.add_plan(&run, "another", &[fact("3")], None).is_err());
    assert_eq!(crate::support::bodies(&second, &run), ["1", "2"]);
}

/// A copy of the database alone has every run that has ended.
#[test]
fn the_end_of_a_run_empties_the_log() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let run = create(&mut store, "7f3k");
    store.append(&run, &[fact("1")], None).unwrap();
    assert!(fs::metadata(directory.path().join(LOG)).unwrap().len() > 0);
    store.settle_run(&run).unwrap();
    assert_eq!(fs::metadata(directory.path().join(LOG)).unwrap().len(), 0);
    store.append(&run, &[fact("2")], None).unwrap();
    assert_eq!(crate::support::bodies(&store, &run), ["1", "2"]);
}
