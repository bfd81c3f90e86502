//! A file that a decision is made from, read together with what identifies its contents.

use crate::snapshot::{Source, SourceState, Stamp};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// A file system may give the same time to two changes that follow each other this closely.
const SETTLED_NS: i64 = 1_000_000_000;

/// What identifies the contents of a file; `None` where there is none.
pub fn stamp(path: &Path) -> io::Result<Option<Stamp>> {
    match std::fs::metadata(path) {
        Ok(found) => Ok(Some(stamp_of(&found))),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether everything that was read from these files is still what they contain. A file that cannot
/// be looked at is not.
pub fn are_current(sources: &[Source]) -> bool {
    sources
        .iter()
        .all(|source| stamp(&source.path).is_ok_and(|now| source.state.is_current(now.as_ref())))
}

/// The text of a file, and its state at that time. There is no text where there is no file.
pub fn read(path: &Path, most: u64) -> io::Result<(Option<String>, Source)> {
    let source = |state| Source { path: path.to_owned(), state };
    // A pipe in a working tree must not block us.
    let opened = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path);
    let mut file = match opened {
        Ok(file) => file,
        Err(error) if is_missing(&error) => return Ok((None, source(SourceState::Absent))),
        Err(error) => return Err(error),
    };
    let before = regular(&file)?;
    let mut text = String::new();
    let read = (&mut file).take(most + 1).read_to_string(&mut text)?;
    if read as u64 > most {
        return Err(io::Error::other(format!("larger than {} KiB", most >> 10)));
    }
    let settled = before == regular(&file)? && is_settled(&before);
    let state = if settled { SourceState::Stamped(before) } else { SourceState::Unsettled };
    Ok((Some(text), source(state)))
}

/// A file whose every change removes what was made from it: only which file it is counts. Where the
/// file system does not record when it was created, a later one may look the same.
pub fn identity(path: &Path) -> io::Result<Source> {
    let state = match stamp(path)? {
        None => SourceState::Absent,
        Some(Stamp { device, inode, created_ns: Some(created_ns), .. }) => {
            SourceState::Identity { device, inode, created_ns }
        }
        Some(_) => SourceState::Unsettled,
    };
    Ok(Source { path: path.to_owned(), state })
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn regular(file: &File) -> io::Result<Stamp> {
    let found = file.metadata()?;
    match found.is_file() {
        true => Ok(stamp_of(&found)),
        false => Err(io::Error::other("not a regular file")),
    }
}

fn stamp_of(found: &Metadata) -> Stamp {
    let nanoseconds = |s: i64, ns: i64| s.saturating_mul(1_000_000_000).saturating_add(ns);
    Stamp {
        device: found.dev(),
        inode: found.ino(),
        size: found.len(),
        modified_ns: nanoseconds(found.mtime(), found.mtime_nsec()),
        changed_ns: nanoseconds(found.ctime(), found.ctime_nsec()),
        created_ns: found
            .created()
            .ok()
            .and_then(|at| i64::try_from(at.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()),
    }
}

fn is_settled(stamp: &Stamp) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
    let now = i64::try_from(now).unwrap_or(i64::MAX);
    stamp.changed_ns < now.saturating_sub(SETTLED_NS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_that_was_just_written_is_never_current() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("rules.toml");
        assert!(are_current(&[read(&path, 10).expect("nothing").1]));
        fs::write(&path, "one").expect("a file");
        let (text, source) = read(&path, 10).expect("a file");
        assert_eq!((text.as_deref(), source.state), (Some("one"), SourceState::Unsettled));
        assert!(!are_current(&[source]));
        assert!(read(&path, 2).is_err());
        assert!(read(directory.path(), 2).is_err());
    }

    #[test]
    fn an_old_file_is_current_until_it_changes() {
        let (text, source) = read(Path::new("/etc/passwd"), 1 << 20).expect("a file");
        assert!(text.is_some() && matches!(source.state, SourceState::Stamped(_)));
        assert!(are_current(std::slice::from_ref(&source)));
        let other = Source { path: "/etc/group".into(), ..source };
        assert!(!are_current(&[other]));
    }
}
