//! The lines that a session got from us, so that a line is corrected once, even where a host runs a
//! hook twice for one call, and so that what ran can be compared with what was written. Typed in a
//! later call, the same line is the agent's own and is corrected like any other. Only hashes are kept:
//! a line may contain a secret.

use super::hooks_directory::{HooksDirectory, SESSIONS};
use crate::host::Host;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::time::{Duration, SystemTime};

/// Only the end of a longer file is read: a line that was produced that long ago is not expected.
const MOST: u64 = 64 << 10;
/// A session that has got no line for so long has ended.
const OLD: Duration = Duration::from_secs(14 * 24 * 3600);

/// Where a host gives its calls no ids, a second hook for the same call follows within this time.
const SAME_CALL_MS: i64 = 10_000;

/// One line of a session's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Entry {
    Produced(ProducedLine),
    /// The call of a produced line has ended.
    Ended {
        id: String,
    },
    /// The agent has written a line that it was shown.
    Typed {
        id: String,
        by: CallMark,
    },
}

/// A call, as far as a hook can recognise it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CallMark {
    /// `None` where the host gives its calls no ids.
    pub call: Option<String>,
    /// When the hook saw it.
    pub at_ms: i64,
}

impl CallMark {
    /// Whether a later hook sees the same call.
    fn is_same(&self, later: &CallMark) -> bool {
        match (&self.call, &later.call) {
            (Some(one), Some(other)) => one == other,
            _ => (0..SAME_CALL_MS).contains(&(later.at_ms - self.at_ms)),
        }
    }
}

/// A line that was written instead of the agent's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProducedLine {
    /// Of the correction.
    pub id: String,
    #[serde(default)]
    by: CallMark,
    before: String,
    after: String,
    /// The host was given the line; else the agent was shown it, and may write it itself.
    pub rewritten: bool,
    /// For the agent, once the call has ended.
    pub context: Option<String>,
}

/// What ran, beside what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ran {
    Corrected,
    /// Exactly the original.
    Original,
    /// Neither: another hook, or the user, has changed it.
    Other,
}

impl ProducedLine {
    pub fn new(id: &str, by: CallMark, before: &str, after: &str) -> ProducedLine {
        ProducedLine {
            id: id.to_owned(),
            by,
            before: hash(before),
            after: hash(after),
            rewritten: true,
            context: None,
        }
    }
}

/// The lines of one session.
#[derive(Debug)]
pub struct SessionLines {
    directory: HooksDirectory,
    name: String,
    entries: Vec<Entry>,
}

impl SessionLines {
    pub fn open(directory: &HooksDirectory, host: Host, session: &str) -> SessionLines {
        let name = format!("{SESSIONS}/{}/{}", host.name(), hash(session));
        let entries = read_end(directory, &name).unwrap_or_default();
        SessionLines { directory: directory.clone(), name, entries }
    }

    /// Whether a call has its line from us: it was written for this very call, or the agent was shown
    /// it and writes it now, for the first time.
    pub fn is_from_us(&self, line: &str, call: &CallMark) -> io::Result<bool> {
        if self.entries.is_empty() {
            return Ok(false);
        }
        let line = hash(line);
        let ours = || self.produced().filter(|produced| produced.after == line);
        let again = |produced: &ProducedLine| {
            produced.by.is_same(call) && (call.call.is_some() || !self.has_ended(&produced.id))
        };
        if ours().any(|produced| produced.rewritten && again(produced)) {
            return Ok(true);
        }
        let Some(shown) = ours().filter(|produced| !produced.rewritten).last() else {
            return Ok(false);
        };
        let typed = self.entries.iter().find_map(|entry| match entry {
            Entry::Typed { id, by } if *id == shown.id => Some(by),
            _ => None,
        });
        match typed {
            Some(by) => Ok(by.is_same(call)),
            None => {
                self.append(&Entry::Typed { id: shown.id.clone(), by: call.clone() })?;
                Ok(true)
            }
        }
    }

    pub fn add(&self, line: ProducedLine) -> io::Result<()> {
        self.append(&Entry::Produced(line))
    }

    /// The produced line that a call which has ended was about, by the call's id where the host has
    /// them, else by its text.
    pub fn ended(&self, call: Option<&str>, ran: &str) -> Option<(ProducedLine, Ran)> {
        let ran = hash(ran);
        let what = |line: &ProducedLine| match () {
            () if line.after == ran => Ran::Corrected,
            () if line.before == ran => Ran::Original,
            () => Ran::Other,
        };
        let open = self.produced().filter(|line| line.rewritten && !self.has_ended(&line.id));
        let mut newest: Vec<&ProducedLine> = open.collect();
        newest.reverse();
        let by_id = newest.iter().find(|line| call.is_some() && line.by.call.as_deref() == call);
        let by_text = || {
            let text = newest.iter().filter(|line| call.is_none() || line.by.call.is_none());
            text.into_iter().find(|line| what(line) != Ran::Other)
        };
        let line: &ProducedLine = by_id.copied().or_else(|| by_text().copied())?;
        Some((line.clone(), what(line)))
    }

    pub fn end(&self, line: &ProducedLine) -> io::Result<()> {
        self.append(&Entry::Ended { id: line.id.clone() })
    }

    fn has_ended(&self, id: &str) -> bool {
        let ended = |entry: &Entry| matches!(entry, Entry::Ended { id: ended } if ended == id);
        self.entries.iter().any(ended)
    }

    fn produced(&self) -> impl Iterator<Item = &ProducedLine> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Produced(line) => Some(line),
            Entry::Ended { .. } | Entry::Typed { .. } => None,
        })
    }

    fn append(&self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_string(entry).map_err(io::Error::other)?;
        line.push('\n');
        self.directory.append(&self.name)?.write_all(line.as_bytes())
    }
}

