//! The status of a run as commands show it: the recorded one, unless its owner is gone.

use crate::terminal::screen::Tint;
use towpath_core::RunStatus;
pub use towpath_view::run_json::status_of;

/// Whether `resume` can continue a run of this status. One that is running has an owner.
pub fn can_resume(status: &RunStatus) -> bool {
    !matches!(status, RunStatus::Done | RunStatus::Running)
}

/// Whether `cancel` has something to end.
pub fn can_cancel(status: &RunStatus) -> bool {
    !matches!(status, RunStatus::Done | RunStatus::Failed { .. } | RunStatus::Cancelled)
}

/// The colour of a run's status.
pub fn tint(status: &RunStatus) -> Tint {
    match status {
        RunStatus::Done => Tint::Good,
        RunStatus::Failed { .. } => Tint::Bad,
        RunStatus::Running => Tint::None,
        _ => Tint::Attention,
    }
}
