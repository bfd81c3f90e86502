//! The run as it is shown: every step in file order, called recipes below their step.

use crate::agent_call::{AgentCall, CallEnd};
use crate::step_result::StepResult;
use serde::{Deserialize, Serialize};
use towpath_core::StepPath;
use towpath_recipe::StepKind;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepView {
    pub path: StepPath,
    pub id: String,
    pub kind: StepKind,
    /// 0 for the run's own recipe.
    pub depth: u32,
    pub state: StepState,
    pub tolerated: bool,
    /// The JSON in its output is its value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gives_json: bool,
    /// Its outcome failed the state machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gave_up: bool,
    pub result: Option<StepResult>,
    pub started_ms: Option<i64>,
    pub ended_ms: Option<i64>,
    /// It ended since the run was resumed last.
    #[serde(skip)]
    pub ended_now: bool,
    /// How long nobody drove the run between its start and its end.
    #[serde(default, skip_serializing_if = "is_none_paused")]
    pub paused_ms: i64,
    /// The user has declared that it has done its work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub declared_done: bool,
    /// How often its work has been started in this visit.
    pub attempts: u32,
    /// How many restarts of its state machine came before this visit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub restarts: u32,
    /// Its agent calls. Only the last may be in flight.
    pub calls: Vec<AgentCall>,
    pub children: Vec<StepView>,
}

impl StepView {
    /// How long it took, once it has ended.
    pub fn took_ms(&self) -> Option<i64> {
        Some(self.ended_ms? - self.started_ms? - self.paused_ms)
    }
}

fn is_none_paused(paused_ms: &i64) -> bool {
    *paused_ms == 0
}

fn is_zero(restarts: &u32) -> bool {
    *restarts == 0
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepState {
    /// Not begun, and may still be.
    Pending,
    /// Not begun, and never will be: the recipe has ended before it.
    NotReached,
    Running,
    /// Started by an owner that is gone.
    Interrupted,
    Waiting,
    Asking,
    Ended,
}

impl StepView {
    /// Its agent calls that have ended, each with its end.
    pub fn ended_calls(&self) -> impl Iterator<Item = (&AgentCall, &CallEnd)> {
        self.calls.iter().filter_map(|call| Some((call, call.end.as_ref()?)))
    }
}
