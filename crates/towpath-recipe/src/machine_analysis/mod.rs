//! Machines, looked at without running them: which steps can be reached, how a run can end, and how
//! long the guardrails let it run. Everything here is pure: a recipe in, an answer out. What a
//! machine may contain is settled before, by its reader; what it does at run time is decided elsewhere.

mod analysis;
mod dry_run_layout;
mod end_paths;
mod findings;
mod restart_count;
mod session_length;
mod step_graph;
#[cfg(test)]
mod tests;

pub use analysis::{Analysis, Bounds, GuardrailExit, analyse, machine_findings};
pub use dry_run_layout::dry_run_layout;
pub use end_paths::{End, EndPath};
pub use restart_count::Restarts;
pub use step_graph::ReachableSteps;

use crate::recipe::{Guardrails, Machine};
use crate::request::MachineOptions;

impl Machine {
    /// The guardrails in force: what the user asked for wins over the recipe.
    pub fn guardrails_with(&self, run_options: &MachineOptions) -> Guardrails {
        Guardrails {
            max_step_visits: run_options.max_visits.unwrap_or(self.guardrails.max_step_visits),
            max_total_steps: run_options.max_steps.unwrap_or(self.guardrails.max_total_steps),
            exit_on_other: self.guardrails.exit_on_other,
        }
    }
}
