//! Machines, looked at without running them: which steps can be reached, how a run can end, and how
//! long the guardrails let it run. Everything here is pure: a recipe in, an answer out. What a
//! machine may contain is settled before, by its reader; what it does at run time is decided elsewhere.

mod analysis;
mod end_paths;
mod findings;
mod graph;
mod layout;
mod restarts;
mod session_length;
#[cfg(test)]
mod tests;
mod ways;

pub use analysis::{Analysis, Bounds, GuardrailExit, analyse, machine_findings};
pub use end_paths::{End, EndPath};
pub use layout::dry_run_layout;
pub use restarts::Restarts;
pub use ways::Ways;

use crate::model::{Guardrails, Machine};
use crate::plan::MachineWishes;

impl Machine {
    /// The guardrails in force: what the user asked for wins over the recipe.
    pub fn guardrails_with(&self, wishes: &MachineWishes) -> Guardrails {
        Guardrails {
            max_step_visits: wishes.max_visits.unwrap_or(self.guardrails.max_step_visits),
            max_total_steps: wishes.max_steps.unwrap_or(self.guardrails.max_total_steps),
            exit_on_other: self.guardrails.exit_on_other,
        }
    }
}
