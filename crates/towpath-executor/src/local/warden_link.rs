//! The warden of a run, and the thread that reads its events. Whatever wakes the executor comes by the
//! same channel, so that one wait is enough.

use super::WardenStart;
use crate::error::{ExecutorError, io_error};
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{Builder, JoinHandle};
use towpath_core::{RunId, Secrets};
use towpath_process::{Event, Leftover, Marker, ProcessError, Subreaper, Warden, WardenEvents};

pub(super) enum Message {
    Child(Event),
    WardenGone,
    Wake,
}

pub(super) struct WardenLink {
    pub warden: Warden,
    pub messages: Receiver<Message>,
    pub sender: Sender<Message>,
    reading: JoinHandle<()>,
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
        warden.hide(secrets)?;
        let (sender, messages) = mpsc::channel();
        let children = sender.clone();
        match Builder::new().spawn(move || read(events, &children)) {
            Ok(reading) => Ok(WardenLink { warden, messages, sender, reading, subreaper }),
            Err(source) => {
                warden.abandon();
                Err(ProcessError::System { doing: "cannot start a thread", source }.into())
            }
        }
    }

    /// Ends what is left, at once, and returns what cannot be ended.
    pub fn shut_down(self, secrets: &Secrets) -> Vec<Leftover> {
        // This closes the warden's socket, and the warden ends what is left.
        drop(self.warden);
        let _ = self.reading.join();
        // The warden itself may have been killed: then its children are ours to end.
        self.subreaper.map(|subreaper| subreaper.end(secrets).1).unwrap_or_default()
    }
}

fn read(mut events: WardenEvents, children: &Sender<Message>) {
    while let Some(event) = events.next() {
        // Nothing waits for a start, and waking the loop for it would cost each step.
        if matches!(event, Event::Started { .. }) {
            continue;
        }
        if children.send(Message::Child(event)).is_err() {
            return;
        }
    }
    let _ = children.send(Message::WardenGone);
}
