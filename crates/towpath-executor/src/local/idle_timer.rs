//! How long a job has printed nothing. What counts is the size of its files, not what a slow reader has
//! taken of them.

use super::job_files::JobFiles;
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(crate) struct IdleTimer {
    pub timeout: Duration,
    since: Instant,
    printed: u64,
}

impl IdleTimer {
    pub fn new(timeout: Duration) -> IdleTimer {
        IdleTimer { timeout, since: Instant::now(), printed: 0 }
    }

    /// Looks whether something was printed since the last look, and whether the time is over.
    pub fn is_over(&mut self, files: &JobFiles, now: Instant) -> bool {
        let size = |name| std::fs::metadata(files.path(name)).map_or(0, |file| file.len());
        let printed = size("stdout") + size("stderr");
        if printed != self.printed {
            (self.printed, self.since) = (printed, now);
        }
        now.saturating_duration_since(self.since) >= self.timeout
    }

    /// Time in which the job was paused does not count.
    pub fn was_paused(&mut self, time: Duration) {
        self.since += time;
    }
}
