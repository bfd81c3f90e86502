//! The runner is killed with `kill -9` at random instants and resumed until the run ends. Real
//! processes, real journal. `TOWPATH_KILLS` sets the number of kills (by default 200).
//! Machines, whose wardens and agents are killed too, are in `kill/machines.rs`.
#![allow(clippy::print_stdout, reason = "the counters are meant to be read")]

mod machines_killed_at_random_instants;
#[path = "../support/mod.rs"]
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};
use support::User;
use towpath_core::{Map, RunId};
use towpath_engine::recorded;
use towpath_run::{Fact, Limits, RunOutcome};

/// What the runner was doing when it was killed, derived from its journal and the steps' own ledger.
const WINDOWS: [&str; 6] = [
    "during resume",
    "before Started",
    "Started to spawn",
    "running",
    "end to Finished",
    "between steps",
];

/// A generator of random numbers; the seed is printed.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn micros(&mut self, below: u64) -> Duration {
        Duration::from_micros(self.next() % below)
    }
}

fn user() -> User {
    let user = User::new()
        .file("thirty.yaml", &recipe("thirty", 20, true))
        .file("inner.yaml", &recipe("inner", 4, false));
    fs::create_dir(user.path("work/locks")).expect("a directory for locks");
    user
}

fn ledger(user: &User) -> Vec<String> {
    user.read("ledger").lines().map(str::to_owned).collect()
}

/// A step that notes its start and its end, and would note a living twin.
fn command(id: &str, ms: u64) -> String {
    format!(
        "      exec 9>>$PWD/locks/{id}; flock -n 9 || echo \"overlap {id}\" >> ledger\n      \
         echo \"start $TOWPATH_JOB\" >> ledger\n      sleep 0.{ms:03}\n      \
         echo \"end $TOWPATH_JOB\" >> ledger\n      echo out-{id}\n"
    )
}

/// With groups and, in the outer one, called recipes: 20 + 2 × 5 steps and the calls.
fn recipe(name: &str, steps: usize, outer: bool) -> String {
    let mut text = format!("name: {name}\nsteps:\n");
    for index in 0..=steps {
        let id = format!("{}{index}", if outer { "o" } else { "i" });
        text.push_str(&format!("  - id: {id}\n"));
        if outer && (index == 5 || index == 12) {
            text.push_str("    recipe: inner\n");
            continue;
        }
        text.push_str(&format!("    command: |\n{}", command(&id, (index as u64 * 7) % 15)));
        if (outer && (14..18).contains(&index)) || (!outer && index > 2) {
            text.push_str("    parallel_group: g\n");
        }
        if outer && index == 7 {
            text.push_str("    continue_on_error: true\n");
        }
    }
    text
}

/// The steps that the journal shows are finished.
fn finished(facts: &[Fact]) -> BTreeSet<String> {
    let ended = facts.iter().filter_map(|fact| match fact {
        Fact::JobFinished { key, end } if end.succeeded() => Some(key.step_path().to_string()),
        _ => None,
    });
    ended.collect()
}

fn step_of(job: &str) -> String {
    job.parse::<towpath_core::JobKey>().expect("a job's key").step_path().to_string()
}

/// Which window a kill hit. `before` and `noted` are the lengths of journal and ledger when the
/// round began.
fn window(facts: &[Fact], before: usize, ledger: &[String], noted: usize) -> &'static str {
    let new = &facts[before.min(facts.len())..];
    if new.is_empty() {
        return "during resume";
    }
    let mut open: Vec<String> = Vec::new();
    let mut ended = false;
    for fact in new {
        match fact {
            Fact::JobStarted { key, .. } => open.push(key.to_string()),
            Fact::JobFinished { key, .. } => {
                ended = true;
                open.retain(|k| *k != key.to_string());
            }
            _ => {}
        }
    }
    let noted = &ledger[noted.min(ledger.len())..];
    let has = |word: &str, key: &str| noted.iter().any(|l| *l == format!("{word} {key}"));
    if open.is_empty() {
        return "before Started";
    }
    if open.iter().any(|key| has("end", key)) {
        return "end to Finished";
    }
    if open.iter().any(|key| !has("start", key)) {
        return if ended { "between steps" } else { "Started to spawn" };
    }
    "running"
}

/// Waits for an instant that is random, and near what the round is to hit.
fn wait_for_instant(user: &User, round: u64, dice: &mut Dice, child: &mut Child) {
    let size = || fs::metadata(user.path("work/ledger")).map_or(0, |m| m.len());
    let deadline = Instant::now() + Duration::from_secs(5);
    let sleep = match round % 5 {
        0 => dice.micros(9_000),
        1 => dice.micros(250_000),
        4 => {
            // Just after one of the first commits.
            wait_for_commits(user, 1 + dice.next() % 2, deadline, child);
            dice.micros(300)
        }
        kind => {
            // Just after some step has noted something; then a little later.
            let wanted = 1 + dice.next() % 6;
            let mut seen = 0;
            let mut last = size();
            while seen < wanted && Instant::now() < deadline {
                if size() != last {
                    last = size();
                    seen += 1;
                }
                if child.try_wait().expect("the runner can be waited for").is_some() {
                    return;
                }
                std::thread::sleep(Duration::from_micros(60));
            }
            if kind == 2 { dice.micros(600) } else { dice.micros(3_000) }
        }
    };
    std::thread::sleep(sleep);
}

