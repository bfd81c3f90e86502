//! The work of a step of a state machine: what it is filled with, in which session its agent is
//! called, and what its end reports.

use super::prompt;
use super::reported::{Misreport, Reported, read_report};
use crate::event::EventKind;
use crate::flow::FinishedCall;
use crate::frame::StepAt;
use crate::job::{AgentJob, Job, JobWork};
use crate::job_end::{JobEnd, JobStatus, Output};
use crate::progress::{Phase, Written};
use crate::prompt_rendering::DocumentUse;
use crate::run::Run;
use crate::scope::Scope;
use crate::settle::{describe, kind_of};
use crate::spent::sum;
use crate::step_result::{Failure, FailureKind, StepResult, StepStatus};
use towpath_core::{FaultKind, JobKey, JobKind, Map, Usage, Value};
use towpath_recipe::{AgentWork, Step, Work};

impl Run {
    /// Starts the work of a machine's step.
    pub(super) fn begin_machine_step(&mut self, at: StepAt) {
        let step = self.step(at).clone();
        let (extra, directory) = match self.values_of_step(at, &step) {
            Ok(values) => values,
            Err(failure) => return self.fail(at, failure),
        };
        match &step.work {
            Work::Bash { command } => {
                let filled = Scope { extra, frame: &self.frames[at.frame] }.fill(command);
                self.want_work(at, JobKind::Bash, filled, directory);
            }
            Work::Agent(agent) => self.want_agent(at, agent, extra),
            Work::Recipe { name, .. } => self.call(at, name, extra, directory),
        }
    }

    fn want_agent(&mut self, at: StepAt, agent: &AgentWork, extra: Map) {
        let recipe = self.recipe(at.frame);
        let (key, text, earlier) = match self.reminder(at).zip(self.reminder_key(at)) {
            Some(((text, earlier), key)) => (key, text, earlier),
            None => {
                let Some(own) = self.own_prompt(at, agent, extra) else { return };
                let text = prompt::prompt(&own, outcomes(&recipe.steps[at.step]));
                let key = self.key(at, self.progress(at).attempts.work, JobKind::Agent);
                (key, self.after_context(at.frame, text), None)
            }
        };
        let call = self.machine_call(at, text, earlier);
        self.machine_mut(at.frame).models.extend(call.model.clone());
        let work = JobWork::Agent(Box::new(call));
        let timeout = self.work_timeout(at);
        let job = Job {
            key,
            work,
            directory: self.frames[at.frame].directory.clone(),
            timeout,
            environment: Vec::new(),
            sandboxed: false,
        };
        self.progress_mut(at).phase = Phase::Work;
        self.ready.push((job, at));
    }

    /// What the step itself asks; `None` where it is not known yet, or the step has failed.
    fn own_prompt(&mut self, at: StepAt, agent: &AgentWork, extra: Map) -> Option<String> {
        if let Some(document) = &agent.document {
            let directory = self.frames[at.frame].directory.clone();
            let part = DocumentUse::Prompt;
            return self.text_of_document(at, part, document, &extra, &directory);
        }
        let scope = Scope { extra, frame: &self.frames[at.frame] };
        match scope.render(&agent.prompt) {
            Ok(text) => Some(text),
            Err(failure) => {
                self.fail(at, failure);
                None
            }
        }
    }

    /// The reminder of a step, and the answer that it is about.
    fn reminder(&self, at: StepAt) -> Option<(String, Option<String>)> {
        let progress = self.progress(at);
        let reminder = progress.reminder.as_ref()?;
        let report = progress.calls[reminder.call].end.as_ref()?.report.as_ref()?;
        let text = prompt::reminder(report.as_ref().err()?, outcomes(self.step(at)));
        Some((text, reminder.answer.text().map(str::to_owned)))
    }

    /// The first prompt of a session describes what the work is about.
    fn after_context(&self, frame: usize, mut prompt: String) -> String {
        let state = self.machine(frame);
        if state.is_new && !state.established {
            prompt = format!("{}\n\n---\n\n{prompt}", self.recap(frame));
        }
        match &self.program.plan.machine.context {
            Some(context) if frame == 0 && !self.machine(frame).established => {
                prompt::with_context(context, &prompt)
            }
            _ => prompt,
        }
    }

