//! The lock under which rules are changed. The snapshot is removed first, so that no hook reads old rules.

use super::hook_rules::SNAPSHOT;
use super::hooks_directory::HooksDirectory;
use crate::Error;
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

pub(super) const LOCK: &str = "rules.lock";

/// A change of the rules, of the trust in a project's file, or of the pause. While it exists, no
/// other process makes one, and none writes a snapshot.
#[derive(Debug)]
pub struct RuleChange {
    _lock: File,
}

impl RuleChange {
    pub fn begin(state: &Path) -> Result<RuleChange, Error> {
        let directory = HooksDirectory::of(state);
        let path = directory.file(LOCK);
        let lock = directory.append(LOCK).map_err(Error::file(&path))?;
        flock(&lock, FlockOperation::LockExclusive)
            .map_err(|error| Error::file(&path)(io::Error::from(error)))?;
        let snapshot = directory.file(SNAPSHOT);
        match std::fs::remove_file(&snapshot) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::file(&snapshot)(error)),
            _ => Ok(RuleChange { _lock: lock }),
        }
    }
}
