//! How many files a process may have open: raised for a warden and a runner, as it was for their jobs.

use std::mem;
use std::sync::OnceLock;

/// What this process had before it needed more, and what its jobs get.
static FILE_LIMIT: OnceLock<libc::rlimit> = OnceLock::new();
/// Enough for four files of each of ten thousand jobs.
const MANY_FILES: libc::rlim_t = 1 << 16;

/// A warden, and a runner, have files open for every job that runs.
pub(crate) fn raise_file_limit() {
    // SAFETY: plain calls on local structures.
    unsafe {
        let mut before: libc::rlimit = mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut before) != 0 {
            return;
        }
        let wanted = before.rlim_max.min(MANY_FILES).max(before.rlim_cur);
        let raised = libc::rlimit { rlim_cur: wanted, ..before };
        if libc::setrlimit(libc::RLIMIT_NOFILE, &raised) == 0 {
            // Only the first counts: a warden that is forked has its runner's.
            let _ = FILE_LIMIT.set(before);
        }
    }
}

/// How many files this process may have open.
pub(crate) fn file_limit() -> usize {
    // SAFETY: a plain call on a local structure.
    let limit = unsafe {
        let mut limit: libc::rlimit = mem::zeroed();
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        limit
    };
    usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX)
}

pub(super) fn jobs_file_limit() -> Option<libc::rlimit> {
    FILE_LIMIT.get().copied()
}