    fn machine_call(&self, at: StepAt, prompt: String, earlier: Option<String>) -> AgentJob {
        let state = self.machine(at.frame);
        let run_options = &self.program.plan.machine;
        let first = at.frame == 0 && state.restarts == 0 && !state.is_new;
        let foreign = run_options.session.as_ref().filter(|_| first);
        let conversation = run_options.conversation.as_ref().filter(|_| first);
        // A conversation with a name may have a session whose first call failed.
        let unsure =
            if foreign.is_some() { conversation.is_some() } else { state.last_call.is_some() };
        AgentJob {
            prompt,
            model: self.model(at),
            models_before: state.models.iter().cloned().collect(),
            system: run_options.system.clone(),
            appends_system: true,
            may_open_session: unsure && !state.established,
            opens: conversation.filter(|_| state.last_call.is_none()).cloned(),
            session: foreign.filter(|_| state.last_call.is_none()).cloned(),
            keeps_session: true,
            continues: state.last_call.clone(),
            earlier,
            ..AgentJob::default()
        }
    }

    /// The model tier of a step: its own, else the user's, else the recipe's.
    pub(super) fn model(&self, at: StepAt) -> Option<String> {
        let recipe = self.recipe(at.frame);
        let Work::Agent(agent) = &recipe.steps[at.step].work else { return None };
        let of_user = || self.program.plan.machine.model.clone();
        let of_recipe = || recipe.machine().and_then(|m| m.model.clone());
        agent.model.clone().or_else(of_user).or_else(of_recipe)
    }

    /// The work of a machine's step has ended.
    pub(super) fn machine_job_finished(&mut self, at: StepAt, key: &JobKey, end: &JobEnd) {
        match key.kind {
            JobKind::Agent => self.agent_reported(at, end),
            _ => self.command_reported(at, end),
        }
    }

    fn agent_reported(&mut self, at: StepAt, end: &JobEnd) {
        let progress = self.progress(at);
        let first = progress.reminder.as_ref().map(|reminder| reminder.answer.clone());
        let usage = match &progress.reminder {
            Some(reminder) => sum(progress.calls[reminder.call].usage(), end.usage),
            None => end.usage,
        };
        if !end.succeeded() {
            let output = first.unwrap_or_default();
            let failure = Failure {
                detail: end.error.clone(),
                ..Failure::new(agent_kind(end), self.describe_end(at, end))
            };
            return self.settle_report(
                at,
                Ended { output, usage, ..Ended::default() },
                Err(failure),
            );
        }
        self.machine_mut(at.frame).established = true;
        let read = self.read(at, end);
        self.note_report(at, &read);
        let is_reminder = first.is_some();
        let output = first.unwrap_or_else(|| end.output.clone());
        let ended = Ended { output, usage, ..Ended::default() };
        match read {
            Ok(report) => self.settle_report(at, ended, Ok(report)),
            Err(fault) if !is_reminder => self.remind(at, end.output.clone(), fault.error),
            Err(fault) => {
                let failure =
                    no_report(&fault, "reported no outcome of this step, also after the reminder");
                // No other reminder would help: a resume begins with the prompt.
                self.progress_mut(at).reminder = None;
                self.settle_report(at, ended, Err(failure));
            }
        }
    }

    /// Another end than success is `failure`; a success may name its outcome.
    fn command_reported(&mut self, at: StepAt, end: &JobEnd) {
        let report = match &end.status {
            JobStatus::Exited(0) => match self.read(at, end) {
                Ok(report) => Ok(report),
                Err(fault) if fault.kind.reports_nothing() => Ok(Reported::plain("success")),
                Err(fault) => {
                    Err(no_report(&fault, "the outcome that it printed is none of this step"))
                }
            },
            JobStatus::Exited(_) | JobStatus::Signalled(_) | JobStatus::TimedOut => {
                Ok(Reported::failure(self.describe_end(at, end)))
            }
            other => Err(Failure {
                detail: end.error.clone(),
                ..Failure::new(kind_of(other), describe(other, None))
            }),
        };
        let code = match end.status {
            JobStatus::Exited(code) => Some(code),
            _ => None,
        };
        let ended = Ended { output: end.output.clone(), usage: end.usage, code, value: None };
        self.settle_report(at, ended, report);
    }

