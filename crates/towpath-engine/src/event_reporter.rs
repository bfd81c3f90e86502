//! The one stream of events that every reporter is fed from, and the one function that makes them.

use towpath_run::{Event, EventKind};

pub trait Reporter {
    fn event(&mut self, event: &Event);
    /// Whether more output can be taken now. Output that is not taken stays in its file.
    fn ready(&self) -> bool {
        true
    }
    /// Called some times a second while a run is under way.
    fn tick(&mut self) {}
}

/// Numbers the events of one reporter, and stamps them.
pub(crate) struct EventSender<'a> {
    pub reporter: &'a mut dyn Reporter,
    /// Of the latest event; 0 before the first.
    pub seq: u64,
}

impl EventSender<'_> {
    pub fn send(&mut self, at_ms: i64, kind: EventKind) {
        self.seq += 1;
        self.reporter.event(&Event { seq: self.seq, at_ms, kind });
    }
}
