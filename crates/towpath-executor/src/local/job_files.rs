//! The files of one job in the run's directory: what it is started with, what it prints, and what an
//! agent's program leaves. Only their owner can read them, and what we write contains no secret.

use crate::error::{ExecutorError, io_error};
use crate::job_spec::JobId;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use towpath_agent::Invocation;
use towpath_core::Secrets;

/// How much is read of a file that an agent's program leaves for its backend.
const LARGEST_LEFT: u64 = 1 << 20;
/// How much of stderr's end an agent's backend gets.
const STDERR_TAIL: u64 = 4096;

#[derive(Debug, Clone)]
pub(crate) struct JobFiles {
    directory: PathBuf,
    job: JobId,
    pub secrets: Secrets,
    /// What was written for the start, and is not needed after the end.
    inputs: Vec<&'static str>,
    /// What an agent's program may leave in the call's own directory.
    pub reads: Vec<&'static str>,
}

impl JobFiles {
    pub fn new(directory: &Path, job: JobId, secrets: &Secrets) -> JobFiles {
        let (directory, secrets) = (directory.to_owned(), secrets.clone());
        JobFiles { directory, job, secrets, inputs: Vec::new(), reads: Vec::new() }
    }

    pub fn path(&self, suffix: &str) -> PathBuf {
        self.directory.join(format!("{}.{suffix}", self.job))
    }

    /// Writes a file that the start needs. Without secrets, since a run that is killed leaves it.
    pub fn write(&mut self, suffix: &'static str, bytes: &[u8]) -> Result<(), ExecutorError> {
        self.inputs.push(suffix);
        self.create(suffix, bytes)
    }

    /// What was written for the start.
    pub fn inputs(&self) -> impl Iterator<Item = PathBuf> {
        self.inputs.iter().map(|suffix| self.path(suffix))
    }

    pub fn create(&self, suffix: &str, bytes: &[u8]) -> Result<(), ExecutorError> {
        self.create_at(&self.path(suffix), bytes)
    }

    fn create_at(&self, path: &Path, bytes: &[u8]) -> Result<(), ExecutorError> {
        let mut options = std::fs::OpenOptions::new();
        let file = options.create(true).write(true).truncate(true).mode(0o600).open(path);
        let bytes = self.secrets.mask_bytes(bytes);
        file.and_then(|mut f| f.write_all(&bytes)).map_err(io_error(path))
    }

    /// The directory of an agent call's own files. It exists only if the call has some.
    pub fn private(&self) -> PathBuf {
        self.path("agent")
    }

    /// Makes the call's directory with the files that its program is started with, and remembers
    /// which ones to read afterwards.
    pub fn prepare(&mut self, invocation: &Invocation) -> Result<(), ExecutorError> {
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
            // A program that was killed may not have written it.
            let file = std::fs::File::open(self.private().join(name)).ok()?;
            let mut bytes = Vec::new();
            file.take(LARGEST_LEFT).read_to_end(&mut bytes).ok()?;
            Some((*name, bytes))
        };
        self.reads.iter().filter_map(read).collect()
    }

    /// The end of what was printed on stderr, as text.
    pub fn stderr_tail(&self) -> Result<String, ExecutorError> {
        let path = self.path("stderr");
        let mut file = match std::fs::File::open(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(String::new()),
            file => file.map_err(io_error(&path))?,
        };
        let mut read = || -> std::io::Result<Vec<u8>> {
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(STDERR_TAIL)))?;
            let mut bytes = Vec::new();
            (&mut file).take(STDERR_TAIL).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().map_err(io_error(&path))?;
        Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
    }

    /// Removes what a job of this number has printed.
    pub fn remove_outputs(&self) {
        // Nothing depends on their absence: they are created again.
        for suffix in ["stdout", "stderr"] {
            let _ = std::fs::remove_file(self.path(suffix));
        }
    }

    pub fn remove_inputs(&self) {
        // Nothing depends on their absence.
        for suffix in &self.inputs {
            let _ = std::fs::remove_file(self.path(suffix));
        }
    }

    pub fn remove_private(&self) {
        // As above; and most calls have none.
        let _ = std::fs::remove_dir_all(self.private());
    }
}