    fn read(&self, at: StepAt, end: &JobEnd) -> Result<Reported, Misreport> {
        let text = end.output.text().or(end.tail.as_deref()).unwrap_or_default();
        read_report(text, outcomes(self.step(at)))
    }

    /// Keeps what the last call reported beside it.
    fn note_report(&mut self, at: StepAt, report: &Result<Reported, Misreport>) {
        let last = self.progress_mut(at).calls.last_mut();
        if let Some(end) = last.and_then(|call| call.end.as_mut()) {
            end.report = Some(report.clone());
        }
    }

    /// Settles a step with what it reported, or with why it did not.
    fn settle_report(&mut self, at: StepAt, ended: Ended, report: Result<Reported, Failure>) {
        let Ended { output, value, usage, code: exit_code } = ended;
        let name = self.step(at).output.clone();
        let writes = name.map(|name| (name, Written::of(&output, value))).into_iter().collect();
        let (status, report) = match report {
            Ok(report) => {
                let step = self.path(at);
                self.events.push(EventKind::Reported { step, report: report.clone() });
                (StepStatus::Completed, Some(report))
            }
            Err(failure) => (StepStatus::Failed(failure), None),
        };
        let result = StepResult { status, output, exit_code, usage, report };
        self.settle(at, result, writes);
    }

    /// A recipe that a machine's step called has ended.
    pub(super) fn machine_call_finished(&mut self, at: StepAt, call: FinishedCall) {
        let FinishedCall { result, failure, .. } = call;
        let outcomes = &self.step(at).outcomes;
        let listed = |name: &str| outcomes.iter().any(|outcome| outcome.name == name);
        let by_itself = failure.as_ref().is_none_or(|failure| failure.kind == FailureKind::Exit);
        let report = match (failure, &result.exit) {
            (_, Some(exit)) if by_itself && listed(&exit.reason) => {
                let description = exit.description.clone();
                Ok(Reported { description, ..Reported::plain(&exit.reason) })
            }
            (None, _) => Ok(Reported::plain("success")),
            (Some(failure), _) if ends_the_run(failure.kind) => Err(failure),
            (Some(failure), _) => Ok(Reported::failure(failure.message)),
        };
        let ended = Ended { output: result.output, value: result.value, ..Ended::default() };
        self.settle_report(at, ended, report);
    }

    /// The user states what a step reported.
    pub(crate) fn declare_reported(&mut self, at: StepAt, output: &str, outcome: &str) {
        let report = Reported::plain(outcome);
        let now = self.now_ms;
        let progress = self.progress_mut(at);
        progress.started_ms = Some(now);
        progress.declared_done = true;
        self.machine_mut(at.frame).worked = true;
        let ended = Ended { output: Output::Text(output.to_owned()), ..Ended::default() };
        self.settle_report(at, ended, Ok(report));
    }
}

fn outcomes(step: &Step) -> impl Iterator<Item = &str> + Clone {
    step.outcomes.iter().map(|outcome| outcome.name.as_str())
}

/// What the end of a step's work gave.
#[derive(Default)]
struct Ended {
    output: Output,
    /// What a called recipe gave as a value.
    value: Option<Value>,
    usage: Option<Usage>,
    code: Option<i32>,
}

/// A failure that no transition may follow: the run cannot continue as it is.
fn ends_the_run(kind: FailureKind) -> bool {
    match kind {
        FailureKind::Stopped => true,
        FailureKind::Agent(fault) => !fault.tolerable(),
        _ => false,
    }
}

fn agent_kind(end: &JobEnd) -> FailureKind {
    match &end.status {
        JobStatus::TimedOut => FailureKind::Agent(FaultKind::Timeout),
        other => kind_of(other),
    }
}

fn no_report(fault: &Misreport, message: &str) -> Failure {
    let detail = match &fault.candidate {
        Some(line) => format!("{}\n{line}", fault.error),
        None => fault.error.clone(),
    };
    Failure { detail, ..Failure::new(FailureKind::Report, message) }
}
