//! Sources of tools for real: the registries of this machine, and servers on loopback that play GitHub.

mod build_steps;
mod cached_artifacts;
mod phases_in_sandbox;
mod registries;
mod registry_attacks;
mod releases;
mod scripted_clients;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use towpath_core::Source;
use towpath_process::sandbox::{
    CommandDirectory, Confinement, EndStatus, Policy, SandboxCommand, SandboxSession,
    find_confinement,
};
use towpath_tool::sources::{
    Artifact, Built, Candidate, Locks, Progress, SourceContext, SourceError, SourceRef, TimeLimits,
    Unit, build, fetch, generate, look_up,
};
use towpath_tool::{ToolRecipe, read_recipe, write_recipe};

/// Not the directory of TMPDIR: a sandbox shows nothing of `/dev/shm`.
const TEMPORARY: &str = "/tmp";

/// Nobody looks.
struct NoProgress;

impl Progress for NoProgress {
    fn phase(&mut self, _: &str) {}
    fn amount(&mut self, _: u64, _: Option<u64>, _: Unit) {}
    fn line(&mut self, _: &str) {}
}

/// A user of sources: an environment, a cache, a directory for installs.
pub struct User {
    directory: tempfile::TempDir,
    pub environment: Vec<(OsString, OsString)>,
    pub cache: PathBuf,
    pub github_url: String,
    pub released_before: Option<String>,
    pub trust_root: PathBuf,
    pub time_limits: TimeLimits,
    pub confinement: Confinement,
}

impl User {
    /// With this process's own environment and a cache of its own.
    pub fn new() -> User {
        let directory = tempfile::tempdir_in(TEMPORARY).unwrap();
        let path = std::env::var_os("PATH");
        let confinement = find_confinement(&own_program(), path.as_deref()).expect("a sandbox");
        User {
            cache: directory.path().join("cache"),
            environment: std::env::vars_os().collect(),
            github_url: "http://127.0.0.1:1".to_owned(),
            released_before: None,
            trust_root: PathBuf::new(),
            time_limits: TimeLimits::default(),
            directory,
            confinement,
        }
    }

    /// The cache is kept between runs of the tests.
    pub fn with_kept_cache() -> User {
        let kept = std::env::var_os("TOWPATH_TEST_CACHE").map(PathBuf::from);
        let kept = kept.unwrap_or_else(|| Path::new(TEMPORARY).join("towpath-test"));
        User { cache: kept.join("tool-artifacts"), ..User::new() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn set(&mut self, name: &str, value: impl AsRef<OsStr>) {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.into(), value.as_ref().to_owned()));
    }

    pub fn with<T>(&self, call: impl FnOnce(&mut SourceContext<'_>) -> T) -> T {
        call(&mut SourceContext {
            environment: self.environment.clone(),
            github_url: self.github_url.clone(),
            own_program: own_program(),
            confinement: self.confinement.clone(),
            cache: self.cache.clone(),
            released_before: self.released_before.clone(),
            trust_root: self.trust_root.clone(),
            time_limits: self.time_limits,
            progress: &Mutex::new(NoProgress),
        })
    }

    pub fn look_up(&self, source: &str, version: Option<&str>) -> Option<Candidate> {
        let source: SourceRef = source.parse().unwrap();
        self.with(|context| look_up(&source, version, context)).unwrap()
    }

    /// A recipe as it is after it was written to a file.
    pub fn generate(&self, candidate: &Candidate) -> ToolRecipe {
        let recipe = self.with(|context| generate(candidate, context)).unwrap();
        read(&write_recipe(&recipe))
    }

    pub fn fetch(&self, recipe: &ToolRecipe, version: &str) -> Result<Artifact, SourceError> {
        self.fetch_locked(recipe, version, &Locks::new())
    }

    pub fn fetch_locked(
        &self,
        recipe: &ToolRecipe,
        version: &str,
        locks: &Locks,
    ) -> Result<Artifact, SourceError> {
        self.with(|context| fetch(recipe, version, locks, context))
    }

    /// Builds into a new directory of this name.
    pub fn build(
        &self,
        recipe: &ToolRecipe,
        version: &str,
        artifact: &Artifact,
        name: &str,
    ) -> Result<(PathBuf, Built), SourceError> {
        let install = self.path(name);
        fs::create_dir(&install).unwrap();
        let built = self.with(|context| build(recipe, version, artifact, &install, context))?;
        Ok((install, built))
    }

    /// Runs a program of an install in a sandbox of its own; what it prints.
    pub fn run(&self, install: &Path, built: &Built, name: &str, arguments: &[&str]) -> String {
        let (_, path) = built.binaries.iter().find(|(known, _)| known == name).expect(name);
        let mut readable = vec![install.to_owned()];
        readable.extend(built.runtime.iter().cloned());
        let path_list = readable.iter().map(|directory| directory.join("bin"));
        let path_list = path_list.chain(["/usr/bin".into(), "/bin".into()]);
        let policy = Policy { readable: readable.clone(), drop_user: true, ..Policy::default() };
        let mut session = SandboxSession::open(&self.confinement, &policy, &own_program()).unwrap();
        let command = SandboxCommand {
            program: install.join(path),
            arguments: arguments.iter().map(OsString::from).collect(),
            environment: vec![("PATH".into(), std::env::join_paths(path_list).unwrap())],
            directory: CommandDirectory::Fresh,
            terminal: false,
            time_limit: Duration::from_secs(60),
            output_limit: 1 << 20,
        };
        let end = session.run(&command, &mut |_, _| {}).unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&end.stdout), text(&end.stderr));
        assert_eq!(end.status, EndStatus::Exited(0), "{name}: {stdout}{stderr}");
        stdout + &stderr
    }
}

/// Names the program that serves the sandbox, where a copy of it is used.
pub const SERVER: &str = "TOWPATH_TEST_SANDBOX_SERVER";

pub fn own_program() -> PathBuf {
    let built = || env!("CARGO_BIN_EXE_towpath-sandbox-server").into();
    PathBuf::from(std::env::var_os(SERVER).unwrap_or_else(built))
}

pub fn read(text: &str) -> ToolRecipe {
    let source: Arc<Source> = Source::new("tool.toml", text);
    read_recipe(&source).unwrap_or_else(|problems| {
        let messages: Vec<_> = problems.iter().map(|problem| &problem.message).collect();
        panic!("{messages:?}\n{text}")
    })
}
