//! The log that hooks append to, so that they wait for no database. [`fold`] moves it into the
//! journal.
//!
//! Hooks append one record with one write, under a shared lock. A hook that had a file open which is
//! being folded sees that, and opens the new one: no record is lost, and no hook waits for a commit.

use crate::hook_log::record::HookRecord;
use crate::hooks_directory::HooksDirectory;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;

mod fold;
pub mod record;

pub use fold::{Folded, call_row, fold};

const LOG: &str = "calls.log";

/// A log that is longer than this is folded by the next hook that runs after a call.
const LONG: u64 = 4 << 20;

/// Appends records. Whether the log has become so long that it should be folded.
pub fn append(directory: &HooksDirectory, records: &[HookRecord]) -> io::Result<bool> {
    if records.is_empty() {
        return Ok(false);
    }
    let lines: String = records.iter().map(HookRecord::to_line).collect();
    loop {
        let mut log = directory.append(LOG)?;
        flock(&log, FlockOperation::LockShared)?;
        // It may have been renamed between opening and locking.
        let here = fs::metadata(directory.file(LOG)).is_ok_and(|now| is_same(&now, &log));
        if here {
            log.write_all(lines.as_bytes())?;
            return Ok(log.metadata()?.len() > LONG);
        }
    }
}

fn is_same(found: &fs::Metadata, file: &File) -> bool {
    file.metadata().is_ok_and(|own| own.dev() == found.dev() && own.ino() == found.ino())
}
