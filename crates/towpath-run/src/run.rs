//! The run's state, how facts change it, and what it answers. The rules are in the files beside
//! this one.

use crate::event::EventKind;
use crate::fact::{Answer, Fact, StopReason};
use crate::failure::{Failure, FailureKind};
use crate::frame::{Frame, FrameState, Given, StepAt};
use crate::job::{Job, JobWork};
use crate::progress::{Elapsed, Progress};
use crate::run_outcome::RunOutcome;
use crate::spent::Spent;
use crate::wait_policy::{WaitPolicy, Waiting};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use towpath_core::{FaultKind, JobKey, JobKind, StepPath};
use towpath_recipe::Program;

/// Bounds that come from outside the recipe.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Agents of this run that may work at once.
    pub agents: usize,
    /// What the user's program calls the plan's `step_timeout`, for the messages of timeouts.
    pub step_timeout_name: &'static str,
}

impl Limits {
    pub const DEFAULT: Limits = Limits { agents: 10, step_timeout_name: "step_timeout" };
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::DEFAULT
    }
}

/// The journal contains something that this plan cannot have led to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the journal does not fit its plan: {0}")]
pub struct Mismatch(pub String);

/// A recipe step whose time is running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timer {
    pub step: StepPath,
    pub after: Duration,
}

#[derive(Debug, Clone)]
pub struct Run {
    pub(crate) program: Arc<Program>,
    pub(crate) limits: Limits,
    pub(crate) frames: Vec<Frame>,
    /// Wanted and not yet started.
    pub(crate) ready: Vec<(Job, StepAt)>,
    pub(crate) running: BTreeMap<JobKey, StepAt>,
    /// Frames in which something has changed.
    pub(crate) dirty: BTreeSet<usize>,
    /// Some step has waited for a decision of the user since the run was made or taken over.
    pub(crate) may_ask: bool,
    pub(crate) stopping: Option<StopReason>,
    pub(crate) waiting: Option<Waiting>,
    pub(crate) wait_policy: WaitPolicy,
    pub(crate) spent: Spent,
    pub(crate) events: Vec<EventKind>,
    pub(crate) now_ms: i64,
    /// How often it was resumed.
    pub(crate) resumes: u32,
    pub(crate) ended: bool,
    /// What was staged in this run, as git quotes it: ours, and not the user's.
    pub(crate) staged: BTreeSet<String>,
}

impl Run {
    pub fn new(program: Arc<Program>, limits: Limits) -> Run {
        let given = Given { values: program.plan.inputs.clone(), ..Given::default() };
        let root = Frame::new(program.root(), 0, given);
        Run {
            program,
            limits,
            frames: vec![root],
            ready: Vec::new(),
            running: BTreeMap::new(),
            dirty: BTreeSet::new(),
            may_ask: false,
            stopping: None,
            waiting: None,
            wait_policy: WaitPolicy::default(),
            spent: Spent::default(),
            events: Vec::new(),
            now_ms: 0,
            resumes: 0,
            ended: false,
            staged: BTreeSet::new(),
        }
    }

    /// Takes a recorded fact. `at_ms` is when it was recorded.
    pub fn apply(&mut self, fact: &Fact, at_ms: i64) -> Result<(), Mismatch> {
        let before_ms = std::mem::replace(&mut self.now_ms, at_ms);
        match fact {
            Fact::Started => {
                self.dirty.insert(0);
            }
            Fact::Resumed => {
                self.resumes += 1;
                self.pause_calls(at_ms - before_ms);
                self.resume();
            }
            Fact::JobStarted { key, session, backend, .. } => {
                let at = self.job_started(key)?;
                if key.kind == JobKind::Agent {
                    self.call_started(at, key, backend, session);
                }
            }
            Fact::JobFinished { key, end } => {
                let at = self
                    .running
                    .remove(key)
                    .ok_or_else(|| Mismatch(format!("{key} ended without having started")))?;
                self.job_finished(at, key, end);
            }
            Fact::SessionOpened { key, session } => self.session_opened(key, session),
            Fact::Expired { step } => self.expire(step),
            Fact::Answered { step, answer } => self.answered(step, answer)?,
            Fact::NewSession => self.begin_new_sessions(),
            Fact::WaitsAfterFaults { first_ms } => self.wait_policy.begin(*first_ms),
            Fact::Replanned { .. } => {}
            Fact::Stopping { reason } => self.stopping = Some(*reason),
            Fact::Ended { .. } => self.ended = true,
        }
        self.advance();
        Ok(())
    }

