//! The record of a run while its owner drives it: facts are noted one by one and written together,
//! before anything that depends on them starts.

use crate::error::EngineError;
use crate::masked::masked;
use crate::outputs_read::OutputsRead;
use crate::run_owner::LOCK;
use crate::stored_facts::to_store;
use std::path::{Path, PathBuf};
use towpath_core::{RunId, Secrets};
use towpath_executor::RunLock;
use towpath_run::Fact;
use towpath_store::{NewFact, OutputRef, Store, StoreError, Summary};
use tracing::debug;

pub(crate) struct Journal<'a> {
    pub store: &'a mut Store,
    pub id: RunId,
    /// The run's own, where its jobs' files are.
    pub directory: PathBuf,
    /// The run is ours while the file of this lock exists.
    pub lock: &'a RunLock,
    pub secrets: Secrets,
    pub reads: OutputsRead,
    /// How many facts there are, those too that are not written yet.
    pub facts: u32,
    pub pending: Vec<NewFact>,
}

impl Journal<'_> {
    /// Notes a fact that the run takes now, and gives it without secrets.
    pub fn note(
        &mut self,
        fact: Fact,
        at_ms: i64,
        stdout: Option<OutputRef>,
        stderr: Option<OutputRef>,
    ) -> Fact {
        let fact = masked(&self.secrets, fact);
        self.pending.push(to_store(&fact, at_ms, stdout, stderr));
        self.facts += 1;
        let key = fact.key().map(tracing::field::display);
        debug!(seq = self.facts, kind = fact.kind(), key, "fact");
        fact
    }

    /// Writes what was noted; with it the summary of a run that has ended.
    pub fn write(&mut self, ended: Option<&Summary>) -> Result<(), EngineError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.store.append(&self.id, &self.pending, ended)?;
        debug!(facts = self.pending.len(), "committed");
        self.pending.clear();
        if ended.is_some() {
            self.store.settle_run(&self.id)?;
        }
        if !is_ours(self.lock, &self.directory) {
            return Err(StoreError::Gone { path: self.directory.clone() }.into());
        }
        Ok(())
    }
}

/// Whether a run is ours still, by its lock and its directory.
pub(crate) fn is_ours(lock: &RunLock, directory: &Path) -> bool {
    lock.has_its_path(&directory.join(LOCK))
}
