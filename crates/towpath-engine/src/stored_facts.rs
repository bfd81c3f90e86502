//! Facts on their way into the store and back.

use crate::as_value::{as_value, file_output};
use crate::error::EngineError;
use crate::outputs_read::OutputsRead;
use std::path::Path;
use towpath_core::JobKind;
use towpath_run::{Fact, Output};
use towpath_store::{NewFact, OutputRef, StoredFact, StoredOutput};

/// A fact as the store keeps it. What is in stdout is not written twice.
pub(crate) fn to_store(
    fact: &Fact,
    at_ms: i64,
    stdout: Option<OutputRef>,
    stderr: Option<OutputRef>,
) -> NewFact {
    let mut slim = fact.clone();
    if let Fact::JobFinished { key, end } = &mut slim
        && key.kind != JobKind::Agent
        && let Output::Text(_) = &end.output
    {
        end.output = Output::OnDisk { len: stdout.as_ref().map_or(0, OutputRef::len) };
    }
    NewFact {
        at_ms,
        kind: fact.kind(),
        key: fact.key().map(ToString::to_string),
        body: serde_json::to_string(&slim).expect("a fact is plain data"),
        stdout,
        stderr,
    }
}

/// A stored fact as the run takes it, with the output that is recorded beside it.
pub(crate) fn from_store(
    stored: &StoredFact,
    directory: &Path,
    reads: &OutputsRead,
) -> Result<Fact, EngineError> {
    let mut fact: Fact = serde_json::from_str(&stored.body)
        .map_err(|error| EngineError::Fact { seq: stored.seq, error })?;
    if let Fact::JobFinished { key, end } = &mut fact
        && key.kind != JobKind::Agent
        && let Output::OnDisk { .. } = end.output
    {
        end.output = match &stored.stdout {
            None => Output::Text(String::new()),
            Some(StoredOutput::Inline { bytes, .. }) => {
                Output::Text(as_value(bytes.as_deref().unwrap_or_default()))
            }
            Some(StoredOutput::File { name, len, sum }) => {
                file_output(&directory.join(name), *len, *sum, reads.wants(key))?
            }
        };
    }
    Ok(fact)
}
