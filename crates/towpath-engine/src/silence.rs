//! How long a job has printed nothing. What counts is the size of its files, not what a slow reader
//! has been shown of them.

use crate::files::Files;
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(crate) struct Silence {
    limit: Duration,
    since: Instant,
    printed: u64,
}

impl Silence {
    pub fn new(limit: Duration) -> Silence {
        Silence { limit, since: Instant::now(), printed: 0 }
    }

    /// Looks whether something was printed since it last looked; whether the time is over.
    pub fn is_over(&mut self, files: &Files, now: Instant) -> bool {
        let size = |name| std::fs::metadata(files.path(name)).map_or(0, |file| file.len());
        let printed = size("stdout") + size("stderr");
        if printed != self.printed {
            (self.printed, self.since) = (printed, now);
        }
        now.saturating_duration_since(self.since) >= self.limit
    }

    /// Time in which the job was stopped does not count.
    pub fn was_away(&mut self, time: Duration) {
        self.since += time;
    }

    pub fn limit_ms(&self) -> u64 {
        u64::try_from(self.limit.as_millis()).unwrap_or(u64::MAX)
    }
}
