//! A registry of packages that has a client of its own: npm, PyPI, Cargo. Each finds its client as the user
//! has it, reads its answers, and knows how its packages are locked and built. Where it runs, what it sees
//! and where its results go is the same for all, and is here.

use super::artifact_cache::{Artifact, ArtifactCache, PartialArtifact};
use super::candidate::{Candidate, Unusable};
use super::cargo::Cargo;
use super::client_sandbox::{Call, ClientSandbox, Clients, Configuration, Output};
use super::npm::Npm;
use super::pypi::Pip;
use super::source_context::{Progress, SourceContext, Unit};
use super::source_error::SourceError;
use super::source_ref::{SourceKind, SourceRef, check_version};
use super::{Built, Locks};
use std::path::{Path, PathBuf};

pub(super) trait Registry {
    /// The user's own, for its client.
    fn configuration(&self) -> Configuration;

    /// Where it is, as far as that is outside of the system's directories.
    fn readable(&self) -> Vec<PathBuf>;

    /// A version of a package, or the newest that is not too young.
    fn look_up(
        &self,
        asked: &Asked<'_>,
        sandbox: &mut ClientSandbox,
    ) -> Result<Option<Candidate>, SourceError>;

    /// Fetches a package with everything that an offline build needs into its part of an artifact.
    fn fetch(&self, package: &Package<'_>, work: Fetching<'_>) -> Result<(), SourceError>;

    /// Builds what was fetched into the install, without network.
    fn build(&self, package: &Package<'_>, work: Building<'_>) -> Result<(), SourceError>;
}

/// A question to a registry.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub name: &'a str,
    pub version: Option<&'a str>,
    pub clients: &'a Clients<'a>,
}

impl Asked<'_> {
    /// `NAME`, or that with a version as the client writes it.
    pub fn wanted(&self, before_version: &str) -> String {
        let version = self.version.map(|version| format!("{before_version}{version}"));
        format!("{}{}", self.name, version.unwrap_or_default())
    }

    /// Whether a version was published too recently to be taken.
    pub fn is_too_young(&self, published: Option<&str>) -> bool {
        let bound = self.clients.released_before.filter(|_| self.version.is_none());
        bound.zip(published).is_some_and(|(bound, published)| published > bound)
    }
}

/// A package that a recipe installs.
pub(super) struct Package<'s> {
    pub kind: SourceKind,
    pub name: &'s str,
    /// Features of a crate, extras of a package of PyPI.
    pub options: &'s [String],
    pub version: &'s str,
    /// The part of the artifact that belongs to it.
    pub part: &'s str,
}

impl Package<'_> {
    pub fn unusable(&self, why: Unusable) -> SourceError {
        let (from, version) = (self.from(), self.version.to_owned());
        SourceError::Unusable { from, version, unusable: why }
    }

    pub fn not_found(&self) -> SourceError {
        SourceError::NotFound { from: self.from(), version: self.version.to_owned() }
    }

    pub fn from(&self) -> String {
        SourceRef::checked(self.kind, self.name.to_owned()).to_string()
    }
}

/// The work of a fetch.
pub(super) struct Fetching<'w> {
    pub directory: PathBuf,
    /// Filled by the client.
    pub artifact: &'w mut Artifact,
    pub sandbox: ClientSandbox,
    /// Exactly this is fetched; where it has nothing for the package, the client chooses.
    pub locks: &'w Locks,
    pub clients: Clients<'w>,
    pub progress: &'w mut dyn Progress,
}

impl Fetching<'_> {
    /// Runs the client, and counts the lines of what it has fetched.
    pub fn run(&mut self, call: Call, fetched: &str) -> Result<Output, SourceError> {
        run_counting(&mut self.sandbox, call, fetched, self.progress)
    }
}

/// The work of a build.
pub(super) struct Building<'w> {
    /// The part of the artifact that belongs to it.
    pub fetched: PathBuf,
    pub install: &'w Path,
    pub sandbox: ClientSandbox,
    pub built: &'w mut Built,
    pub progress: &'w mut dyn Progress,
}

impl Building<'_> {
    /// Runs a command to its successful end.
    pub fn run(&mut self, call: Call, shown: &str) -> Result<(), SourceError> {
        let name = call.name;
        run_counting(&mut self.sandbox, call, shown, self.progress)?.success(name).map(|_| ())
    }
}

/// Shows the lines that have a text, from there on.
fn run_counting(
    sandbox: &mut ClientSandbox,
    call: Call,
    shown: &str,
    progress: &mut dyn Progress,
) -> Result<Output, SourceError> {
    let mut count = 0;
    sandbox.run(call, &mut |line| {
        if let Some((_, what)) = line.split_once(shown) {
            count += 1;
            if !shown.is_empty() {
                progress.amount(count, None, Unit::Items);
            }
            progress.line(what);
        }
    })
}

/// A registry with its client, as the user has it.
fn registry(kind: SourceKind, clients: &Clients<'_>) -> Result<Box<dyn Registry>, SourceError> {
    Ok(match kind {
        SourceKind::Cargo => Box::new(Cargo::find(clients)?),
        SourceKind::Npm => Box::new(Npm::find(clients)?),
        _ => Box::new(Pip::find(clients)?),
    })
}

/// Asks the registry of a package.
pub(super) fn look_up(
    source: &SourceRef,
    version: Option<&str>,
    clients: &Clients<'_>,
    cache: &Path,
) -> Result<Option<Candidate>, SourceError> {
    let partial = ArtifactCache::new(cache).begin()?;
    let directory = partial.scratch("look-up")?;
    let registry = registry(source.kind(), clients)?;
    let configuration = registry.configuration();
    let readable = registry.readable();
    let mut sandbox = ClientSandbox::open(clients, Some(&configuration), readable, &directory)?;
    let asked = Asked { name: source.name(), version, clients };
    let Some(mut candidate) = registry.look_up(&asked, &mut sandbox)? else { return Ok(None) };
    let kind = source.kind();
    let wrong = |what: String| Err(SourceError::output(kind.word(), what));
    if let Err(error) = check_version(&candidate.version) {
        return wrong(error);
    }
    // Capital letters and separators do not matter to some registries; nothing else may differ.
    let plain = |name: &str| name.to_ascii_lowercase().replace(['_', '.'], "-");
    if plain(candidate.source.name()) != plain(source.name()) {
        return wrong(format!("`{}` for `{}`", candidate.source.name(), source.name()));
    }
    candidate.source = SourceRef::new(kind, candidate.source.name())?;
    Ok(Some(candidate))
}

pub(super) fn fetch(
    package: &Package<'_>,
    locks: &Locks,
    partial: &mut PartialArtifact,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let directory = partial.part(package.part)?;
    let (clients, progress) = context.split();
    let registry = registry(package.kind, &clients)?;
    let (configuration, readable) = (registry.configuration(), registry.readable());
    let writable = partial.directory();
    let sandbox = ClientSandbox::open(&clients, Some(&configuration), readable, writable)?;
    let artifact = &mut partial.artifact;
    registry.fetch(package, Fetching { directory, artifact, sandbox, locks, clients, progress })
}

pub(super) fn build(
    package: &Package<'_>,
    fetched: PathBuf,
    install: &Path,
    built: &mut Built,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let (clients, progress) = context.split();
    let registry = registry(package.kind, &clients)?;
    let readable = registry.readable().into_iter().chain([fetched.clone()]).collect();
    let sandbox = ClientSandbox::open(&clients, None, readable, install)?;
    registry.build(package, Building { fetched, install, sandbox, built, progress })
}