    fn job_started(&mut self, key: &JobKey) -> Result<StepAt, Mismatch> {
        let wanted = self.ready.iter().position(|(job, _)| job.key == *key);
        let wanted =
            wanted.ok_or_else(|| Mismatch(format!("{key} started, which nothing asked for")))?;
        let (_, at) = self.ready.remove(wanted);
        self.running.insert(key.clone(), at);
        self.mark_started(at);
        if key.kind == JobKind::Document {
            self.document_job_started(at, key);
        }
        self.visit_mut(at).attempts.started(key);
        Ok(at)
    }

    /// Notes that a step has begun to have effects, and the recipe steps around it with it.
    pub(crate) fn mark_started(&mut self, at: StepAt) {
        let callers = self.callers(at.frame);
        let now = self.now_ms;
        for at in callers.into_iter().rev().chain([at]) {
            if let Some(machine) = self.frames[at.frame].flow.machine_mut() {
                machine.worked = true;
            }
            if self.visit(at).elapsed.is_none() {
                self.visit_mut(at).elapsed = Some(Elapsed::since(now));
                let path = self.path(at);
                let kind = self.step(at).work.kind();
                self.events.push(EventKind::StepStarted { step: path, kind });
            }
        }
    }

    /// The jobs wanted now. Record each as started, then start it.
    pub fn next(&self) -> Vec<Job> {
        if self.stopping.is_some() || self.waiting.is_some() || !self.asking().is_empty() {
            return Vec::new();
        }
        let agents = self.running.keys().filter(|k| k.kind == JobKind::Agent);
        let mut free = self.limits.agents.saturating_sub(agents.count());
        let mut jobs = Vec::new();
        for (job, _) in &self.ready {
            if matches!(job.work, JobWork::Agent(_)) {
                if free == 0 {
                    continue;
                }
                free -= 1;
            }
            jobs.push(job.clone());
        }
        jobs
    }

    /// Running jobs that must be ended because the recipe step around them ran out of time.
    pub fn unwanted(&self) -> Vec<JobKey> {
        self.running
            .iter()
            .filter(|(_, at)| self.frames[at.frame].state == FrameState::Expiring)
            .map(|(key, _)| key.clone())
            .collect()
    }

    /// A job that is wanted and not started yet.
    pub fn wanted(&self, key: &JobKey) -> Option<&Job> {
        self.ready.iter().map(|(job, _)| job).find(|job| job.key == *key)
    }

    pub fn running(&self) -> impl Iterator<Item = &JobKey> {
        self.running.keys()
    }

    /// The recipe steps whose time is running.
    pub fn timers(&self) -> Vec<Timer> {
        let open = self.frames.iter().filter(|f| f.state == FrameState::Open);
        open.filter_map(|frame| {
            let after = self.step(frame.parent?).timeout?;
            Some(Timer { step: frame.path.clone()?, after })
        })
        .collect()
    }

    /// The steps about which the user would have to decide if the run were resumed now.
    pub fn asking_when_resumed(&self, now_ms: i64) -> Vec<StepPath> {
        let mut resumed = self.clone();
        match resumed.apply(&Fact::Resumed, now_ms) {
            Ok(()) => resumed.asking(),
            Err(_) => Vec::new(),
        }
    }

    /// The steps about which the user must decide before anything continues.
    pub fn asking(&self) -> Vec<StepPath> {
        if !self.may_ask {
            return Vec::new();
        }
        let asks = |at: &StepAt| matches!(self.visit(*at).progress, Progress::Asking(_));
        self.live_steps().filter(asks).map(|at| self.path(at)).collect()
    }

    /// The status of the run, once nothing is in flight and nothing more is wanted.
    pub fn outcome(&self) -> Option<RunOutcome> {
        if !self.running.is_empty() {
            return None;
        }
        if let Some(reason) = self.stopping {
            return Some(RunOutcome::Stopped { reason });
        }
        let asking = self.asking();
        if !asking.is_empty() {
            return Some(RunOutcome::Asking { steps: asking });
        }
        if let Some(Waiting { why, until_ms }) = self.waiting {
            return Some(RunOutcome::Waiting { why, until_ms });
        }
        match self.frames[0].state {
            FrameState::Done => Some(RunOutcome::Done),
            FrameState::Failed => {
                let (step, failure) = self.deepest_failure(0);
                Some(RunOutcome::Failed { step, failure })
            }
            FrameState::Open | FrameState::Expiring => None,
        }
    }

