//! Agent calls of a step: their record, and the one reminder. An agent whose answer lacks what it must
//! contain is asked again, in the same session, for that alone. The first answer is paid for and kept:
//! what is interrupted later repeats the reminder, never the prompt.

use crate::agent_call::{AgentCall, CallEnd, Reminder};
use crate::event::EventKind;
use crate::frame::StepAt;
use crate::job::{AgentJob, JSON_REMINDER, JobWork};
use crate::job_end::{JobEnd, Output};
use crate::run::Run;
use crate::spent::sum;
use towpath_core::{JobKey, JobKind, SessionId, Usage};
use towpath_recipe::{AgentWork, ParseJson, StepKind};

impl Run {
    pub(crate) fn call_started(
        &mut self,
        at: StepAt,
        key: &JobKey,
        backend: &Option<String>,
        session: &Option<SessionId>,
    ) {
        let (backend, session) = (backend.clone(), session.clone());
        let call = AgentCall { key: key.clone(), backend, session, end: None };
        self.visit_mut(at).calls.push(call);
        if let Some(machine) = self.frames[at.frame].flow.machine_mut() {
            machine.conversation.last_call = Some(key.clone());
        }
    }

    /// Its program has named the session of a call that is in flight.
    pub(crate) fn session_opened(&mut self, key: &JobKey, session: &SessionId) {
        let Some(&at) = self.running.get(key) else { return };
        if let Some(call) = self.call_in_flight(at, key) {
            call.session = Some(session.clone());
        }
    }

    pub(crate) fn call_ended(&mut self, at: StepAt, key: &JobKey, end: &JobEnd) {
        if end.succeeded() {
            self.wait_policy.answered();
        }
        self.end_call(at, key, CallEnd::of(end));
    }

    /// The owner of a call is gone: the agent was asked, and what that cost is unknown.
    pub(crate) fn call_interrupted(&mut self, at: StepAt, key: &JobKey) {
        let error = Some("interrupted".to_owned());
        self.end_call(at, key, CallEnd { error, ..CallEnd::default() });
    }

    fn end_call(&mut self, at: StepAt, key: &JobKey, end: CallEnd) {
        self.spent.add(end.usage);
        if let Some(call) = self.call_in_flight(at, key) {
            call.end = Some(end);
        }
    }

    fn call_in_flight(&mut self, at: StepAt, key: &JobKey) -> Option<&mut AgentCall> {
        self.visit_mut(at).calls.iter_mut().rfind(|call| call.key == *key)
    }

    /// The answer that a reminder is about, if this was one, and what all its calls have used.
    pub(crate) fn reminded(&self, at: StepAt, end: &JobEnd) -> (Option<Output>, Option<Usage>) {
        let visit = self.visit(at);
        match &visit.reminder {
            Some(Reminder { call, answer, .. }) => {
                (Some(answer.clone()), sum(visit.calls[*call].usage(), end.usage))
            }
            None => (None, end.usage),
        }
    }

    /// What a step's work gives, and what it used; none where its JSON is missing and the agent is
    /// reminded.
    pub(crate) fn check_answer(
        &mut self,
        at: StepAt,
        end: &JobEnd,
    ) -> Option<(Output, Option<Usage>)> {
        let step = self.step(at);
        let found = end.output.json(step.parse_json).is_some();
        let must_have = step.work.kind() == StepKind::Agent && step.parse_json != ParseJson::No;
        let (first, usage) = self.reminded(at, end);
        match first {
            // The first answer stays: only the reminder is tried again.
            Some(first) if !end.succeeded() => Some((first, usage)),
            Some(first) => {
                self.visit_mut(at).reminder = None;
                Some((if found { end.output.clone() } else { first }, usage))
            }
            None if must_have && !found && end.succeeded() => {
                self.remind(at, end.output.clone(), "no JSON in the answer".to_owned());
                None
            }
            None => Some((end.output.clone(), usage)),
        }
    }

    pub(crate) fn remind(&mut self, at: StepAt, answer: Output, error: String) {
        let step = self.path(at);
        self.events.push(EventKind::Reminded { step, error });
        let visit = self.visit_mut(at);
        let call = visit.calls.len() - 1;
        visit.reminder = Some(Reminder { call, answer, sent: false });
        self.begin_work(at);
    }

    /// The key of a reminder, which is now sent. It belongs to the attempt of the call that it
    /// follows; when it is repeated, to an attempt of its own.
    pub(crate) fn reminder_key(&mut self, at: StepAt) -> Option<JobKey> {
        let key = self.key(at, JobKind::Agent);
        let visit = self.visit_mut(at);
        let reminder = visit.reminder.as_mut()?;
        let first = visit.calls[reminder.call].key.attempt;
        let attempt = if reminder.sent { key.attempt } else { first };
        reminder.sent = true;
        Some(JobKey { call: 1, attempt, ..key })
    }

    /// Wants the reminder for JSON, where one is due; whether it is.
    pub(crate) fn want_json_reminder(
        &mut self,
        at: StepAt,
        agent: &AgentWork,
        directory: &str,
    ) -> bool {
        let Some(key) = self.reminder_key(at) else { return false };
        let visit = self.visit(at);
        let Some(reminder) = &visit.reminder else { return false };
        let work = JobWork::Agent(Box::new(AgentJob {
            continues: Some(visit.calls[reminder.call].key.clone()),
            earlier: reminder.answer.text().map(str::to_owned),
            ..AgentJob::of_step(agent, JSON_REMINDER.to_owned())
        }));
        self.want_work(at, key, (work, Vec::new()), directory.to_owned());
        true
    }
}
