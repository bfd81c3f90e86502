//! The pure run under a virtual clock: random plans, random completions, failures, crashes,
//! stops and resumes. No process, no clock, no disk; a failing schedule is repeated by its seed.
//!
//! `TOWPATH_SCHEDULES` sets how many schedules run (100,000 unless reported otherwise), and
//! `TOWPATH_SEED` the first seed.

#![allow(clippy::print_stdout, reason = "the spread of the schedules is meant to be read")]
#![allow(clippy::disallowed_methods, reason = "the world around the run is not pure")]

mod find_step_in_plan;
mod machine_session_and_visit_checks;
mod promise_checks;
mod random_machine;
mod random_numbers;
mod random_plan;
mod schedule_statistics;
mod simulated_world;

use random_numbers::Random;
use schedule_statistics::Spread;
use simulated_world::World;
use std::sync::Mutex;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

#[test]
fn random_schedules_keep_every_promise() {
    let schedules = number("TOWPATH_SCHEDULES", 100_000);
    let first = number("TOWPATH_SEED", 1);
    let per_plan = 20;
    let plans = schedules.div_ceil(per_plan);
    let spread = Mutex::new(Spread::default());
    let threads = std::thread::available_parallelism().map_or(2, usize::from) as u64;
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let spread = &spread;
            scope.spawn(move || {
                let mut own = Spread::default();
                for plan in (thread..plans).step_by(threads as usize) {
                    one_plan(first + plan, per_plan, &mut own);
                }
                spread.lock().expect("no thread panics while it holds this").add(&own);
            });
        }
    });
    let spread = spread.into_inner().expect("the threads are done");
    println!("{spread}");
    assert!(spread.schedules >= schedules);
    assert!(spread.crashed * 2 >= spread.schedules, "a crash in at least half of the schedules");
    for (what, number) in spread.kinds() {
        assert!(
            number * 1000 >= schedules,
            "{what} must occur in the schedules, not {number} times"
        );
    }
}

fn one_plan(seed: u64, schedules: u64, spread: &mut Spread) {
    let mut random = Random::new(seed);
    let program = random_plan::generate(&mut random, true);
    let unbroken = World::new(&program, None).run_to_end();
    for schedule in 0..schedules {
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(schedule);
        let broken = World::new(&program, Some(Random::new(seed))).run_to_end();
        spread.note(&program, &broken);
        if broken.comparable && unbroken.comparable {
            assert_eq!(
                broken.result,
                unbroken.result,
                "seed {seed}: a resumed run ends as the unbroken one\n{}",
                random_plan::text(&program)
            );
        }
    }
}
