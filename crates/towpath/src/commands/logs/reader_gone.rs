//! Whether anybody reads what is printed.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;

/// Whether stdout is a pipe that nobody reads.
pub fn reader_gone() -> bool {
    let stdout = io::stdout();
    let mut files = [PollFd::new(&stdout, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut files, Some(&now)).is_ok() && files[0].revents().contains(PollFlags::ERR)
}
