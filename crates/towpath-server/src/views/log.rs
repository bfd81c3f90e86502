//! What a job printed: bytes from any offset, also while the job runs, or what a search finds in it.
//! Only outputs that the journal names are read.

use super::job_list::{job_of, live_path, live_size, parse_output_name};
use super::journal::{find, open_for};
use super::log_search::{Wanted, search};
use crate::Server;
use crate::answer::{Answer, Refusal};
use crate::routes::Asked;
use axum::http::HeaderName;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use towpath_core::RunId;
use towpath_store::{Output, Store};

/// The most bytes of one answer.
const MOST: u64 = 1024 * 1024;

/// An output, wherever it is.
enum Source {
    Inline(Vec<u8>),
    File { path: PathBuf, size: u64 },
}

pub(crate) fn answer(server: &Server, asked: &Asked) -> Result<Answer, Refusal> {
    let run = asked.path("run");
    let store = open_for(server, run)?;
    let id = find(&store, run)?.id;
    let look = || source(&store, &id, asked.path("output"));
    let (found, live) = look()?;
    match read(asked, &found, live) {
        // The job has just ended, and what it printed went from its file into the journal.
        Err(ReadError::Gone) if live => {
            look().and_then(|(found, live)| Ok(read(asked, &found, live)?))
        }
        answer => Ok(answer?),
    }
}

fn read(asked: &Asked, source: &Source, live: bool) -> Result<Answer, ReadError> {
    let size = source.size();
    let is_asked = |name| asked.query(name) == Some("true");
    let wanted = match asked.query("search") {
        Some(text) => Some(Wanted::text(text, is_asked("ignore_case"))),
        None => is_asked("errors").then(Wanted::errors),
    };
    if let Some(wanted) = wanted {
        let skip = asked.number("skip")?.unwrap_or(0);
        return Ok(Answer::Json(search(&wanted, size, skip, &|from, to| source.read(from, to))?));
    }
    let (from, to) = range(asked, size)?;
    let header = |name: &'static str, value: String| (HeaderName::from_static(name), value);
    Ok(Answer::Bytes {
        content_type: "text/plain; charset=utf-8",
        headers: vec![
            header("towpath-size", size.to_string()),
            header("towpath-from", from.to_string()),
            header("towpath-live", live.to_string()),
        ],
        bytes: source.read(from, to)?,
    })
}

/// Why an output cannot be read.
pub(crate) enum ReadError {
    Gone,
    Refused(Refusal),
}

impl From<Refusal> for ReadError {
    fn from(refusal: Refusal) -> ReadError {
        ReadError::Refused(refusal)
    }
}

impl From<ReadError> for Refusal {
    fn from(error: ReadError) -> Refusal {
        match error {
            ReadError::Gone => Refusal::not_found("this output has been removed"),
            ReadError::Refused(refusal) => refusal,
        }
    }
}

/// The output of this name, and whether it may still grow.
fn source(store: &Store, id: &RunId, name: &str) -> Result<(Source, bool), Refusal> {
    let none = || Refusal::not_found(format!("run {id} has no output {name}"));
    let (number, stream) = parse_output_name(name).ok_or_else(none)?;
    let (key, ended) = job_of(store, id, number)?.ok_or_else(none)?;
    let recorded = || -> Result<Source, Refusal> {
        Ok(match store.output(id, &key.to_string(), stream)? {
            None => Source::Inline(Vec::new()),
            Some(Output::Inline(bytes)) => Source::Inline(bytes),
            Some(Output::File { path, len }) => Source::File { path, size: len },
        })
    };
    if ended {
        return Ok((recorded()?, false));
    }
    let path = live_path(&store.run_directory(id), number, stream);
    match live_size(&path) {
        Some(size) => Ok((Source::File { path, size }, true)),
        // It has not started yet, or ended just now and its output is in the record.
        None => Ok((recorded()?, true)),
    }
}

/// The first byte and the one after the last.
fn range(asked: &Asked, size: u64) -> Result<(u64, u64), Refusal> {
    let from = match asked.number::<i64>("from")?.unwrap_or(0) {
        from if from < 0 => size.saturating_sub(from.unsigned_abs()),
        from => from.unsigned_abs().min(size),
    };
    let to = asked.number::<u64>("to")?.unwrap_or(u64::MAX).min(size);
    if to < from {
        return Ok((from, from));
    }
    Ok((from, to.min(from + MOST)))
}

impl Source {
    fn size(&self) -> u64 {
        match self {
            Source::Inline(bytes) => bytes.len() as u64,
            Source::File { size, .. } => *size,
        }
    }

    fn read(&self, from: u64, to: u64) -> Result<Vec<u8>, ReadError> {
        match self {
            Source::Inline(bytes) => Ok(bytes[from as usize..to as usize].to_vec()),
            Source::File { path, .. } => read_file(path, from, to - from),
        }
    }
}

fn read_file(path: &Path, from: u64, length: u64) -> Result<Vec<u8>, ReadError> {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ReadError::Gone,
        _ => Refusal::state(format!("{}: {error}", path.display())).into(),
    })
}