/// Waits until the journal has been written to this often.
fn wait_for_commits(user: &User, commits: u64, deadline: Instant, child: &mut Child) {
    let written = || {
        let journal = fs::read_dir(user.path("home/state")).into_iter().flatten();
        let logs =
            journal.filter_map(Result::ok).filter(|e| e.path().to_string_lossy().ends_with("-wal"));
        logs.filter_map(|e| e.metadata().ok()?.modified().ok()).max()
    };
    let mut last = written();
    let mut seen = 0;
    while seen < commits && Instant::now() < deadline {
        if written() != last {
            last = written();
            seen += 1;
        }
        if child.try_wait().expect("the runner can be waited for").is_some() {
            return;
        }
        std::thread::sleep(Duration::from_micros(40));
    }
}

fn nothing_lives(run: &RunId) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !towpath_process::marked(run.as_str()).is_empty() {
        assert!(Instant::now() < deadline, "alive: {:?}", towpath_process::marked(run.as_str()));
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn final_context(user: &User, run: &RunId) -> (Option<RunOutcome>, Map) {
    let store = user.store();
    let recorded = recorded(&store, run, Limits::default()).expect("the run can be replayed");
    (recorded.run.outcome(), recorded.run.context().clone())
}

#[test]
fn killed_at_random_instants_a_run_loses_nothing_and_repeats_nothing_finished() {
    let kills: u64 =
        std::env::var("TOWPATH_KILLS").ok().and_then(|v| v.parse().ok()).unwrap_or(200);
    let seed: u64 = std::process::id().into();
    let mut dice = Dice(0x2545_f491_4f6c_dd1d ^ seed);
    println!("seed {seed}");
    let unbroken = user();
    unbroken.towpath(&["run", "thirty.yaml"]).exits(0);
    let expected = final_context(&unbroken, &unbroken.run());
    assert_eq!(expected.0, Some(RunOutcome::Done));

    let mut windows: BTreeMap<&str, u64> = WINDOWS.iter().map(|w| (*w, 0)).collect();
    let (mut killed, mut runs, mut round) = (0, 0, 0);
    while killed < kills || windows.values().any(|n| *n < 10) {
        assert!(killed < kills * 5 + 2000, "some window is never hit: {windows:?}");
        let user = user();
        runs += 1;
        let mut run: Option<RunId> = None;
        loop {
            round += 1;
            let before = run.as_ref().map_or(0, |r| user.facts(r).len());
            let done = run.as_ref().map(|r| finished(&user.facts(r))).unwrap_or_default();
            let noted = ledger(&user).len();
            let mut child = match &run {
                None => user.start(&["run", "thirty.yaml"]),
                Some(id) => user.start(&["resume", id.as_str()]),
            };
            wait_for_instant(&user, round, &mut dice, &mut child);
            let by_itself = child.try_wait().expect("the runner can be waited for");
            child.kill().ok();
            child.wait().expect("the runner is gone");
            if run.is_none() {
                run = user.newest();
            }
            let Some(id) = run.clone() else { continue };
            nothing_lives(&id);
            let ledger = ledger(&user);
            for line in &ledger[noted..] {
                if let Some(job) = line.strip_prefix("start ") {
                    assert!(!done.contains(&step_of(job)), "{job} started after its committed end");
                }
                assert!(!line.starts_with("overlap"), "{line}");
            }
            let facts = user.facts(&id);
            if facts.iter().rev().any(|f| matches!(f, Fact::Ended { .. })) {
                if let Some(status) = by_itself {
                    assert!(status.success(), "the resumed run ends well: {status}");
                }
                break;
            }
            assert!(by_itself.is_none(), "the runner ended without ending the run: {by_itself:?}");
            killed += 1;
            *windows.get_mut(window(&facts, before, &ledger, noted)).expect("a known window") += 1;
        }
        let id = run.expect("a run that ended is recorded");
        assert_eq!(final_context(&user, &id), expected, "the result of an unbroken run");
        everything_ran(&ledger(&user));
    }
    println!("{killed} kills in {runs} runs");
    for name in WINDOWS {
        println!("  {name}: {}", windows[name]);
    }
}

/// Nothing is lost: every step has noted an end.
fn everything_ran(ledger: &[String]) {
    let ended: BTreeSet<String> =
        ledger.iter().filter_map(|l| l.strip_prefix("end ")).map(step_of).collect();
    assert_eq!(ended.len(), 19 + 2 * 5, "{ended:?}");
}
