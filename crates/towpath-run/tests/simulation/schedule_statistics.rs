//! What the schedules of a simulation were like, for a user to see that they were of every kind.

use crate::simulated_world::Ending;
use std::collections::BTreeMap;
use std::fmt;
use towpath_recipe::Program;

/// What the schedules were like.
#[derive(Debug, Default)]
pub struct Spread {
    pub schedules: u64,
    pub crashed: u64,
    compared: u64,
    stops: u64,
    asked: u64,
    expired: u64,
    waited: u64,
    timed_out: u64,
    restarts: u64,
    reminders: u64,
    rescued: u64,
    machines: u64,
    exits: u64,
    crashes: BTreeMap<u32, u64>,
    steps: BTreeMap<usize, u64>,
    levels: BTreeMap<usize, u64>,
    outcomes: BTreeMap<String, u64>,
}

impl Spread {
    pub fn note(&mut self, program: &Program, ending: &Ending) {
        self.schedules += 1;
        self.crashed += u64::from(ending.crashes > 0);
        self.compared += u64::from(ending.comparable);
        self.stops += u64::from(ending.stops > 0);
        self.asked += u64::from(ending.asked > 0);
        self.expired += u64::from(ending.expired > 0);
        self.waited += u64::from(ending.waited > 0);
        self.timed_out += u64::from(ending.timed_out > 0);
        self.restarts += u64::from(ending.restarts > 0 && ending.crashes > 0);
        self.reminders += u64::from(ending.reminders > 0 && ending.crashes > 0);
        self.rescued += u64::from(ending.rescued > 0);
        let machine = program.root().machine().is_some();
        self.machines += u64::from(machine && ending.comparable);
        self.exits += u64::from(machine && ending.outcome == "done");
        *self.crashes.entry(ending.crashes.min(10)).or_default() += 1;
        *self.steps.entry(program.root().steps.len() / 5 * 5).or_default() += 1;
        *self.levels.entry(program.recipes.len()).or_default() += 1;
        *self.outcomes.entry(ending.outcome.clone()).or_default() += 1;
    }

    pub fn add(&mut self, other: &Spread) {
        self.schedules += other.schedules;
        self.crashed += other.crashed;
        self.compared += other.compared;
        self.stops += other.stops;
        self.asked += other.asked;
        self.expired += other.expired;
        self.waited += other.waited;
        self.timed_out += other.timed_out;
        self.restarts += other.restarts;
        self.reminders += other.reminders;
        self.rescued += other.rescued;
        self.machines += other.machines;
        self.exits += other.exits;
        merge(&mut self.crashes, &other.crashes);
        merge(&mut self.steps, &other.steps);
        merge(&mut self.levels, &other.levels);
        merge(&mut self.outcomes, &other.outcomes);
    }

    /// What must not be missing from the schedules.
    pub fn kinds(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("comparison", self.compared),
            ("stop", self.stops),
            ("question", self.asked),
            ("expiry", self.expired),
            ("limit", self.waited),
            ("timeout", self.timed_out),
            ("restart and a crash", self.restarts),
            ("reminder and a crash", self.reminders),
            ("complete answer at a crash or stop", self.rescued),
            ("machine that is compared", self.machines),
            ("machine that exits", self.exits),
        ]
    }
}

fn merge<K: Ord + Clone>(into: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    for (key, number) in from {
        *into.entry(key.clone()).or_default() += number;
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} schedules, {} with a crash", self.schedules, self.crashed)?;
        writeln!(f, "{} compared with the unbroken run", self.compared)?;
        for (what, number) in self.kinds() {
            writeln!(f, "  with a {what}: {number}")?;
        }
        writeln!(f, "crashes per schedule: {:?}", self.crashes)?;
        writeln!(f, "steps of the root recipe, by fives: {:?}", self.steps)?;
        writeln!(f, "levels of recipes: {:?}", self.levels)?;
        write!(f, "outcomes: {:?}", self.outcomes)
    }
}
