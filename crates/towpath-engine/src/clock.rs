//! The time of a run's facts: what the wall clock showed when the run was taken, and from there what
//! has really passed. A clock that is set meanwhile changes no duration.

use std::time::Duration;
use towpath_executor::since_boot;

/// What the wall clock shows, in milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    wall_ms: i64,
    since: Duration,
}

impl Clock {
    pub fn start() -> Clock {
        Clock { wall_ms: now_ms(), since: since_boot() }
    }

    /// Milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        let passed = since_boot().saturating_sub(self.since).as_millis();
        self.wall_ms.saturating_add(i64::try_from(passed).unwrap_or(i64::MAX))
    }
}