/// The entries in the end of a file; a line that is not whole is none.
fn read_end(directory: &HooksDirectory, name: &str) -> io::Result<Vec<Entry>> {
    let mut file = File::open(directory.file(name))?;
    let length = file.metadata()?.len();
    if length > MOST {
        file.seek(SeekFrom::Start(length - MOST))?;
    }
    let mut bytes = Vec::with_capacity(length.min(MOST) as usize + 1);
    file.take(MOST).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// Removes the files of sessions that have ended long ago.
pub fn remove_old(directory: &HooksDirectory) {
    let Ok(hosts) = std::fs::read_dir(directory.file(SESSIONS)) else { return };
    let files = hosts.flatten().filter_map(|host| std::fs::read_dir(host.path()).ok());
    for file in files.flat_map(Iterator::flatten) {
        let modified = file.metadata().and_then(|file| file.modified());
        let age = modified.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        if age.is_some_and(|age| age > OLD) {
            let _ = std::fs::remove_file(file.path());
        }
    }
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes())[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(state: &tempfile::TempDir) -> SessionLines {
        SessionLines::open(&HooksDirectory::of(state.path()), Host::ClaudeCode, "s/../é")
    }

    fn mark(call: Option<&str>, at_ms: i64) -> CallMark {
        CallMark { call: call.map(str::to_owned), at_ms }
    }

    #[test]
    fn what_ran_is_found_by_the_call_or_by_its_text() {
        let state = tempfile::tempdir().expect("a directory");
        let add = |line| lines(&state).add(line).expect("added");
        add(ProducedLine::new("1", mark(Some("c1"), 0), "grep a", "rg a"));
        add(ProducedLine::new("2", mark(Some("c2"), 0), "grep a", "rg a"));
        add(ProducedLine::new("3", mark(None, 0), "ls", "eza"));
        let ended =
            |call, ran: &str| lines(&state).ended(call, ran).map(|(line, ran)| (line.id, ran));
        let found = |id: &str, ran| Some((id.to_owned(), ran));
        assert_eq!(ended(Some("c1"), "grep a"), found("1", Ran::Original));
        assert_eq!(ended(Some("c2"), "rg a"), found("2", Ran::Corrected));
        assert_eq!(ended(Some("c2"), "rg b"), found("2", Ran::Other));
        assert_eq!(ended(Some("c9"), "grep a"), None);
        assert_eq!(ended(Some("c9"), "eza"), found("3", Ran::Corrected));
        assert_eq!(ended(None, "grep a"), found("2", Ran::Original));
        assert_eq!(ended(None, "ls"), found("3", Ran::Original));
        assert_eq!(ended(None, "cat"), None);
        let (line, _) = lines(&state).ended(None, "ls").expect("open");
        lines(&state).end(&line).expect("ended");
        assert_eq!(ended(None, "ls"), None);
    }

    fn from_us(state: &tempfile::TempDir, line: &str, call: Option<&str>, at_ms: i64) -> bool {
        lines(state).is_from_us(line, &mark(call, at_ms)).expect("a file")
    }

    #[test]
    fn a_line_is_ours_only_in_the_call_that_we_wrote_it_for() {
        let state = tempfile::tempdir().expect("a directory");
        assert!(!from_us(&state, "rg a", Some("c1"), 0));
        let add = |line| lines(&state).add(line).expect("added");
        add(ProducedLine::new("1", mark(Some("c1"), 0), "grep a", "rg a"));
        assert!(from_us(&state, "rg a", Some("c1"), 90_000), "the host has run the hook again");
        assert!(!from_us(&state, "rg a", Some("c2"), 1), "the agent has typed it");
        assert!(!from_us(&state, "grep a", Some("c1"), 1));
        // Without ids, soon and before the call has ended.
        add(ProducedLine::new("2", mark(None, 100), "ls", "eza"));
        assert!(from_us(&state, "eza", None, 200) && from_us(&state, "eza", Some("c3"), 200));
        assert!(!from_us(&state, "eza", None, 100 + SAME_CALL_MS));
        let (line, _) = lines(&state).ended(None, "eza").expect("open");
        lines(&state).end(&line).expect("ended");
        assert!(!from_us(&state, "eza", None, 200));
    }

    #[test]
    fn a_line_that_the_agent_was_shown_may_be_typed_once() {
        let state = tempfile::tempdir().expect("a directory");
        let shown = ProducedLine {
            rewritten: false,
            ..ProducedLine::new("1", mark(Some("c1"), 0), "grep a", "rg a")
        };
        lines(&state).add(shown).expect("added");
        assert!(from_us(&state, "rg a", Some("c2"), 90_000));
        assert!(from_us(&state, "rg a", Some("c2"), 90_001), "the hook of the same call");
        assert!(!from_us(&state, "rg a", Some("c3"), 90_002));
    }

    #[test]
    fn a_long_file_is_read_from_its_end_and_has_no_text_of_a_line() {
        let state = tempfile::tempdir().expect("a directory");
        for number in 0..1_000 {
            let line = ProducedLine::new(
                &number.to_string(),
                mark(None, 0),
                "secret",
                &format!("l{number}"),
            );
            lines(&state).add(line).expect("added");
        }
        assert!(from_us(&state, "l999", None, 0) && !from_us(&state, "l0", None, 0));
        let file = lines(&state).directory.file(&lines(&state).name);
        assert!(!std::fs::read_to_string(file).expect("a file").contains("secret"));
    }
}
