//! Prints what the journal costs on this machine: `cargo run --release --example journal_open_append_load_speed`.
//!
//! Numbers to look at, never to assert: they depend on the disk and on what else runs.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use towpath_core::RunId;
use towpath_store::{NewFact, NewRun, OutputRef, Store, Summary};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let directory = tempfile::tempdir()?;
    let dir = directory.path();
    let first = timed(|| Store::open(dir).map(drop))?;
    println!("first open, creates the database   {}", shown(first));
    println!("open and close, median             {}", shown(median(200, || open(dir))?));
    let whole = median(200, || short_run(dir))?;
    println!("open, create a run, 3 appends      {}", shown(whole));
    appends(dir)?;
    replay(dir)
}

fn open(dir: &Path) -> Outcome<()> {
    Ok(Store::open(dir).map(drop)?)
}

fn short_run(dir: &Path) -> Outcome<()> {
    let mut store = Store::open(dir)?;
    let run = create(&mut store)?;
    for i in 0..3 {
        store.append(&run, &step(i), Some(&summary(i)))?;
    }
    Ok(())
}

fn appends(dir: &Path) -> Outcome<()> {
    let mut store = Store::open(dir)?;
    let run = create(&mut store)?;
    let mut i = 0;
    let append = median(2000, || {
        i += 1;
        Ok(store.append(&run, &step(i), Some(&summary(i)))?)
    })?;
    println!("append of 2 facts and the summary  {}", shown(append));
    Ok(())
}

fn replay(dir: &Path) -> Outcome<()> {
    let mut store = Store::open(dir)?;
    let run = create(&mut store)?;
    for batch in 0..50 {
        let facts: Vec<NewFact> = (0..100).flat_map(|i| step(batch * 100 + i)).collect();
        store.append(&run, &facts, None)?;
    }
    drop(store);
    let store = Store::open_for_reading(dir)?.ok_or("the database is gone")?;
    let mut count = 0;
    let loading = median(5, || {
        count = store.facts(&run)?.len();
        Ok(())
    })?;
    println!("load {count} facts for replay       {}", shown(loading));
    Ok(())
}

fn create(store: &mut Store) -> Outcome<RunId> {
    let new = NewRun {
        recipe: "ship-release".into(),
        source: "recipes/ship-release.yaml".into(),
        directory: PathBuf::from("/home/me/shop"),
        plan: "x".repeat(4000),
        created_ms: 0,
        summary: summary(0),
    };
    let random = || uuid::Uuid::new_v4().into_bytes();
    let mut next = |length: u32| RunId::from_random(&random(), length as usize);
    Ok(store.create_run(&new, &mut next, &[NewFact::new(0, "run_started", "{}")])?)
}

/// The end of one job and the start of the next, as the engine records them.
fn step(i: i64) -> [NewFact; 2] {
    let finished = NewFact {
        key: Some(format!("step-{i}#1.0.0:bash")),
        stdout: Some(OutputRef::inline("compiled 12 crates\n".repeat(10))),
        stderr: Some(OutputRef::inline("")),
        ..NewFact::new(i, "job_finished", r#"{"status":"done","exit":0,"took_ms":12}"#)
    };
    let body = format!(r#"{{"script":"cargo build --workspace {}"}}"#, "x".repeat(200));
    let started = NewFact {
        key: Some(format!("step-{}#1.0.0:bash", i + 1)),
        ..NewFact::new(i, "job_started", body)
    };
    [finished, started]
}

fn summary(i: i64) -> Summary {
    Summary { active_ms: i, ..Summary::default() }
}

fn timed<E: Error + 'static>(work: impl FnOnce() -> Result<(), E>) -> Outcome<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

fn median(times: usize, mut work: impl FnMut() -> Outcome<()>) -> Outcome<Duration> {
    let mut all = Vec::new();
    for _ in 0..times {
        let start = Instant::now();
        work()?;
        all.push(start.elapsed());
    }
    all.sort();
    Ok(all[all.len() / 2])
}

fn shown(time: Duration) -> String {
    format!("{:8.3} ms", time.as_secs_f64() * 1000.0)
}
