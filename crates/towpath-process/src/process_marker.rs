//! The marker: two environment variables by which a run's processes are found, even when every
//! link of parentage is lost. The run's variable is a list, because a run may be started inside a
//! job of another run, and then its processes belong to both.

use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::time::{SystemTime, UNIX_EPOCH};

/// `<run id>.<nonce>@<job>` of each run that the process belongs to, separated by spaces, innermost
/// last. A job's text has no space.
pub const MARKER_VARIABLE: &str = "TOWPATH_RUN_MARKER";
/// The innermost job's text.
pub const JOB_VARIABLE: &str = "TOWPATH_JOB";

/// One session of one run: the run's id, and a nonce that each resume has of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    run: String,
    nonce: String,
}

impl Marker {
    /// `run_id` as in `towpath_core::RunId`: it has neither a space nor a dot.
    pub fn new(run_id: &str) -> Marker {
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        let nonce = format!("{:x}-{nanos:x}", std::process::id());
        Marker { run: run_id.to_owned(), nonce }
    }

    pub fn run_id(&self) -> &str {
        &self.run
    }

    fn entry(&self) -> String {
        format!("{}.{}", self.run, self.nonce)
    }

    /// `environment` with this run's and this job's marker.
    pub(crate) fn put(
        &self,
        job: &str,
        environment: Vec<(OsString, OsString)>,
    ) -> Vec<(OsString, OsString)> {
        let mut marker = OsString::new();
        let outer = environment.iter().find(|(name, _)| name == MARKER_VARIABLE);
        if let Some((_, outer)) = outer.filter(|(_, value)| !value.is_empty()) {
            marker.push(outer);
            marker.push(" ");
        }
        marker.push(format!("{}@{job}", self.entry()));
        let ours = [(MARKER_VARIABLE.into(), marker), (JOB_VARIABLE.into(), job.into())];
        let kept =
            environment.into_iter().filter(|(n, _)| n != MARKER_VARIABLE && n != JOB_VARIABLE);
        ours.into_iter().chain(kept).collect()
    }
}

/// The two markers as read from the environment of some process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Session and job.
    entries: Vec<(String, String)>,
    pub job: Option<String>,
}

impl Found {
    /// From NUL-separated `name=value` pairs.
    pub fn read(environment: &[u8]) -> Option<Found> {
        let mut entries = None;
        let mut job = None;
        for pair in environment.split(|&b| b == 0) {
            if let Some(value) = value_of(pair, MARKER_VARIABLE) {
                entries = Some(value.split(' ').map(entry_of).collect());
            } else if let Some(value) = value_of(pair, JOB_VARIABLE) {
                job = Some(value);
            }
        }
        entries.map(|entries| Found { entries, job })
    }

    pub fn carries(&self, marker: &Marker) -> bool {
        let entry = marker.entry();
        self.entries.iter().any(|(session, _)| *session == entry)
    }

    /// Whether this belongs to a job of that session, also through a run inside the job.
    pub fn is_of_job(&self, marker: &Marker, job: &str) -> bool {
        let entry = marker.entry();
        self.entries.iter().any(|(session, inside)| *session == entry && inside == job)
    }

    /// The runs that the process belongs to.
    pub fn runs(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(|(session, _)| Some(session.split_once('.')?.0))
    }

    pub fn is_of_run(&self, run_id: &str) -> bool {
        self.runs().any(|run| run == run_id)
    }
}

fn entry_of(text: &str) -> (String, String) {
    let (session, job) = text.split_once('@').unwrap_or((text, ""));
    (session.to_owned(), job.to_owned())
}

fn value_of(pair: &[u8], name: &str) -> Option<String> {
    let value = pair.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
    Some(OsStr::from_bytes(value).to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(environment: &[(OsString, OsString)]) -> Vec<u8> {
        environment
            .iter()
            .flat_map(|(n, v)| [n.as_bytes(), b"=", v.as_bytes(), b"\0"].concat())
            .collect()
    }

    #[test]
    fn a_nested_run_carries_both_markers_and_its_own_job() {
        let (outer, inner) = (Marker::new("aaaa"), Marker::new("bbbb"));
        let once = outer.put("build#1.1.1:bash", vec![("A".into(), "1".into())]);
        let found = Found::read(&flat(&once)).expect("marked");
        assert!(found.is_of_job(&outer, "build#1.1.1:bash") && !found.carries(&inner));

        let twice = inner.put("test#1.1.1:bash", once);
        assert_eq!(twice.len(), 3, "no variable twice: {twice:?}");
        let found = Found::read(&flat(&twice)).expect("marked");
        assert!(found.carries(&outer) && found.carries(&inner));
        assert!(found.is_of_run("aaaa") && found.is_of_run("bbbb") && !found.is_of_run("aaa"));
        assert!(found.is_of_job(&inner, "test#1.1.1:bash"));
        assert!(!found.is_of_job(&outer, "test#1.1.1:bash"), "the job is the inner run's");
        assert!(found.is_of_job(&outer, "build#1.1.1:bash"), "and runs inside the outer one");
    }

    #[test]
    fn another_session_of_the_run_is_the_run_but_not_the_session() {
        let (first, second) = (Marker::new("aaaa"), Marker::new("aaaa"));
        let found = Found::read(&flat(&first.put("j", Vec::new()))).expect("marked");
        assert!(found.is_of_run("aaaa") && !found.carries(&second));
    }

    #[test]
    fn a_similar_variable_is_no_marker() {
        assert_eq!(Found::read(b"TOWPATH_RUN_MARKERS=aaaa.1\0XTOWPATH_RUN_MARKER=aaaa.1\0"), None);
    }
}
