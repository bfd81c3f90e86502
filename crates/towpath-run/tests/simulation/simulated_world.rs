//! A world for a run: it executes jobs with results that depend only on the step, keeps the
//! journal, and breaks things at random.

use crate::machine_session_and_visit_checks::Calls;
use crate::random_numbers::{Random, hash};
use std::collections::BTreeSet;
use std::sync::Arc;
use towpath_core::{FaultKind, JobKey, JobKind, StepPath};
use towpath_recipe::{Effect, Program};
use towpath_run::{
    Answer, Fact, Fault, Job, JobEnd, JobStatus, JobWork, Limits, Output, Run, RunOutcome,
    StepView, StopReason, read_report,
};

pub const AGENTS: usize = 2;
/// An outcome that no step lists: of a command it is a failure, which is tried again.
const UNHEARD_OF: &str = "unheard-of";

/// How a schedule ended, and what happened on the way.
#[derive(Debug)]
pub struct Ending {
    /// Outcome, every step's status and the final context, as text.
    pub result: String,
    /// Nothing happened that may rightly change the result.
    pub comparable: bool,
    pub crashes: u32,
    pub stops: u32,
    pub asked: u32,
    pub expired: u32,
    pub waited: u32,
    pub timed_out: u32,
    pub restarts: u32,
    pub reminders: u32,
    /// Answers that a crash or a stop did not lose.
    pub rescued: u32,
    pub outcome: String,
}

pub struct World {
    pub program: Arc<Program>,
    pub seed: u64,
    /// None: nothing is broken, and jobs end in the order they started.
    pub chaos: Option<Random>,
    pub run: Run,
    pub journal: Vec<(Fact, i64)>,
    pub in_flight: Vec<Job>,
    pub clock: i64,
    pub succeeded: BTreeSet<String>,
    /// Every key that was ever started.
    pub keys: BTreeSet<String>,
    /// Agent calls that have answered, whichever attempt it was.
    pub paid: BTreeSet<String>,
    /// Recipe steps whose time ran out under this owner.
    pub expired: Vec<StepPath>,
    pub calls: Calls,
    pub waited_for: BTreeSet<String>,
    pub ending: Ending,
}

impl World {
    pub fn new(program: &Arc<Program>, chaos: Option<Random>) -> World {
        let run = Run::new(Arc::clone(program), Limits { agents: AGENTS, ..Limits::DEFAULT });
        let ending = Ending {
            result: String::new(),
            comparable: true,
            crashes: 0,
            stops: 0,
            asked: 0,
            expired: 0,
            waited: 0,
            timed_out: 0,
            restarts: 0,
            reminders: 0,
            rescued: 0,
            outcome: String::new(),
        };
        World {
            program: Arc::clone(program),
            // Results are a property of the plan, not of the schedule.
            seed: seed_of(program),
            chaos,
            run,
            journal: Vec::new(),
            in_flight: Vec::new(),
            clock: 0,
            succeeded: BTreeSet::new(),
            keys: BTreeSet::new(),
            paid: BTreeSet::new(),
            expired: Vec::new(),
            calls: Calls::default(),
            waited_for: BTreeSet::new(),
            ending,
        }
    }

    pub fn run_to_end(mut self) -> Ending {
        self.fact(Fact::Started);
        for _ in 0..20_000 {
            self.start_wanted();
            if let Some(outcome) = self.run.outcome() {
                assert!(self.in_flight.is_empty());
                if self.continue_after(&outcome) {
                    continue;
                }
                return self.end(&outcome);
            }
            assert!(
                !self.in_flight.is_empty(),
                "nothing runs, nothing is wanted, no outcome\n{}",
                self.story()
            );
            self.something_happens();
        }
        panic!("the run does not end\n{}", crate::random_plan::text(&self.program));
    }

    /// The plan, the journal and the steps, for a user who looks for a fault.
    fn story(&self) -> String {
        let mut text = crate::random_plan::text(&self.program);
        for (fact, _) in &self.journal {
            text.push_str(&serde_json::to_string(fact).expect("a fact is JSON"));
            text.push('\n');
        }
        describe(&self.run.view(), &mut text);
        text
    }

    fn fact(&mut self, fact: Fact) {
        self.clock += 1;
        self.run.apply(&fact, self.clock).expect("the run takes what the world records");
        for event in self.run.take_events() {
            self.calls.happened(&event);
        }
        if fact == Fact::Resumed {
            self.expired.clear();
            // The step that gave up is visited again, and may report something else.
            self.ending.comparable &= self.calls.failing_exits == 0;
        }
        self.journal.push((fact, self.clock));
    }

    fn roll(&mut self, one_in: usize) -> bool {
        self.chaos.as_mut().is_some_and(|random| random.one_in(one_in))
    }

