//! The log of the hooks, folded into the journal by whoever needs what is in it.
//!
//! Folding takes the exclusive lock only to rename the log. A fold that was interrupted is done again,
//! and records have ids: nothing is counted twice.

use super::LOG;
use crate::failure::program_and_subcommand;
use crate::hook_log::record::{CalledRecord, CorrectedRecord, HookRecord};
use crate::hooks_directory::HooksDirectory;
use crate::{Error, session_lines};
use rustix::fs::{FlockOperation, flock};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;
use towpath_store::{CorrectionRow, Store, ToolCallRow};

/// The log that is being folded.
const FOLDING: &str = "calls.folding";
/// Only one process folds at a time.
const FOLD_LOCK: &str = "fold.lock";

/// The journal with everything that hooks have recorded, if they have recorded anything since the
/// last time.
pub fn fold(state: &Path) -> Result<Option<(Store, Folded)>, Error> {
    let directory = HooksDirectory::of(state);
    if ![LOG, FOLDING].iter().any(|name| directory.file(name).exists()) {
        return Ok(None);
    }
    let mut store = Store::open(state)?;
    let folded = move_records(&directory, &mut store)?;
    session_lines::remove_old(&directory);
    Ok(Some((store, folded)))
}

/// How many records there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Folded {
    pub records: usize,
    /// Lines that were not written completely, by a process that was killed.
    pub torn: usize,
}

impl Folded {
    pub fn problem(&self) -> Option<String> {
        let s = if self.torn == 1 { "" } else { "s" };
        (self.torn > 0)
            .then(|| format!("{} line{s} of the log of calls were not complete", self.torn))
    }
}

/// Moves everything from the log into the journal.
fn move_records(directory: &HooksDirectory, store: &mut Store) -> Result<Folded, Error> {
    let failed = |error: io::Error| {
        Error::Setup(format!("{} cannot be read: {error}", directory.path().display()))
    };
    let lock = directory.append(FOLD_LOCK).map_err(failed)?;
    flock(&lock, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
    let mut folded = Folded::default();
    // What an interrupted fold left comes first.
    for _ in 0..2 {
        if let Some(text) = read(directory).map_err(failed)? {
            insert(&text, store, &mut folded)?;
            fs::remove_file(directory.file(FOLDING)).map_err(failed)?;
        }
        rename(directory).map_err(failed)?;
    }
    Ok(folded)
}

/// The log that is being folded.
fn read(directory: &HooksDirectory) -> io::Result<Option<String>> {
    match fs::read(directory.file(FOLDING)) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Takes the log away from the hooks, after the last of them has written.
fn rename(directory: &HooksDirectory) -> io::Result<()> {
    if directory.file(FOLDING).exists() {
        return Ok(());
    }
    match File::open(directory.file(LOG)) {
        Ok(log) => {
            flock(&log, FlockOperation::LockExclusive)?;
            fs::rename(directory.file(LOG), directory.file(FOLDING))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn insert(text: &str, store: &mut Store, folded: &mut Folded) -> Result<(), Error> {
    let mut calls = Vec::new();
    let mut corrections: Vec<CorrectionRow> = Vec::new();
    let mut by_id: HashMap<String, usize> = HashMap::new();
    let mut ran = Vec::new();
    for line in text.lines() {
        match HookRecord::from_line(line) {
            None => folded.torn += 1,
            Some(record) => {
                folded.records += 1;
                match record {
                    HookRecord::Called(call) => calls.push(call_row(call)),
                    HookRecord::Corrected(correction) => {
                        by_id.insert(correction.origin.id.clone(), corrections.len());
                        corrections.push(correction_row(correction));
                    }
                    HookRecord::Ran { id, ran: what } => match by_id.get(&id) {
                        Some(at) => corrections[*at].ran = Some(what),
                        None => ran.push((id, what)),
                    },
                }
            }
        }
    }
    store.tool_calls_add(&calls)?;
    store.corrections_add(&corrections)?;
    for (id, what) in ran {
        store.correction_ran(&id, &what)?;
    }
    Ok(())
}

pub fn call_row(call: CalledRecord) -> ToolCallRow {
    let command = call.shell.then(|| program_and_subcommand(&call.input)).flatten();
    let (program, subcommand) = command.map_or((None, None), |(p, s)| (Some(p), s));
    ToolCallRow {
        id: call.origin.id,
        at_ms: call.origin.at_ms,
        host: call.origin.host,
        version: call.origin.version,
        session: call.origin.session,
        directory: call.origin.directory,
        tool: call.tool,
        program,
        subcommand,
        input: call.input,
        failed: call.failed,
        exit_code: call.exit_code,
        error: call.error,
    }
}

fn correction_row(correction: CorrectedRecord) -> CorrectionRow {
    let numbers = correction.rules.iter();
    CorrectionRow {
        id: correction.origin.id,
        at_ms: correction.origin.at_ms,
        host: correction.origin.host,
        version: correction.origin.version,
        session: correction.origin.session,
        directory: correction.origin.directory,
        rules: numbers.map(|number| i64::try_from(*number).unwrap_or(i64::MAX)).collect(),
        before: correction.before,
        after: correction.after,
        decision: correction.decision.name().to_owned(),
        ran: None,
    }
}
