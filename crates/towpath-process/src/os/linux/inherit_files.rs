//! Files that a program of our own gets beside the three that every program has.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Whether a process gets the signals that its parent's group gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    /// Away from the terminal and its signals.
    Own,
    /// It ignores a request to end until it decides otherwise.
    Parents,
}

/// Lets the command's process keep these files, at their numbers. The caller keeps them open until the
/// process is started.
pub(crate) fn inherit_files(command: &mut Command, files: &[BorrowedFd<'_>], group: Group) {
    let numbers: Vec<RawFd> = files.iter().map(AsRawFd::as_raw_fd).collect();
    let keep = move || {
        // SAFETY: plain calls with numbers, allowed after a fork.
        unsafe {
            match group {
                Group::Own if libc::setsid() < 0 => return Err(io::Error::last_os_error()),
                Group::Own => {}
                Group::Parents => {
                    libc::signal(libc::SIGTERM, libc::SIG_IGN);
                }
            }
            for number in &numbers {
                if libc::fcntl(*number, libc::F_SETFD, 0) < 0 {
                    return Err(io::Error::last_os_error());
                }
            }
        }
        Ok(())
    };
    // SAFETY: the closure makes system calls and allocates nothing.
    unsafe {
        command.pre_exec(keep);
    }
}