    fn start_wanted(&mut self) {
        'wanted: loop {
            let jobs = self.run.next();
            if jobs.is_empty() {
                return;
            }
            for job in jobs {
                // A crash between two records: the second job was never started.
                if self.roll(150) {
                    self.crash();
                    continue 'wanted;
                }
                self.check_start(&job);
                let machine = self.is_machine(job.key.frame.as_ref());
                if let (JobWork::Agent(agent), true) = (&job.work, machine) {
                    self.calls.started(&job.key, agent, &self.program.plan.machine);
                }
                assert!(self.keys.insert(job.key.to_string()), "{} twice", job.key);
                self.fact(Fact::job_started(job.key.clone()));
                self.in_flight.push(job);
            }
        }
    }

    fn something_happens(&mut self) {
        if self.roll(9) {
            return self.crash();
        }
        if self.roll(60) {
            return self.stop();
        }
        if self.roll(25)
            && let Some(timer) = self.run.timers().first().cloned()
        {
            self.ending.expired += 1;
            self.ending.comparable = false;
            self.fact(Fact::Expired { step: timer.step.clone() });
            self.expired.push(timer.step);
            for key in self.run.unwanted() {
                // Some end by themselves just before they are ended.
                let by_itself = self.roll(3);
                let job = self.in_flight.iter().find(|job| job.key == key).cloned();
                let end = match job.filter(|_| by_itself) {
                    Some(job) => self.result(&job),
                    None => JobEnd::new(JobStatus::Stopped),
                };
                self.finish(&key, end);
            }
            return;
        }
        let index = match &mut self.chaos {
            Some(random) => random.below(self.in_flight.len()),
            None => 0,
        };
        let job = self.in_flight[index].clone();
        let end = self.result(&job);
        self.finish(&job.key, end);
    }

    fn finish(&mut self, key: &JobKey, end: JobEnd) {
        self.in_flight.retain(|job| job.key != *key);
        self.note_end(key, &end);
        self.fact(Fact::JobFinished { key: key.clone(), end });
    }

    fn note_end(&mut self, key: &JobKey, end: &JobEnd) {
        let machine = key.kind == JobKind::Agent && self.is_machine(key.frame.as_ref());
        let unheard_of = key.kind == JobKind::Bash
            && end.output.text().is_some_and(|text| text.contains(UNHEARD_OF));
        if end.succeeded() && !unheard_of {
            self.succeeded.insert(name_of(key));
            if key.kind == JobKind::Agent {
                self.paid.insert(name_of(key));
            }
            if machine {
                self.calls.answered(key);
            }
        }
    }

    /// What a job gives: the same whenever and however often it runs.
    fn result(&mut self, job: &Job) -> JobEnd {
        let path = job.key.step_path();
        let dice = hash(&name_of(&job.key), self.seed) % 100;
        if !job.key.kind.is_work() {
            let code = if dice < 10 { 3 } else { 0 };
            let output = Output::Text(format!(" M {}", self.output(&path)));
            if matches!(job.key.kind, JobKind::Snapshot | JobKind::GitAdd) {
                return JobEnd { output, ..JobEnd::new(JobStatus::Exited(code)) };
            }
            return JobEnd::new(JobStatus::Exited(i32::from(dice < 10)));
        }
        if self.is_machine(job.key.frame.as_ref()) && !self.recovers(&job.key) {
            return self.machine_result(job, dice);
        }
        let status = match (dice, job.key.kind) {
            (0..4, JobKind::Agent) if self.waited_for.insert(path.to_string()) => {
                self.ending.waited += 1;
                JobStatus::Faulted(Fault { kind: FaultKind::Limit, until_ms: Some(self.clock) })
            }
            (4..8, JobKind::Agent) => {
                JobStatus::Faulted(Fault { kind: FaultKind::Overloaded, until_ms: None })
            }
            (8..10, JobKind::Agent) => {
                JobStatus::Faulted(Fault { kind: FaultKind::Auth, until_ms: None })
            }
            (0..6, JobKind::Bash) => JobStatus::Exited(1),
            (6..8, JobKind::Bash) if job.timeout.is_some() => {
                self.ending.timed_out += 1;
                JobStatus::TimedOut
            }
            (8..9, JobKind::Bash) => JobStatus::Signalled(6),
            _ => JobStatus::Exited(0),
        };
        let output = match (job.key.kind, job.key.call) {
            (JobKind::Agent, 1) if dice < 60 => format!("{{\"n\": {dice}}}"),
            (JobKind::Agent, 0) if dice > 80 => format!("so: {{\"n\": {dice}}}"),
            (JobKind::Agent, 0) if self.recovers(&job.key) && dice > 50 => "recovered".to_owned(),
            _ => self.output(&path),
        };
        JobEnd { output: Output::Text(output), ..JobEnd::new(status) }
    }

    /// What the work of a machine's step gives: a report, or none.
    fn machine_result(&mut self, job: &Job, dice: u64) -> JobEnd {
        let path = job.key.step_path();
        let fault = |kind, until_ms| JobStatus::Faulted(Fault { kind, until_ms });
        let status = match (dice, job.key.kind) {
            (0..4, JobKind::Agent) if self.waited_for.insert(name_of(&job.key)) => {
                self.ending.waited += 1;
                fault(FaultKind::Limit, Some(self.clock))
            }
            (4..6, JobKind::Agent) => fault(FaultKind::Overloaded, None),
            (6, JobKind::Agent) => fault(FaultKind::Auth, None),
            (0..6, JobKind::Bash) => JobStatus::Exited(1),
            (6..8, JobKind::Bash) if job.timeout.is_some() => {
                self.ending.timed_out += 1;
                JobStatus::TimedOut
            }
            (8, JobKind::Bash) => JobStatus::Signalled(6),
            _ => JobStatus::Exited(0),
        };
        let output = Output::Text(self.report(&path, &name_of(&job.key)));
        JobEnd { output, ..JobEnd::new(status) }
    }

    /// The text of a machine's answer: it names an outcome, one that is not listed, or none.
    fn report(&self, path: &StepPath, name: &str) -> String {
        let printed = self.output(path);
        let outcomes = self.run.outcomes_of(path);
        let dice = hash(name, self.seed ^ 1);
        match dice % 100 {
            0..20 => printed,
            20..24 => format!("{printed}\n{{\"outcome\": \"{UNHEARD_OF}\"}}"),
            _ => {
                let outcome = &outcomes[(dice / 100) as usize % outcomes.len()];
                let more = "\"otherDescription\": \"so it is\"";
                format!("{printed}\n{{\"outcome\": \"{outcome}\", {more}}}")
            }
        }
    }

    pub fn output(&self, path: &StepPath) -> String {
        format!("out {path} {}", hash(path.as_str(), self.seed) % 1000)
    }

    /// The runner is gone: only the journal is left.
    fn crash(&mut self) {
        self.ending.crashes += 1;
        let jobs = std::mem::take(&mut self.in_flight);
        self.replay();
        for job in jobs {
            // What some of the dead calls left on disk is complete.
            if let Some(end) = self.complete_answer(&job) {
                self.finish(&job.key, end);
            }
        }
        self.fact(Fact::Resumed);
        self.answer();
    }

    /// The good answer of a call, where it came just before its end.
    fn complete_answer(&mut self, job: &Job) -> Option<JobEnd> {
        if job.key.kind != JobKind::Agent || !self.roll(3) {
            return None;
        }
        let end = Some(self.result(job)).filter(JobEnd::succeeded)?;
        self.ending.rescued += 1;
        Some(end)
    }

    /// A run rebuilt from its journal is exactly where the lost one was.
    fn replay(&mut self) {
        let mut rebuilt =
            Run::new(Arc::clone(&self.program), Limits { agents: AGENTS, ..Limits::DEFAULT });
        for (fact, at) in &self.journal {
            rebuilt.apply(fact, *at).expect("a journal fits its plan");
        }
        assert_eq!(rebuilt.view(), self.run.view());
        assert_eq!(rebuilt.context(), self.run.context());
        assert_eq!(rebuilt.next(), self.run.next());
        assert_eq!(rebuilt.exit(), self.run.exit());
        assert_eq!(rebuilt.machine_view(), self.run.machine_view());
        self.run = rebuilt;
        self.run.take_events();
    }

    /// A signal: everything in flight is ended, the record is completed, a resume follows.
    fn stop(&mut self) {
        self.ending.stops += 1;
        self.fact(Fact::Stopping { reason: StopReason::Signal(2) });
        let jobs = std::mem::take(&mut self.in_flight);
        for job in jobs {
            // Some agents have answered before they are ended.
            let answer = self.complete_answer(&job);
            self.finish(&job.key, answer.unwrap_or_else(|| JobEnd::new(JobStatus::Stopped)));
        }
        assert!(self.run.next().is_empty(), "nothing starts once the run is stopping");
        let stopped = RunOutcome::Stopped { reason: StopReason::Signal(2) };
        assert_eq!(self.run.outcome(), Some(stopped));
        self.fact(Fact::Resumed);
        self.answer();
    }

    /// A user shows what became of each `once` step that was interrupted.
    fn answer(&mut self) {
        if self.asks_by_exit() {
            return;
        }
        for step in self.run.asking() {
            self.ending.asked += 1;
            assert_eq!(self.step_at(&step).effect, Effect::Once);
            assert!(self.run.next().is_empty(), "nothing starts while a question is open");
            let outcome = self.outcome_of(&step);
            let no_answer = outcome.is_none() && !self.run.outcomes_of(&step).is_empty();
            let job_failed = no_answer || (outcome.is_none() && self.failed_for_good(&step));
            let again = job_failed || self.chaos.as_mut().is_some_and(|r| r.one_in(2));
            let answer = if again {
                Answer::Again
            } else {
                Answer::Done { output: self.done_output(&step), outcome }
            };
            if !again {
                // Declaring a step done skips its hook, which changes nothing that is compared.
                self.succeeded.insert(format!("{step}:0:bash"));
            }
            self.fact(Fact::Answered { step, answer });
        }
    }

    /// Whether the run's own machine leaves the decision to the user; the world makes none.
    fn asks_by_exit(&self) -> bool {
        self.run.exit().is_some_and(|exit| exit.ending == towpath_recipe::Ending::Ask)
    }

    /// What a machine's command would have reported, if anything.
    fn outcome_of(&self, step: &StepPath) -> Option<String> {
        let outcomes = self.run.outcomes_of(step);
        let name = format!("{step}:0:bash");
        if outcomes.is_empty() {
            return None;
        }
        let may_be_late = self.step_at(step).timeout.is_some();
        let dice = hash(&name, self.seed) % 100;
        if dice < 6 || dice == 8 || (dice < 8 && may_be_late) {
            return Some("failure".to_owned());
        }
        match read_report(&self.report(step, &name), outcomes.iter().map(String::as_str)) {
            Ok(report) => Some(report.outcome),
            Err(fault) if fault.kind.reports_nothing() => Some("success".to_owned()),
            Err(_) => None,
        }
    }

    fn done_output(&self, step: &StepPath) -> String {
        if self.run.outcomes_of(step).is_empty() {
            return self.output(step);
        }
        self.report(step, &format!("{step}:0:bash"))
    }

    /// Whether the job is an agent's that finishes the work of a recipe.
    pub fn recovers(&self, key: &JobKey) -> bool {
        key.kind == JobKind::Agent
            && self.step_at(&key.step_path()).work.kind() == towpath_recipe::StepKind::Recipe
    }

    fn failed_for_good(&self, step: &StepPath) -> bool {
        hash(&format!("{step}:0:bash"), self.seed) % 100 < 9
    }

    /// What a user does after a run that did not end well: resumes what waits.
    fn continue_after(&mut self, outcome: &RunOutcome) -> bool {
        match outcome {
            RunOutcome::Waiting { .. } => {
                self.fact(Fact::Ended { outcome: "waiting".into() });
                self.fact(Fact::Resumed);
                self.answer();
                true
            }
            RunOutcome::Asking { .. } if self.asks_by_exit() => false,
            RunOutcome::Asking { .. } => panic!("the questions have been answered"),
            // A failed run that is resumed fails in the same way, and finished work stays.
            RunOutcome::Failed { .. } if self.ending.comparable && self.roll(3) => {
                self.fact(Fact::Ended { outcome: "failed".into() });
                self.fact(Fact::Resumed);
                self.answer();
                true
            }
            _ => false,
        }
    }

    fn end(mut self, outcome: &RunOutcome) -> Ending {
        self.fact(Fact::Ended { outcome: outcome.as_str().into() });
        self.replay();
        self.check_limits();
        let mut result = format!("{outcome:?}\n");
        describe(&self.run.view(), &mut result);
        result.push_str(&serde_json::to_string(self.run.context()).expect("a context is JSON"));
        result.push_str(&format!("\n{:?}\npaid: {:?}", self.run.exit(), self.paid));
        // Which step meets a limit first depends on the order in which steps of a group end.
        self.ending.comparable &= !result.contains("over the limit");
        self.ending.restarts = self.calls.restarts;
        self.ending.reminders = self.calls.reminders;
        self.ending.result = result;
        self.ending.outcome = match outcome {
            RunOutcome::Failed { failure, .. } => format!("failed {:?}", failure.kind),
            other => other.as_str().to_owned(),
        };
        self.ending
    }
}

fn seed_of(program: &Program) -> u64 {
    hash(&crate::random_plan::text(program), 7)
}

/// What a job is, whichever attempt it is.
pub fn name_of(key: &JobKey) -> String {
    format!("{}:{}:{}", key.step_path(), key.call, key.kind.as_str())
}

fn describe(steps: &[StepView], text: &mut String) {
    for step in steps {
        let status = step.result.as_ref().map(|r| r.status.clone());
        let (path, state) = (&step.path, step.state);
        text.push_str(&format!("{path} {state:?} {status:?} {}\n", step.tolerated));
        describe(&step.children, text);
    }
}
