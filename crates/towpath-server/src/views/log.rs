//! What a job printed: bytes from any offset, also while the job runs, and a search that counts all
//! matches. Only outputs that the journal names are read.

use super::job_list::{job_of, live_path, live_size, parse_output_name};
use super::journal::{find, open_for};
use crate::Server;
use crate::answer::{Answer, Refusal};
use crate::routes::Asked;
use axum::http::HeaderName;
use memchr::memmem::Finder;
use memchr::{memchr_iter, memrchr};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use towpath_core::RunId;
use towpath_store::{Output, Store};

/// The most bytes of one answer.
const MOST: u64 = 1024 * 1024;
const MOST_MATCHES: usize = 1000;
/// How much of a match's line is shown.
const LINE: usize = 400;
const PIECE: usize = 256 * 1024;

/// An output, wherever it is.
enum Source {
    Inline(Vec<u8>),
    File { path: PathBuf, size: u64 },
}

pub(crate) fn answer(server: &Server, asked: &Asked) -> Result<Answer, Refusal> {
    let run = asked.path("run");
    let store = open_for(server, run)?;
    let id = find(&store, run)?.id;
    let (source, live) = source(&store, &id, asked.path("output"))?;
    if let Some(text) = asked.query("search") {
        let ignore_case = asked.query("ignore_case").is_some_and(|word| word == "true");
        return Ok(Answer::Json(search(&source, text, ignore_case)?));
    }
    let size = source.size();
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

    fn read(&self, from: u64, to: u64) -> Result<Vec<u8>, Refusal> {
        match self {
            Source::Inline(bytes) => Ok(bytes[from as usize..to as usize].to_vec()),
            Source::File { path, .. } => read_file(path, from, to - from),
        }
    }
}

fn read_file(path: &Path, from: u64, length: u64) -> Result<Vec<u8>, Refusal> {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error| Refusal::state(format!("{}: {error}", path.display())))
}

/// Every match is counted; the first ones are listed with their line.
fn search(source: &Source, text: &str, ignore_case: bool) -> Result<Value, Refusal> {
    let folded = |bytes: &mut Vec<u8>| {
        if ignore_case {
            bytes.make_ascii_lowercase();
        }
    };
    let mut needle = text.as_bytes().to_vec();
    folded(&mut needle);
    let finder = Finder::new(&needle);
    let size = source.size();
    let (mut count, mut matches) = (0_u64, Vec::new());
    let (mut start, mut line) = (0_u64, 1_u64);
    while start < size {
        // Pieces overlap, so that no match is cut in two.
        let end = size.min(start + PIECE as u64 + needle.len() as u64 - 1);
        let original = source.read(start, end)?;
        let mut piece = original.clone();
        folded(&mut piece);
        let own = PIECE.min(piece.len());
        let (mut seen, mut free) = (0, 0);
        for at in finder.find_iter(&piece).take_while(|at| *at < own) {
            count += 1;
            free = at + needle.len();
            if matches.len() < MOST_MATCHES {
                line += memchr_iter(b'\n', &piece[seen..at]).count() as u64;
                seen = at;
                let text = line_around(&original, at);
                matches.push(json!({ "offset": start + at as u64, "line": line, "text": text }));
            }
        }
        // A match that reaches into the next piece is not looked at again.
        let next = own.max(free.min(piece.len())).max(1);
        line += memchr_iter(b'\n', &piece[seen..next]).count() as u64;
        start += next as u64;
    }
    Ok(json!({ "schema": 1, "count": count, "size": size, "matches": matches }))
}

/// The line of a match, as far as it is near.
fn line_around(bytes: &[u8], at: usize) -> String {
    let nearest = at.saturating_sub(LINE / 2);
    let from = memrchr(b'\n', &bytes[nearest..at]).map_or(nearest, |newline| nearest + newline + 1);
    let far = bytes.len().min(from + LINE);
    let to = memchr::memchr(b'\n', &bytes[at..far]).map_or(far, |newline| at + newline);
    String::from_utf8_lossy(&bytes[from..to]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(bytes: &[u8], text: &str, ignore_case: bool) -> Value {
        let source = Source::Inline(bytes.to_vec());
        search(&source, text, ignore_case).expect("bytes in memory can be read")
    }

    #[test]
    fn matches_have_their_offset_and_their_line() {
        let value = found(b"one error\ntwo\nERROR three\n", "error", false);
        assert_eq!(value["count"], 1);
        assert_eq!(value["matches"][0], json!({ "offset": 4, "line": 1, "text": "one error" }));
        let value = found(b"one error\ntwo\nERROR three\n", "Error", true);
        assert_eq!(value["count"], 2);
        assert_eq!(value["matches"][1], json!({ "offset": 14, "line": 3, "text": "ERROR three" }));
        assert_eq!(found(b"", "x", false)["count"], 0);
    }

    #[test]
    fn a_match_between_two_pieces_is_counted_once() {
        for shift in 0..4 {
            let mut bytes = vec![b'.'; PIECE - shift];
            bytes.extend(b"\nabc\nabc\n");
            bytes.extend(vec![b'.'; PIECE]);
            bytes.extend(b"\nabc");
            let value = found(&bytes, "abc", false);
            assert_eq!(value["count"], 3, "{shift}");
            let lines: Vec<&Value> = (0..3).map(|at| &value["matches"][at]["line"]).collect();
            assert_eq!(lines, [2, 3, 5], "{shift}");
        }
        let many = b"aa\n".repeat(PIECE);
        let value = found(&many, "a", false);
        assert_eq!(value["count"], 2 * PIECE as u64);
        assert_eq!(value["matches"].as_array().map(Vec::len), Some(MOST_MATCHES));
    }
}
