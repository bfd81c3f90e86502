//! A clock that nobody can set.

use std::mem;
use std::time::Duration;

/// What has passed since the machine was started, its sleep included. Nobody can set this clock.
pub fn since_boot() -> Duration {
    // SAFETY: the structure is the call's to fill, and this clock is always there.
    let now = unsafe {
        let mut now: libc::timespec = mem::zeroed();
        libc::clock_gettime(libc::CLOCK_BOOTTIME, &mut now);
        now
    };
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}
