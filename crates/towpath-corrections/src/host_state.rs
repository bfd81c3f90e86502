//! Which hosts do not use what our hook answers: they run the original, or what another hook wrote,
//! although they were given another input. After two such calls a host is answered with a refusal that
//! has the corrected command, until it has another version.

use super::hooks_directory::HooksDirectory;
use crate::host::Host;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::io;

const HOSTS: &str = "hosts.json";
const LOCK: &str = "hosts.lock";
/// So many calls in which something else ran are no accident.
const ENOUGH: u32 = 2;
const UNKNOWN: &str = "unknown";

/// How a host treats rewritten calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostState {
    pub host: Host,
    /// `unknown` where the host does not show it.
    pub version: String,
    /// Calls in a row in which something else ran.
    pub dropped: u32,
}

impl HostState {
    /// The host is answered with refusals.
    pub fn drops_rewrites(&self) -> bool {
        self.dropped >= ENOUGH
    }
}

/// What is known of hosts. A file that cannot be read is as none.
pub fn all(directory: &HooksDirectory) -> Vec<HostState> {
    let bytes = std::fs::read(directory.file(HOSTS)).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

pub fn drops_rewrites(directory: &HooksDirectory, host: Host, version: Option<&str>) -> bool {
    let version = version.unwrap_or(UNKNOWN);
    let is = |state: &HostState| state.host == host && state.version == version;
    all(directory).into_iter().any(|state| is(&state) && state.drops_rewrites())
}

/// Records whether a rewritten call ran as it was rewritten.
pub fn record(
    directory: &HooksDirectory,
    host: Host,
    version: Option<&str>,
    honoured: bool,
) -> io::Result<()> {
    let version = version.unwrap_or(UNKNOWN);
    let is = |state: &HostState| state.host == host && state.version == version;
    // Almost always there is nothing to change.
    if honoured && !all(directory).iter().any(is) {
        return Ok(());
    }
    let lock = directory.append(LOCK)?;
    flock(&lock, FlockOperation::LockExclusive)?;
    let mut states = all(directory);
    if honoured {
        states.retain(|state| !is(state));
    } else {
        match states.iter_mut().find(|state| is(state)) {
            Some(state) => state.dropped += 1,
            None => states.push(HostState { host, version: version.to_owned(), dropped: 1 }),
        }
    }
    directory.replace(HOSTS, &serde_json::to_vec(&states).map_err(io::Error::other)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_dropped_rewrites_in_a_row_count_for_one_version() {
        let state = tempfile::tempdir().expect("a directory");
        let directory = HooksDirectory::of(state.path());
        let ran = |version: Option<&str>, honoured| {
            record(&directory, Host::ClaudeCode, version, honoured).expect("recorded");
            drops_rewrites(&directory, Host::ClaudeCode, version)
        };
        assert!(!ran(Some("1"), true) && !directory.file(HOSTS).exists());
        assert!(!ran(Some("1"), false) && !ran(Some("1"), true));
        assert!(!ran(Some("1"), false) && ran(Some("1"), false));
        assert!(!drops_rewrites(&directory, Host::ClaudeCode, Some("2")));
        assert!(!drops_rewrites(&directory, Host::Codex, Some("1")));
        assert!(!ran(None, false) && ran(None, false));
        assert_eq!(all(&directory).len(), 2);
    }
}
