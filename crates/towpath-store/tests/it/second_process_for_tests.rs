//! Another process that uses the journal: this test binary, started again with a part to play.
//!
//! It reports what it did in lines on stdout, each after the fact, and is often killed.

use crate::support::{Dice, create, fact, id, new_run, problems};
use std::env;
use std::io::{BufRead as _, BufReader, Lines, Read, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use towpath_core::RunId;
use towpath_store::{NewFact, NewRun, OutputRef, Store, StoreError};

const PART: &str = "TOWPATH_STORE_TEST_PART";
const DIR: &str = "TOWPATH_STORE_TEST_DIR";
const ARGUMENT: &str = "TOWPATH_STORE_TEST_ARGUMENT";

/// A command that plays `part`; `wrapper` is put before it, as `sudo` would be.
pub fn command(wrapper: &[&str], part: &str, dir: &Path, argument: &str) -> Command {
    let exe = env::current_exe().unwrap();
    let mut command = match wrapper {
        [] => Command::new(exe),
        [program, rest @ ..] => {
            let mut command = Command::new(program);
            command.args(rest).arg(exe);
            command
        }
    };
    command.args([
        "--exact",
        "second_process_for_tests::play",
        "--ignored",
        "--nocapture",
        "--test-threads=1",
    ]);
    command.env(PART, part).env(DIR, dir).env(ARGUMENT, argument);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

pub struct Playing {
    pub child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

pub fn start(part: &str, dir: &Path, argument: &str) -> Playing {
    let mut child = command(&[], part, dir, argument).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    Playing { child, lines }
}

impl Playing {
    /// The next thing it shows; `None` when it has ended.
    pub fn next(&mut self) -> Option<String> {
        self.lines.by_ref().map(Result::unwrap).find_map(|line| printed(&line))
    }

    /// Ends it the hard way; what it had reported by then.
    pub fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::iter::from_fn(|| self.next()).collect()
    }

    /// Everything it shows until it ends, which it must do well.
    pub fn finish(mut self) -> Vec<String> {
        let all = std::iter::from_fn(|| self.next()).collect();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "the child failed ({status}) after {all:?}");
        all
    }
}

/// The test runner talks on the same stream: ours has a mark.
pub fn printed(line: &str) -> Option<String> {
    line.split_once("» ").map(|(_, text)| text.to_owned())
}

fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("» {text}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

#[test]
#[ignore = "a part that other tests start in a process of its own"]
fn play() {
    let dir = env::var_os(DIR).expect("started by another test");
    let dir = Path::new(&dir);
    let argument = env::var(ARGUMENT).unwrap();
    match env::var(PART).unwrap().as_str() {
        "append" => append_batches(dir, &argument, u64::MAX),
        "append-500" => append_batches(dir, &argument, 500),
        "create" => create_journal(dir, &argument, &mut std::io::empty()),
        "create-on-signal" => create_journal(dir, &argument, &mut std::io::stdin()),
        "fill" => fill(dir),
        "fill-then-free" => fill_then_free(dir),
        "look-and-write" => look_and_write(dir),
        other => panic!("no part {other}"),
    }
}

/// Batches of different sizes; each fact shows its batch, its part and of how many.
fn append_batches(dir: &Path, name: &str, count: u64) {
    let mut store = Store::open(dir).unwrap();
    let run = create(&mut store, name);
    print("created");
    let mut dice = Dice(0x9e37_79b9 + u64::from(name.as_bytes()[3]));
    for batch in 0..count {
        let size = 1 + dice.below(4);
        let facts: Vec<_> =
            (0..size).map(|part| batch_fact(batch, part, size, &mut dice)).collect();
        store.append(&run, &facts, None).unwrap();
        print(&batch.to_string());
    }
}

fn batch_fact(batch: u64, part: u64, size: u64, dice: &mut Dice) -> NewFact {
    let output = vec![b'x'; dice.below(9_000) as usize];
    let stdout = Some(OutputRef::inline(output));
    NewFact { stdout, ..fact(&format!("[{batch},{part},{size}]")) }
}

/// Begins once `signal` has ended.
fn create_journal(dir: &Path, name: &str, signal: &mut dyn Read) {
    print("ready");
    signal.read_to_end(&mut Vec::new()).unwrap();
    let mut store = Store::open(dir).unwrap();
    print("opened");
    create(&mut store, name);
    print("created");
}

const BATCH: usize = 3;

/// Appends until it fails; shows how many batches went well and how the first one failed.
fn append_until_refused(store: &mut Store, run: &RunId) -> (usize, StoreError) {
    let output = || Some(OutputRef::inline(vec![b'x'; 20_000]));
    let batch = [0; BATCH].map(|_| NewFact { stdout: output(), ..fact("{}") });
    let mut whole = 0;
    loop {
        match store.append(run, &batch, None) {
            Ok(()) => whole += 1,
            Err(error) => return (whole, error),
        }
    }
}

fn refused_as(error: &StoreError) -> &'static str {
    match error {
        StoreError::Full { .. } => "full",
        StoreError::Unwritable { .. } => "unwritable",
        other => panic!("{other}"),
    }
}

fn fill(dir: &Path) {
    let mut store = Store::open(dir).unwrap();
    let run = create(&mut store, "7f3k");
    let (whole, error) = append_until_refused(&mut store, &run);
    print(refused_as(&error));
    print(&whole.to_string());
    assert_eq!(store.facts(&run).unwrap().len(), whole * BATCH);
    let large = NewRun { plan: "p".repeat(200_000), ..new_run() };
    let second = store.create_run(&large, &mut |_| id("6q0d"), &[]);
    refused_as(&second.unwrap_err());
    assert!(!store.run_directory(&id("6q0d")).exists());
}

fn fill_then_free(dir: &Path) {
    let ballast = dir.join("ballast");
    std::fs::write(&ballast, vec![0; 400_000]).unwrap();
    fill(dir);
    std::fs::remove_file(ballast).unwrap();
    let mut store = Store::open(dir).unwrap();
    let before = store.facts(&id("7f3k")).unwrap().len();
    store.append(&id("7f3k"), &[fact("after")], None).unwrap();
    let facts = store.facts(&id("7f3k")).unwrap();
    assert_eq!((facts.len(), facts[before].body.as_str()), (before + 1, "after"));
    assert_eq!(problems(&store), Vec::<String>::new());
    print("recovered");
}

/// Where nothing can be written: looking works, writing is refused.
fn look_and_write(dir: &Path) {
    let store = Store::open_for_reading(dir).unwrap().unwrap();
    print(&store.facts(&id("7f3k")).unwrap().len().to_string());
    print(refused_as(&Store::open(dir).unwrap_err()));
}
