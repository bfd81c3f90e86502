//! What a source needs of its caller: the environment of the clients, the sandbox for builds, the cache,
//! and where progress is shown. Everything is given; nothing here looks at the process's own.

use super::client_sandbox::Clients;
use std::ffi::OsString;
use std::path::PathBuf;
use towpath_process::sandbox::Confinement;

/// Shown while something takes its time.
pub trait Progress {
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

/// For who does not look.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn phase(&mut self, _: &str) {}
    fn amount(&mut self, _: u64, _: Option<u64>, _: Unit) {}
    fn line(&mut self, _: &str) {}
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
    pub progress: &'a mut dyn Progress,
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
    /// What runs clients, and what shows it, at the same time.
    pub(super) fn split(&mut self) -> (Clients<'_>, &mut dyn Progress) {
        let clients = Clients {
            environment: &self.environment,
            own_program: &self.own_program,
            confinement: &self.confinement,
            released_before: self.released_before.as_deref(),
            trust_root: &self.trust_root,
        };
        (clients, &mut *self.progress)
    }
}