    /// The failure that a frame ended with, at the step where it began.
    fn deepest_failure(&self, frame: usize) -> (StepPath, Failure) {
        if let Some(found) = self.machine_failure(frame) {
            return found;
        }
        let steps = self.frames[frame].steps.iter().map(|visit| &visit.progress);
        let failed = |progress: &Progress| progress.stopped() || progress.failed();
        let stopped = steps.clone().position(Progress::stopped);
        let index = stopped.or_else(|| steps.clone().position(failed));
        let index = index.expect("a frame fails with one of its steps");
        let at = StepAt::new(frame, index);
        let progress = &self.visit(at).progress;
        let failure = progress.failure().cloned().expect("a step that failed has its failure");
        let child = progress.called().filter(|c| self.frames[*c].state == FrameState::Failed);
        if let Some(child) = child {
            // A recipe step that ran out of time, or whose recovery met a fault of its own, failed
            // itself; what it stopped did not.
            let refused = self.machine_failure(child).is_some();
            let mut steps = self.frames[child].steps.iter().map(|visit| &visit.progress);
            if refused || steps.any(failed) {
                let inner = self.deepest_failure(child);
                if inner.1.kind == failure.kind {
                    return inner;
                }
            }
        }
        (self.path(at), failure)
    }

    /// A state machine that a guardrail or an exit of its own ended failed by that, not by one of
    /// its steps.
    fn machine_failure(&self, frame: usize) -> Option<(StepPath, Failure)> {
        let machine = self.frames[frame].flow.machine()?;
        let failure = machine.failure()?;
        Some((self.path(StepAt::new(frame, machine.at?)), failure))
    }

    /// Whether the run failed because the conversation that it was in cannot continue, so that only
    /// another session helps.
    pub fn needs_new_session(&self) -> bool {
        let Some(RunOutcome::Failed { failure, .. }) = self.outcome() else { return false };
        match failure.kind {
            FailureKind::Agent(FaultKind::UnknownSession) => true,
            // A first prompt that is too long is too long anywhere.
            FailureKind::Agent(FaultKind::TooLong) => {
                let mut machines = self.frames.iter().filter_map(|frame| frame.flow.machine());
                self.program.plan.machine.session.is_some()
                    || machines.any(|m| m.conversation.established)
            }
            _ => false,
        }
    }

    /// What the run's agent calls have cost so far.
    pub fn spent(&self) -> Spent {
        let in_flight = self.calls_in_flight();
        // What a call costs that has not ended is not known yet.
        let unknown = self.spent.unknown || in_flight > 0;
        Spent { calls: self.spent.calls + in_flight, unknown, ..self.spent }
    }

    /// How many agent calls have begun and not ended.
    pub fn calls_in_flight(&self) -> usize {
        self.running.keys().filter(|key| key.kind == JobKind::Agent).count()
    }

    /// What was decided since this was last called.
    pub fn take_events(&mut self) -> Vec<EventKind> {
        std::mem::take(&mut self.events)
    }

    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Whether a stop of the run was requested.
    pub fn is_stopping(&self) -> bool {
        self.stopping.is_some()
    }

    /// Whether a new owner has taken it over.
    pub fn was_resumed(&self) -> bool {
        self.resumes > 0
    }

    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// The context of the run's own recipe.
    pub fn context(&self) -> &towpath_core::Map {
        &self.frames[0].context
    }

    pub(crate) fn answered(&mut self, step: &StepPath, answer: &Answer) -> Result<(), Mismatch> {
        let at = self.locate(step)?;
        let outcomes = &self.step(at).outcomes;
        match answer {
            Answer::Done { outcome, .. } if !fits(outcome.as_deref(), outcomes) => {
                return Err(Mismatch(format!("{step} has no outcome {outcome:?}")));
            }
            Answer::Done { output, outcome: None } => self.declare_done(at, output),
            Answer::Done { output, outcome: Some(outcome) } => {
                self.drop_wanted(at);
                self.declare_reported(at, output, outcome);
            }
            Answer::Again => self.rerun(at),
        }
        Ok(())
    }
}

/// A step of a state machine is done with one of its outcomes, any other step without.
fn fits(stated: Option<&str>, outcomes: &[towpath_recipe::Outcome]) -> bool {
    match stated {
        Some(stated) => outcomes.iter().any(|outcome| outcome.name == stated),
        None => outcomes.is_empty(),
    }
}
