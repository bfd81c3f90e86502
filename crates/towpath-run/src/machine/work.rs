//! The work of a step of a state machine: what it is filled with, in which session its agent is
//! called, and what its end reports.

use super::prompt;
use crate::event::EventKind;
use crate::failure::{Failure, FailureKind};
use crate::flow::FinishedCall;
use crate::frame::StepAt;
use crate::job::{AgentJob, JobWork};
use crate::job_end::{JobEnd, JobStatus, Output};
use crate::progress::{Elapsed, WorkEnd, Written};
use crate::reported::{Misreport, Reported, read_report};
use crate::run::Run;
use crate::step_result::{StepResult, StepStatus};
use towpath_core::{FaultKind, JobKey, JobKind, Map, Usage, Value};
use towpath_recipe::{AgentWork, Step, Work};

impl Run {
    /// Asks the agent of a machine's step, or reminds it. It works where the conversation began.
    pub(super) fn ask_agent_of_machine(&mut self, at: StepAt, agent: &AgentWork, extra: Map) {
        let recipe = self.recipe(at.frame);
        let directory = self.frames[at.frame].directory.clone();
        let (key, text, earlier) = match self.reminder(at).zip(self.reminder_key(at)) {
            Some(((text, earlier), key)) => (key, text, earlier),
            None => {
                let Ok(own) = self.own_prompt(at, agent, extra, &directory) else { return };
                let text = prompt::prompt(&own, outcomes(&recipe.steps[at.step]));
                (self.key(at, JobKind::Agent), self.after_context(at.frame, text), None)
            }
        };
        let call = self.machine_call(at, text, earlier);
        self.machine_mut(at.frame).conversation.models.extend(call.model.clone());
        self.want_work(at, key, (JobWork::Agent(Box::new(call)), Vec::new()), directory);
    }

    /// The reminder of a step, and the answer that it is about.
    fn reminder(&self, at: StepAt) -> Option<(String, Option<String>)> {
        let visit = self.visit(at);
        let reminder = visit.reminder.as_ref()?;
        let report = visit.calls[reminder.call].end.as_ref()?.report.as_ref()?;
        let text = prompt::reminder(report.as_ref().err()?, outcomes(self.step(at)));
        Some((text, reminder.answer.text().map(str::to_owned)))
    }

    /// The first prompt of a session describes what the work is about.
    fn after_context(&self, frame: usize, mut prompt: String) -> String {
        let conversation = &self.machine(frame).conversation;
        if conversation.replaces && !conversation.established {
            prompt = format!("{}\n\n---\n\n{prompt}", self.recap(frame));
        }
        match &self.program.plan.machine.context {
            Some(context) if frame == 0 && !conversation.established => {
                prompt::with_context(context, &prompt)
            }
            _ => prompt,
        }
    }

    fn machine_call(&self, at: StepAt, prompt: String, earlier: Option<String>) -> AgentJob {
        let machine = self.machine(at.frame);
        let current = &machine.conversation;
        let run_options = &self.program.plan.machine;
        let first = at.frame == 0 && machine.restarts == 0 && !current.replaces;
        let foreign = run_options.session.as_ref().filter(|_| first);
        let named = run_options.conversation.as_ref().filter(|_| first);
        // A conversation with a name may have a session whose first call failed.
        let unsure = if foreign.is_some() { named.is_some() } else { current.last_call.is_some() };
        let opening = current.last_call.is_none();
        AgentJob {
            prompt,
            model: self.model(at),
            models_before: current.models.iter().cloned().collect(),
            system: run_options.system.clone(),
            appends_system: true,
            may_open_session: unsure && !current.established,
            opens: named.filter(|_| opening).cloned(),
            session: foreign.filter(|_| opening).cloned(),
            keeps_session: true,
            continues: current.last_call.clone(),
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
        let (first, usage) = self.reminded(at, end);
        let interrupted = end.interrupted();
        if !end.succeeded() {
            let output = first.unwrap_or_default();
            let ended = Ended { output, usage, interrupted, ..Ended::default() };
            let failure = Failure { kind: agent_kind(end), ..self.failure_of_job(at, end) };
            return self.settle_report(at, ended, Err(failure));
        }
        self.machine_mut(at.frame).conversation.established = true;
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
                self.visit_mut(at).reminder = None;
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
            _ => Err(self.failure_of_job(at, end)),
        };
        let (output, usage) = (end.output.clone(), end.usage);
        let (code, interrupted) = (end.exit_code(), end.interrupted());
        self.settle_report(
            at,
            Ended { output, usage, code, interrupted, ..Ended::default() },
            report,
        );
    }

    fn read(&self, at: StepAt, end: &JobEnd) -> Result<Reported, Misreport> {
        let text = end.output.text().or(end.tail.as_deref()).unwrap_or_default();
        read_report(text, outcomes(self.step(at)))
    }

    /// Keeps what the last call reported beside it.
    fn note_report(&mut self, at: StepAt, report: &Result<Reported, Misreport>) {
        let last = self.visit_mut(at).calls.last_mut();
        if let Some(end) = last.and_then(|call| call.end.as_mut()) {
            end.report = Some(report.clone());
        }
    }

    /// Settles a step with what it reported, or with why it did not.
    fn settle_report(&mut self, at: StepAt, ended: Ended, report: Result<Reported, Failure>) {
        let Ended { output, value, usage, code: exit_code, interrupted, declared_done } = ended;
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
        self.settle(at, WorkEnd { interrupted, declared_done, ..WorkEnd::new(result, writes) });
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
        self.visit_mut(at).elapsed = Some(Elapsed::since(self.now_ms));
        self.machine_mut(at.frame).worked = true;
        let output = Output::Text(output.to_owned());
        let ended = Ended { output, declared_done: true, ..Ended::default() };
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
    interrupted: bool,
    declared_done: bool,
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
        other => FailureKind::of_job(other),
    }
}

fn no_report(fault: &Misreport, message: &str) -> Failure {
    let detail = match &fault.candidate {
        Some(line) => format!("{}\n{line}", fault.error),
        None => fault.error.clone(),
    };
    Failure { detail, ..Failure::new(FailureKind::Report, message) }
}
