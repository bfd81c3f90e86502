//! What the warden has to report and the engine has not yet taken. The warden never waits for the
//! engine to read: it must be free to kill. Nothing is dropped either. It always takes commands, so
//! that one thread of the engine may send many before it reads an answer; how much is kept here is
//! bounded by what the engine has asked for.

use crate::warden_protocol::{Answer, encode};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// How long the last reports may wait for the engine to take them.
const LAST_WORDS: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub(super) struct Outbox {
    bytes: VecDeque<u8>,
}

impl Outbox {
    pub fn push(&mut self, answer: &Answer) {
        self.bytes.extend(encode(answer));
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Sends what fits; false when the engine is gone. (The loop sees that by itself.)
    pub fn flush(&mut self, socket: &OwnedFd) -> bool {
        while !self.bytes.is_empty() {
            let (front, _) = self.bytes.as_slices();
            match send(socket, front, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(sent) => drop(self.bytes.drain(..sent)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return true,
                Err(_) => return false,
            }
        }
        true
    }

    /// Sends the last words, within bounds.
    pub fn drain(&mut self, socket: &OwnedFd) {
        let end = Instant::now() + LAST_WORDS;
        let slice = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        while self.flush(socket) && !self.is_empty() && Instant::now() < end {
            let _ = poll(&mut [PollFd::new(socket, PollFlags::OUT)], Some(&slice));
        }
    }
}
