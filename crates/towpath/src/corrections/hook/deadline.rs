//! A hook answers in time, or lets the call run. Most lines take a fraction of a millisecond, but there
//! are texts below the limit of 64 kB that take the parser of bash minutes.

use super::super::hook_errors;
use super::super::hooks_directory::HooksDirectory;
use crate::environment::Invocation;
use std::time::Duration;

/// A shorter payload is always read in time, and needs no thread that watches.
const LONG: usize = 4 << 10;
/// A user notices a tool call that begins later than this.
const MOST_TIME: Duration = Duration::from_secs(2);

/// Ends this process after a time, as if there were no rules. Call it before the payload is looked at.
pub fn watch(payload: &[u8], what: String, invocation: &Invocation) {
    let Ok(env) = invocation.environment() else { return };
    if payload.len() <= LONG {
        return;
    }
    let directory = HooksDirectory::of(&env.directories.state);
    let give_up = move || {
        std::thread::sleep(MOST_TIME);
        let message = format!("no answer after {} s: the call runs as it is", MOST_TIME.as_secs());
        hook_errors::record(&directory, &what, &message);
        std::process::exit(0);
    };
    // Without a thread there is no deadline; the host has its own.
    let _ = std::thread::Builder::new().spawn(give_up);
}
