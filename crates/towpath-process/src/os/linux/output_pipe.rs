//! Pipes for a job's output. The two ends are separate openings: ours never waits, whatever the job
//! does to its own.

use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use std::os::fd::{AsFd, OwnedFd};

/// How much a new pipe takes.
pub(crate) const PIPE_SIZE: usize = 64 << 10;
/// What a busy one gets. More is not faster, and all pipes of a user share 64 MiB.
const WIDE: usize = 256 << 10;

/// The end to read from, which does not wait, and the end for the job.
pub(crate) fn output_pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    fcntl_setfl(&read, OFlags::NONBLOCK)?;
    Ok((read, write))
}

/// Makes room for a writer that is faster than we are.
pub(crate) fn widen(pipe: impl AsFd) {
    // Refused when the user has many: then it stays as it is, and only slower.
    let _ = fcntl_setpipe_size(pipe, WIDE);
}
