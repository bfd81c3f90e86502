//! The files of one job in the run's directory: what it is started with, what it prints, and what an
//! agent's program leaves. All are for their owner alone, and what we write has no secret in it.

use crate::error::EngineError;
use crate::journal::io_error;
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use towpath_agent::Invocation;
use towpath_core::Secrets;

/// How much is read of a file that an agent's program leaves for its backend.
const LARGEST_LEFT: u64 = 1 << 20;

/// The files of one job in the run's directory.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    pub directory: PathBuf,
    number: u32,
    pub secrets: Secrets,
    /// What was written for the start, and is not needed after the end.
    inputs: Vec<&'static str>,
    /// What an agent's program may leave in the call's own directory.
    pub reads: Vec<&'static str>,
}

impl Files {
    pub fn new(directory: &Path, number: u32, secrets: &Secrets) -> Files {
        let (directory, secrets) = (directory.to_owned(), secrets.clone());
        Files { directory, number, secrets, inputs: Vec::new(), reads: Vec::new() }
    }

    pub fn name(&self, suffix: &str) -> String {
        format!("{}.{suffix}", self.number)
    }

    pub fn path(&self, suffix: &str) -> PathBuf {
        self.directory.join(self.name(suffix))
    }

    /// Writes a file that the start needs, for nobody else to read, and without secrets: a run that
    /// is killed leaves it.
    pub fn write(&mut self, suffix: &'static str, bytes: &[u8]) -> Result<(), EngineError> {
        self.inputs.push(suffix);
        self.create(suffix, bytes)
    }

    pub fn create(&self, suffix: &str, bytes: &[u8]) -> Result<(), EngineError> {
        self.create_at(&self.path(suffix), bytes)
    }

    fn create_at(&self, path: &Path, bytes: &[u8]) -> Result<(), EngineError> {
        let mut options = std::fs::OpenOptions::new();
        let file = options.create(true).write(true).truncate(true).mode(0o600).open(path);
        let bytes = self.secrets.mask_bytes(bytes);
        file.and_then(|mut f| f.write_all(&bytes)).map_err(io_error(path))
    }

    /// The directory of an agent call's own files. It is there only if the call has some.
    pub fn private(&self) -> PathBuf {
        self.path("agent")
    }

    /// Makes the call's directory with the files that its program is started with, and remembers
    /// which ones to read afterwards.
    pub fn prepare(&mut self, invocation: &Invocation) -> Result<(), EngineError> {
        self.reads.clone_from(&invocation.reads);
        if invocation.writes.is_empty() && invocation.reads.is_empty() {
            return Ok(());
        }
        let private = self.private();
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&private);
        made.map_err(io_error(&private))?;
        for file in &invocation.writes {
            self.create_at(&private.join(file.name), &file.contents)?;
        }
        Ok(())
    }

    /// What the program has left of the files that its backend reads.
    pub fn left(&self) -> Vec<(&'static str, Vec<u8>)> {
        let read = |name: &&'static str| {
            // A program that was killed may not have come so far.
            let file = std::fs::File::open(self.private().join(name)).ok()?;
            let mut bytes = Vec::new();
            file.take(LARGEST_LEFT).read_to_end(&mut bytes).ok()?;
            Some((*name, bytes))
        };
        self.reads.iter().filter_map(read).collect()
    }

    /// Takes away what a job of this number has printed.
    pub fn forget_outputs(&self) {
        // Nothing depends on their absence: they are made anew.
        for suffix in ["stdout", "stderr"] {
            let _ = std::fs::remove_file(self.path(suffix));
        }
    }

    pub fn forget_inputs(&self) {
        // Nothing depends on their absence.
        for suffix in &self.inputs {
            let _ = std::fs::remove_file(self.path(suffix));
        }
    }

    pub fn forget_private(&self) {
        // As above; and most calls have none.
        let _ = std::fs::remove_dir_all(self.private());
    }
}
