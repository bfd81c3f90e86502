//! One call of an agent, from its start to its end, and what calls have cost.

use crate::fact::{JobEnd, JobStatus, Output};
use crate::frame::StepAt;
use crate::machine::{Misreport, Reported};
use crate::run::Run;
use crate::step_end::describe;
use serde::{Deserialize, Serialize};
use towpath_core::{FaultKind, JobKey, JobKind, SessionId, Usage};

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

/// What the agent calls of a run have cost, those too that were repeated since.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    pub calls: usize,
    /// The known part.
    pub cost_usd: Option<f64>,
    /// Some call did not report its cost.
    pub unknown: bool,
}

impl Spent {
    fn add(&mut self, usage: Option<Usage>) {
        self.calls += 1;
        match usage.and_then(|usage| usage.cost_usd) {
            Some(cost) => self.cost_usd = Some(self.cost_usd.unwrap_or(0.0) + cost),
            None => self.unknown = true,
        }
    }
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
}

/// The usage of two calls; what one of them did not report is unknown for both.
pub(crate) fn sum(a: Option<Usage>, b: Option<Usage>) -> Option<Usage> {
    let (a, b) = (a?, b?);
    let add = |a: Option<u64>, b: Option<u64>| Some(a? + b?);
    Some(Usage {
        input_tokens: add(a.input_tokens, b.input_tokens),
        output_tokens: add(a.output_tokens, b.output_tokens),
        cost_usd: a.cost_usd.and_then(|a| Some(a + b.cost_usd?)),
    })
}
