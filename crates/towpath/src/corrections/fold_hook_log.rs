//! The log of the hooks, folded into the journal by whoever needs what is in it.
//!
//! Folding takes the exclusive lock only to rename the log. A fold that was interrupted is done again,
//! and records have ids: nothing is counted twice.

use super::hook_log::LOG;
use super::hooks_directory::HooksDirectory;
use super::{hook_errors, lines_rewritten_in_session};
use crate::environment::Environment;
use crate::exit_codes_and_errors::CommandError;
use crate::terminal::format::count;
use rustix::fs::{FlockOperation, flock};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use towpath_corrections::failure::program_and_subcommand;
use towpath_corrections::hook_record::{CalledRecord, CorrectedRecord, HookRecord};
use towpath_store::{CorrectionRow, Store, ToolCallRow};

/// The log that is being folded.
const FOLDING: &str = "calls.folding";
/// Only one process folds at a time.
const FOLD_LOCK: &str = "fold.lock";

/// The journal with everything that hooks have recorded; `None` while there is nothing.
pub fn folded_journal(env: &Environment) -> Result<Option<Store>, CommandError> {
    let state = &env.directories.state;
    let directory = HooksDirectory::of(state);
    if !has_records(&directory) {
        return Ok(env.journal()?);
    }
    let mut store = Store::open(state)?;
    let folded = fold(&directory, &mut store)?;
    if folded.torn > 0 {
        let message =
            format!("{} of the log of calls were not complete", count(folded.torn, "line"));
        hook_errors::record(&directory, "log", &message);
    }
    lines_rewritten_in_session::remove_old(&directory);
    Ok(Some(store))
}

fn has_records(directory: &HooksDirectory) -> bool {
    [LOG, FOLDING].iter().any(|name| directory.file(name).exists())
}

/// How many records there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Folded {
    pub records: usize,
    /// Lines that were not written completely, by a process that was killed.
    pub torn: usize,
}

/// Moves everything from the log into the journal.
fn fold(directory: &HooksDirectory, store: &mut Store) -> Result<Folded, CommandError> {
    let failed = |error: io::Error| {
        CommandError::setup(format!("{} cannot be read: {error}", directory.path().display()))
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

fn insert(text: &str, store: &mut Store, folded: &mut Folded) -> Result<(), CommandError> {
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
