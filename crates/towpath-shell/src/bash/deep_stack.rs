//! Runs a recursive piece of work where deep nesting cannot overflow the caller's stack. The parser
//! bounds its own depth, but trees are also walked and dropped recursively, and a stack overflow
//! cannot be caught.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Text this short cannot nest deeply enough to matter.
const SHORT: usize = 512;
const STACK: usize = 32 * 1024 * 1024;

/// `None` if the work panicked or no thread could be had.
pub fn run<T: Send>(text_len: usize, work: impl FnOnce() -> T + Send) -> Option<T> {
    if text_len <= SHORT {
        return catch_unwind(AssertUnwindSafe(work)).ok();
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        thread.ok()?.join().ok()
    })
}
