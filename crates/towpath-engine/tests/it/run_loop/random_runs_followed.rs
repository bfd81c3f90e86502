//! Random runs: the events that a follower derives from the journal are those that the owner reported,
//! whether it follows while the run goes or reads the journal afterwards.
//!
//! `TOWPATH_FOLLOWED` sets how many runs there are, `TOWPATH_SEED` the first seed.

#[path = "../../../../towpath-run/tests/simulation/random_machine.rs"]
mod random_machine;
#[allow(dead_code, reason = "the simulation uses the rest")]
#[path = "../../../../towpath-run/tests/simulation/random_numbers.rs"]
mod random_numbers;
#[allow(dead_code, reason = "the simulation uses the rest")]
#[path = "../../../../towpath-run/tests/simulation/random_plan.rs"]
mod random_plan;

use super::Setup;
use super::fake_executor::{FakeExecutor, Turn};
use crate::run_follower::{Recorded, assert_same};
use jiff::tz::TimeZone;
use random_numbers::Random;
use std::cell::RefCell;
use std::fs;
use std::rc::Rc;
use std::sync::Arc;
use towpath_core::{FaultKind, JobKind, RunId};
use towpath_engine::{Options, RunFollower};
use towpath_executor::{EndStatus, Finished, JobEvent, JobId, Responder, Stream};
use towpath_store::Store;

#[test]
fn a_follower_of_any_run_reports_what_its_owner_reports() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
    };
    let first = number("TOWPATH_SEED", 1);
    for seed in first..first + number("TOWPATH_FOLLOWED", 60) {
        let followed = std::panic::catch_unwind(|| follow(seed));
        assert!(followed.is_ok(), "TOWPATH_SEED={seed} TOWPATH_FOLLOWED=1 repeats it");
    }
}

fn follow(seed: u64) {
    let mut random = Random::new(seed);
    let program = random_plan::generate(&mut random, true);
    let program = Arc::into_inner(program).expect("nobody else has it");
    let setup = Setup::new("");
    let mut store = setup.store();
    let prepared = setup.create_program(&mut store, program, Options::default());
    let live = Rc::new(RefCell::new(Live::new(&setup, prepared.id())));
    let polled = Rc::clone(&live);
    let mut executor = FakeExecutor::new(move |turn| {
        if random.one_in(2) {
            polled.borrow_mut().poll();
        }
        end_one(turn, &mut random);
        Ok(())
    });
    executor.responder = Responder::Adapter;
    let id = prepared.id().clone();
    let mut owner = Recorded::default();
    let end = setup.drive_prepared(prepared, &mut store, &mut executor, &mut owner);
    end.expect("the run ends");
    let mut live = live.borrow_mut();
    live.poll();
    assert_same(&live.seen, &owner);
    let mut after = Live::new(&setup, &id);
    after.poll();
    assert_same(&after.seen, &owner);
}

/// A follower in another process: it has a connection of its own.
struct Live {
    store: Store,
    follower: RunFollower,
    seen: Recorded,
}

impl Live {
    fn new(setup: &Setup, id: &RunId) -> Live {
        let store = setup.store();
        let row = store.run(id).expect("it can be read").expect("a run");
        let follower = RunFollower::new(&store, row, TimeZone::UTC);
        Live { store, follower, seen: Recorded::default() }
    }

    fn poll(&mut self) {
        self.follower.poll(&self.store, &mut self.seen).expect("it can be followed");
    }
}

/// One of the jobs ends; those that were stopped end as stopped.
fn end_one(turn: &mut Turn<'_>, random: &mut Random) {
    let jobs: Vec<_> = turn.jobs.keys().copied().collect();
    let job = jobs[random.below(jobs.len())];
    let stopped = turn.stopped.contains(&job) || turn.killed.contains(&job);
    let agent = turn.jobs[&job].key.kind == JobKind::Agent;
    let status = match random.below(20) {
        _ if stopped => EndStatus::Stopped,
        0 if agent => EndStatus::Faulted { kind: FaultKind::Overloaded, until_ms: None },
        1 if agent => EndStatus::Faulted { kind: FaultKind::Limit, until_ms: Some(1) },
        0 => EndStatus::Exited(3),
        1 => EndStatus::Signalled(6),
        2 => EndStatus::TimedOut,
        _ => EndStatus::Exited(0),
    };
    let outcomes = ["left", "right", "other", "success", "failure", "third", "listed"];
    let outcome = outcomes[random.below(outcomes.len())];
    let text = match random.below(5) {
        0 => String::new(),
        1 => "one\ntwo".to_owned(),
        _ => format!("{{\"outcome\": \"{outcome}\", \"otherDescription\": \"so\"}}\n"),
    };
    let warning = if random.one_in(4) { "a warning\n" } else { "" };
    let mut finished = Finished::new(job, status);
    if agent {
        let answered = matches!(finished.status, EndStatus::Exited(0)) && !text.is_empty();
        print(turn, &finished, ["", warning]);
        finished.answer = answered.then(|| text.trim_end().to_owned());
        if let Some(answer) = &finished.answer {
            report(turn, job, Stream::Stdout, &format!("{answer}\n"));
        }
    } else {
        print(turn, &finished, [&text, warning]);
    }
    turn.finish(finished);
}

/// A job prints on stdout and stderr. What hooks print is no step's output, and git's is not shown.
fn print(turn: &mut Turn<'_>, finished: &Finished, texts: [&str; 2]) {
    let kind = turn.jobs[&finished.job].key.kind;
    let streams = [(Stream::Stdout, &finished.stdout), (Stream::Stderr, &finished.stderr)];
    for ((stream, file), text) in streams.into_iter().zip(texts) {
        if text.is_empty() {
            continue;
        }
        fs::write(turn.path(file), text).expect("a file");
        if kind.is_hook() || kind.is_work() {
            let stream = if kind.is_hook() { Stream::Stderr } else { stream };
            report(turn, finished.job, stream, text);
        }
    }
}

fn report(turn: &mut Turn<'_>, job: JobId, stream: Stream, text: &str) {
    let event = JobEvent::Output { job: &turn.jobs[&job].key, stream, bytes: text.as_bytes() };
    turn.observer.event(event);
}
