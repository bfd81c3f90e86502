//! The server's connection to its owner: requests in, answers out. When the socket is closed, or the
//! owner's process is gone although someone else still has its end, nothing more is read or sent.

use super::super::protocol::{Message, Request, encode_message, encode_output};
use crate::warden_protocol::Frames;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::ffi::OsStr;
use std::os::fd::{AsFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use towpath_core::Stream;

#[derive(Debug)]
pub(super) struct Owner {
    socket: OwnedFd,
    /// Readable when the owner's process is gone.
    process: OwnedFd,
    frames: Frames,
}

/// Nobody waits for an answer any more.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OwnerGone;

impl Owner {
    /// From the numbers of two files that this process was started with.
    pub fn inherited(socket: &OsStr, process: &OsStr) -> Option<Owner> {
        let (socket, process) = (file(socket)?, file(process)?);
        Some(Owner { socket, process, frames: Frames::default() })
    }

    pub fn next_request(&mut self) -> Result<Request, OwnerGone> {
        let mut buffer = vec![0; 16 << 10];
        loop {
            if let Some(request) = self.frames.next().map_err(|_| OwnerGone)? {
                return Ok(request);
            }
            self.wait()?;
            match recv(&self.socket, &mut buffer[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Err(OwnerGone),
                Ok((length, _)) => self.frames.push(&buffer[..length]),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => return Err(OwnerGone),
            }
        }
    }

    /// Until something comes by the socket.
    fn wait(&self) -> Result<(), OwnerGone> {
        let mut files = self.files().map(|file| PollFd::from_borrowed_fd(file, PollFlags::IN));
        match poll(&mut files, None) {
            Err(Errno::INTR) => Ok(()),
            Ok(_) if files[1].revents().is_empty() => Ok(()),
            _ => Err(OwnerGone),
        }
    }

    /// To poll for reading. While a command runs, anything to read means that the owner is gone: it sends
    /// nothing before it has the answer.
    pub fn files(&self) -> [BorrowedFd<'_>; 2] {
        [self.socket.as_fd(), self.process.as_fd()]
    }

    pub fn send_message(&self, message: &Message) -> Result<(), OwnerGone> {
        self.send(&encode_message(message))
    }

    pub fn send_output(&self, stream: Stream, bytes: &[u8]) -> Result<(), OwnerGone> {
        if bytes.is_empty() { Ok(()) } else { self.send(&encode_output(stream, bytes)) }
    }

    fn send(&self, mut bytes: &[u8]) -> Result<(), OwnerGone> {
        while !bytes.is_empty() {
            match send(&self.socket, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.wait_for_room()?,
                Err(_) => return Err(OwnerGone),
            }
        }
        Ok(())
    }

    fn wait_for_room(&self) -> Result<(), OwnerGone> {
        let mut files =
            [PollFd::new(&self.socket, PollFlags::OUT), PollFd::new(&self.process, PollFlags::IN)];
        match poll(&mut files, None::<&Timespec>) {
            Err(Errno::INTR) => Ok(()),
            Ok(_) if files[1].revents().is_empty() => Ok(()),
            _ => Err(OwnerGone),
        }
    }
}

fn file(number: &OsStr) -> Option<OwnedFd> {
    let number: RawFd = number.to_str()?.parse().ok().filter(|number| *number > 2)?;
    // SAFETY: this process was started with a file of this number for nobody else than us; where there
    // is none, the next call fails, and the number is not used.
    let file = unsafe { BorrowedFd::borrow_raw(number) };
    fcntl_setfd(file, FdFlags::CLOEXEC).ok()?;
    // SAFETY: it is open, as just seen, and nobody else in this process knows of it.
    Some(unsafe { OwnedFd::from_raw_fd(number) })
}
