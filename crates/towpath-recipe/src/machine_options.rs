//! What a user may set for state machines, and what is stored with the run of it.

use serde::{Deserialize, Serialize};
use towpath_core::SessionId;

/// What the user asked for that concerns machines. Limits win over the recipe's own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_visits: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_restarts: Option<u32>,
    /// The tier of steps that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The first session is this one, which exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// What others call the conversation that the run begins in. A session that is opened for it gets
    /// this id, where the agent's program takes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<SessionId>,
    /// Comes before the first prompt of every session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Instructions above the prompts of every session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
}

impl MachineOptions {
    pub fn is_empty(&self) -> bool {
        *self == MachineOptions::default()
    }
}
