//! The one reminder: an agent whose answer must contain JSON and does not is asked again, in the same
//! session, for the JSON alone. The first answer is paid for and kept: what is interrupted later
//! repeats the reminder, never the prompt.

use crate::agent_call::Reminder;
use crate::event::EventKind;
use crate::frame::StepAt;
use crate::job::{AgentJob, JSON_REMINDER, Job, JobWork};
use crate::job_end::{JobEnd, Output};
use crate::run::Run;
use crate::settle::json_in;
use crate::spent::sum;
use towpath_core::{JobKey, JobKind, Usage};
use towpath_recipe::{AgentWork, ParseJson, Work};

/// What the end of a step's work gives.
pub(crate) enum AnswerCheck {
    /// Its JSON is missing, and the agent is reminded.
    Reminded,
    /// This is what counts.
    Final(Output, Option<Usage>),
}

impl Run {
    /// Takes the end of a step's work; an agent's answer without JSON leads to the reminder.
    pub(crate) fn check_answer(&mut self, at: StepAt, end: &JobEnd) -> AnswerCheck {
        let step = self.step(at);
        let parse = step.parse_json;
        let is_agent = matches!(step.work, Work::Agent(_));
        let found = json_in(parse, &end.output).is_some();
        let progress = self.progress_mut(at);
        if let Some(reminder) = &progress.reminder {
            let usage = sum(progress.calls[reminder.call].usage(), end.usage);
            let first = reminder.answer.clone();
            if !end.succeeded() {
                // The first answer stays: only the reminder is tried again.
                return AnswerCheck::Final(first, usage);
            }
            progress.reminder = None;
            return AnswerCheck::Final(if found { end.output.clone() } else { first }, usage);
        }
        if !is_agent || parse == ParseJson::No || found || !end.succeeded() {
            return AnswerCheck::Final(end.output.clone(), end.usage);
        }
        self.remind(at, end.output.clone(), "no JSON in the answer".to_owned());
        AnswerCheck::Reminded
    }

    /// Asks the agent again for what the answer of its last call lacks.
    pub(crate) fn remind(&mut self, at: StepAt, answer: Output, error: String) {
        let step = self.path(at);
        self.events.push(EventKind::Reminded { step, error });
        let progress = self.progress_mut(at);
        let call = progress.calls.len() - 1;
        progress.reminder = Some(Reminder { call, answer, sent: false });
        self.begin_work(at);
    }

    /// The key of a reminder, which is now sent. It belongs to the attempt of the call that it
    /// follows; when it is repeated, to an attempt of its own.
    pub(crate) fn reminder_key(&mut self, at: StepAt) -> Option<JobKey> {
        let progress = self.progress_mut(at);
        let reminder = progress.reminder.as_mut()?;
        let first = progress.calls[reminder.call].key.attempt;
        let attempt = if reminder.sent { progress.attempts.work } else { first };
        reminder.sent = true;
        Some(JobKey { call: 1, ..self.key(at, attempt, JobKind::Agent) })
    }

    pub(crate) fn want_reminder(&mut self, at: StepAt, agent: &AgentWork, directory: String) {
        let Some(key) = self.reminder_key(at) else { return };
        let progress = self.progress(at);
        let Some(reminder) = &progress.reminder else { return };
        let work = JobWork::Agent(Box::new(AgentJob {
            prompt: JSON_REMINDER.to_owned(),
            model: agent.model.clone(),
            mode: agent.mode.as_ref().map(|mode| mode.name.clone()),
            agent: agent.agent.as_ref().map(|agent| agent.name.clone()),
            continues: Some(progress.calls[reminder.call].key.clone()),
            earlier: reminder.answer.text().map(str::to_owned),
            ..AgentJob::default()
        }));
        let timeout = self.work_timeout(at);
        let (environment, sandboxed) = (Vec::new(), false);
        self.ready.push((Job { key, work, directory, timeout, environment, sandboxed }, at));
    }
}
