//! Why a state machine ended, in the one word that text, events and JSON have for it.

use towpath_recipe::Ending;
use towpath_run::{Failure, FailureKind, MachineExit, Run, RunOutcome};

/// The agent could not do its part: it failed, or a rate limit is in its way.
pub const BACKEND_ERROR: &str = "backend-error";

/// The word for the end of a machine that did not end by a transition of its own.
pub fn exit_reason(failure: &Failure) -> String {
    match failure.kind {
        FailureKind::Limit | FailureKind::Guardrail(_) | FailureKind::Exit => {
            failure.message.clone()
        }
        FailureKind::Agent(_) => BACKEND_ERROR.to_owned(),
        FailureKind::Stopped => "cancelled".to_owned(),
        _ => "orchestration-error".to_owned(),
    }
}

/// Why a machine does not run any more. One that waits for a rate limit of its agent may continue.
pub fn machine_exit(run: &Run) -> Option<MachineExit> {
    run.machine_view()?;
    match run.outcome() {
        Some(RunOutcome::Waiting { .. }) => {
            let (reason, ending) = (BACKEND_ERROR.to_owned(), Ending::Fail);
            Some(MachineExit { reason, description: None, ending })
        }
        _ => run.exit(),
    }
}
