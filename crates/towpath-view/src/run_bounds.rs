//! How deep and how long a run may become.

use towpath_recipe::{Program, Recursion};

/// What bounds a run of the whole program.
#[derive(Debug, Clone, Copy)]
pub struct RunBounds {
    pub depth: u32,
    /// None: a state machine's guardrails bound each of its sessions, and nothing bounds the run.
    pub steps: Option<u32>,
    /// Whether the steps of state machines count, which have guardrails of their own.
    pub counts_machines: bool,
}

impl RunBounds {
    pub fn of(program: &Program) -> RunBounds {
        let root = program.root();
        let Recursion { max_depth, max_total_steps } = root.recursion;
        let usual = root.machine().is_none().then_some(Recursion::DEFAULT_MAX_TOTAL_STEPS);
        RunBounds {
            depth: max_depth.unwrap_or(Recursion::DEFAULT_MAX_DEPTH),
            steps: max_total_steps.or(usual),
            counts_machines: max_total_steps.is_some(),
        }
    }
}
