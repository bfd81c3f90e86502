//! The status of a run as commands show it: the recorded one, unless its owner is gone.

use crate::terminal::screen::Tint;
use towpath_core::RunStatus;
use towpath_store::{RunRow, Store};

/// The status of a run. One that is recorded as running and has no owner was interrupted.
pub fn status_of(store: &Store, row: &RunRow) -> RunStatus {
    let status = row.summary.status.clone();
    if status == RunStatus::Running && !towpath_engine::is_owned(store, &row.id) {
        return RunStatus::Interrupted;
    }
    status
}

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
