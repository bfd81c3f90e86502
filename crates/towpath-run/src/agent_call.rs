//! One call of an agent, from its start to its end.

use crate::job_end::{JobEnd, JobStatus, Output};
use crate::reported::{Misreport, Reported};
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
    pub(crate) fn of(end: &JobEnd) -> CallEnd {
        CallEnd {
            usage: end.usage,
            report: None,
            error: (!end.succeeded()).then(|| end.status.describe(None)),
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
