//! How a state machine came to its end.

use crate::failure::{Failure, FailureKind};
use serde::{Deserialize, Serialize};
use towpath_recipe::Ending;

/// How a state machine came to its end by one of its own transitions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineExit {
    pub reason: String,
    /// What the last outcome reported beyond its name.
    pub description: Option<String>,
    #[serde(default)]
    pub ending: Ending,
}

impl MachineExit {
    /// An end that no transition of the machine has chosen.
    pub(crate) fn from_outside(reason: &str) -> MachineExit {
        MachineExit { reason: reason.to_owned(), description: None, ending: Ending::Fail }
    }

    /// The failure of a machine that ended like this; none for a success or a question.
    pub(crate) fn failure(&self) -> Option<Failure> {
        let detail = self.description.clone().unwrap_or_default();
        let failure = || Failure { detail, ..Failure::new(FailureKind::Exit, &*self.reason) };
        self.ending.failed().then(failure)
    }
}
