//! A program of our own that must not outlive us.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Has the command's process killed when the thread that starts it ends, also by `kill -9`.
pub fn end_with_parent(command: &mut Command) {
    let parent = std::process::id();
    let end_with_parent = move || {
        // SAFETY: prctl and getppid take plain numbers and are allowed after a fork.
        unsafe {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong) < 0 {
                return Err(io::Error::last_os_error());
            }
            if libc::getppid().cast_unsigned() != parent {
                // The parent ended before the kernel knew.
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
        }
        Ok(())
    };
    // SAFETY: the closure makes two system calls and allocates nothing.
    unsafe {
        command.pre_exec(end_with_parent);
    }
}
