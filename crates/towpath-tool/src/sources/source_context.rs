//! What a source needs of its caller: the environment of the clients, the sandbox for builds, the cache,
//! and where progress is shown. Everything is given; nothing here looks at the process's own.

use super::source_error::Result;
use crate::attestation::{Attestation, AttestedFile, TrustRoot};
use crate::download::HttpClient;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use towpath_process::sandbox::Confinement;

const LARGEST_ATTESTATION: u64 = 16 << 20;

/// Shown while something takes its time.
pub trait Progress: Send {
    /// What begins now: `fetch`, `build`.
    fn phase(&mut self, what: &str);
    fn amount(&mut self, done: u64, total: Option<u64>, unit: Unit);
    /// What a client or a build prints, line by line, without escape sequences.
    fn line(&mut self, text: &str);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Bytes,
    Items,
}

/// How long is waited, whoever waits: this program or a client.
#[derive(Debug, Clone, Copy)]
pub struct TimeLimits {
    /// For the answer to a question, and for a server that sends next to nothing.
    pub answer: Duration,
    /// For a client that fetches everything that a package needs.
    pub fetch: Duration,
    /// For one command of a build.
    pub build: Duration,
}

impl Default for TimeLimits {
    fn default() -> TimeLimits {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        TimeLimits { answer: minutes(1), fetch: minutes(20), build: minutes(60) }
    }
}

pub struct SourceContext<'a> {
    /// The complete environment of the registries' clients: with it, they find the user's configuration.
    pub environment: Vec<(OsString, OsString)>,
    /// Where the API of GitHub is.
    pub github_url: String,
    /// This program, which serves the sandbox.
    pub own_program: PathBuf,
    /// What builds are confined by.
    pub confinement: Confinement,
    /// The directory of what was fetched.
    pub cache: PathBuf,
    /// Versions that were published later are not taken, where the newest is asked for: `2026-01-31T…`.
    pub released_before: Option<String>,
    /// The directory with a list of authorities for attestations, if the user has a newer one.
    pub trust_root: PathBuf,
    pub time_limits: TimeLimits,
    pub progress: &'a Mutex<dyn Progress>,
}

impl std::fmt::Debug for SourceContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Without the environment, which may have credentials.
        f.debug_struct("SourceContext")
            .field("own_program", &self.own_program)
            .field("confinement", &self.confinement)
            .field("cache", &self.cache)
            .finish_non_exhaustive()
    }
}

impl SourceContext<'_> {
    pub(super) fn progress(&self) -> MutexGuard<'_, dyn Progress + 'static> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn http(&self) -> HttpClient {
        let patience = self.time_limits.answer;
        HttpClient { patience, ..HttpClient::from_variables(&self.environment) }
    }

    pub(super) fn variable(&self, name: &str) -> Option<&OsStr> {
        let mut all = self.environment.iter().filter(|(_, value)| !value.is_empty());
        all.find(|(key, _)| key == name).map(|(_, value)| value.as_os_str())
    }

    /// Who has built a file, where its registry has an attestation. One that is wrong is an error; a registry
    /// without any answers whatever it likes.
    pub(super) fn attestation(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        file: &AttestedFile,
        is_announced: bool,
    ) -> Result<Attestation> {
        let answer = self.http().text(url, headers, LARGEST_ATTESTATION).ok().flatten();
        match answer.filter(|answer| answer.trim_start().starts_with('{')) {
            None if is_announced => {
                Err(file.wrong("is announced, and cannot be had".to_owned()).into())
            }
            None => Ok(Attestation::Absent),
            Some(answer) => {
                Ok(Attestation::check(&answer, file, &TrustRoot::read(&self.trust_root)?)?)
            }
        }
    }
}
