//! The warden of a run, and its events. The loop itself waits for them: a thread that hands each over
//! would cost every step one more process switch.

use super::WardenStart;
use crate::error::{ExecutorError, io_error};
use std::os::fd::BorrowedFd;
use std::path::Path;
use towpath_core::{RunId, Secrets};
use towpath_process::{Leftover, Marker, Subreaper, Warden, WardenEvents};

pub(super) struct WardenLink {
    pub warden: Warden,
    pub events: WardenEvents,
    /// Only where the warden is forked: its orphans come to this process.
    subreaper: Option<Subreaper>,
}

impl WardenLink {
    /// `lock`: held by the warden, too.
    pub fn open(
        start: &WardenStart,
        run: &RunId,
        lock: BorrowedFd<'_>,
        secrets: &Secrets,
    ) -> Result<WardenLink, ExecutorError> {
        let marker = Marker::new(run.as_str());
        let mut subreaper = None;
        let (warden, events) = match start {
            WardenStart::Fork => {
                subreaper =
                    Some(Subreaper::new().map_err(io_error(Path::new("PR_SET_CHILD_SUBREAPER")))?);
                Warden::fork(Some(lock), &marker)?
            }
            WardenStart::Program { path, arguments } => {
                Warden::spawn(path, arguments, Some(lock), &marker)?
            }
        };
        let link = WardenLink { warden, events, subreaper };
        link.warden.hide(secrets)?;
        Ok(link)
    }

    /// Ends what is left, at once, and returns what cannot be ended.
    pub fn shut_down(mut self, secrets: &Secrets) -> Vec<Leftover> {
        self.close();
        // The warden itself may have been killed: then its children are ours to end.
        let subreaper = self.subreaper.take();
        subreaper.map(|subreaper| subreaper.end(secrets).1).unwrap_or_default()
    }

    fn close(&mut self) {
        self.warden.close();
        while self.events.next().is_some() {}
    }
}

impl Drop for WardenLink {
    fn drop(&mut self) {
        self.close();
    }
}
