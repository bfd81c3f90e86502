//! One call of an agent, from its start to its end.

use crate::frame::StepAt;
use crate::job_end::{JobEnd, JobStatus, Output};
use crate::machine::{Misreport, Reported};
use crate::run::Run;
use crate::settle::describe;
use serde::{Deserialize, Serialize};
use towpath_core::{FaultKind, JobKey, SessionId, Usage};

/// A call of an agent. It begins with the backend and the session that are known when it starts, and
/// gets the rest as facts come in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentCall {
    pub key: JobKey,
    /// The backend that answers it, as in `--backend`.
    pub backend: Option<String>,
    pub session: Option<SessionId>,
    /// None while it is in flight.
    pub end: Option<CallEnd>,
}

/// How a call of an agent ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CallEnd {
    pub usage: Option<Usage>,
    /// What the answer reports, where a state machine asked.
    pub report: Option<Result<Reported, Misreport>>,
    /// Why there is no answer.
    pub error: Option<String>,
    /// What its program named as the reason.
    pub fault: Option<FaultKind>,
    /// More about the error: the program's own message, or the end of its stderr.
    pub detail: String,
}

impl AgentCall {
    pub(crate) fn usage(&self) -> Option<Usage> {
        self.end.as_ref()?.usage
    }
}

impl CallEnd {
    fn of(end: &JobEnd) -> CallEnd {
        CallEnd {
            usage: end.usage,
            report: None,
            error: (!end.succeeded()).then(|| describe(&end.status, None)),
            fault: match &end.status {
                JobStatus::Faulted(fault) => Some(fault.kind),
                _ => None,
            },
            detail: end.error.clone(),
        }
    }
}

/// An answer that lacks what it must contain, while its agent is asked again for that.
#[derive(Debug, Clone)]
pub(crate) struct Reminder {
    /// The call that gave it, among those of its visit.
    pub call: usize,
    pub answer: Output,
    /// Whether the agent has been asked again.
    pub sent: bool,
}

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
        self.progress_mut(at).calls.push(call);
        self.flow(at.frame).call_started(self, at, key);
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
        self.end_call(
            at,
            key,
            CallEnd { error: Some("interrupted".to_owned()), ..CallEnd::default() },
        );
    }

    fn end_call(&mut self, at: StepAt, key: &JobKey, end: CallEnd) {
        self.spent.add(end.usage);
        if let Some(call) = self.call_in_flight(at, key) {
            call.end = Some(end);
        }
    }

    fn call_in_flight(&mut self, at: StepAt, key: &JobKey) -> Option<&mut AgentCall> {
        self.progress_mut(at).calls.iter_mut().rfind(|call| call.key == *key)
    }
}
