//! What is stored as the plan of a run.

use crate::stored_run_options::Options;
use serde::{Deserialize, Serialize};
use towpath_recipe::Plan;

/// A plan with the options of its run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PlanRecord {
    pub plan: Plan,
    #[serde(default)]
    pub options: Options,
}

impl PlanRecord {
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("a plan is plain data")
    }
}
