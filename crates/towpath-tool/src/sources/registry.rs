//! A registry of packages that has a client of its own: npm, PyPI, Cargo. Each finds its client as the user
//! has it, reads its answers, and knows how its packages are locked and built. Where it runs, what it sees
//! and where its results go is the same for all, and is here.

use super::Fetching;
use super::artifact_cache::ArtifactCache;
use super::building::Building;
use super::candidate::{Candidate, Unusable};
use super::cargo::Cargo;
use super::client_sandbox::{ClientSandbox, Configuration};
use super::look_up::{Asked, Offer, old_enough};
use super::npm::Npm;
use super::pypi::Pip;
use super::source_context::SourceContext;
use super::source_error::{Result, SourceError};
use super::source_ref::{SourceKind, SourceRef, check_version};
use std::path::PathBuf;

pub(super) trait Registry {
    /// The user's own, for its client.
    fn configuration(&self) -> &'static Configuration;

    /// Where it is, as far as that is outside of the system's directories.
    fn readable(&self) -> Vec<PathBuf>;

    /// A version of a package, or the newest.
    fn look_up(&self, asked: &Asked<'_>, sandbox: &mut ClientSandbox<'_>) -> Result<Option<Offer>>;

    /// Fetches a package with everything that an offline build needs into its part of an artifact.
    fn fetch(
        &self,
        package: &Package<'_>,
        work: &mut Fetching<'_>,
        sandbox: ClientSandbox<'_>,
    ) -> Result<()>;

    /// Builds what was fetched into the install, without network.
    fn build(
        &self,
        package: &Package<'_>,
        work: &mut Building<'_>,
        sandbox: ClientSandbox<'_>,
    ) -> Result<()>;
}

/// A package that a recipe installs.
#[derive(Debug)]
pub(super) struct Package<'s> {
    pub kind: SourceKind,
    pub name: &'s str,
    /// Features of a crate, extras of a package of PyPI.
    pub options: &'s [String],
    pub version: &'s str,
    /// The part of the artifact that belongs to it.
    pub part: String,
}

impl Package<'_> {
    pub fn unusable(&self, why: Unusable) -> SourceError {
        let (from, version) = (self.from(), self.version.to_owned());
        SourceError::Unusable { from, version, unusable: why }
    }

    pub fn not_found(&self) -> SourceError {
        SourceError::NotFound { from: self.from(), version: self.version.to_owned() }
    }

    pub fn other_bytes(&self) -> SourceError {
        SourceError::OtherBytes(format!("{} {}", self.from(), self.version))
    }

    fn from(&self) -> String {
        SourceRef::checked(self.kind, self.name.to_owned()).to_string()
    }

    pub fn fetch(&self, work: &mut Fetching<'_>) -> Result<()> {
        let registry = registry(self.kind, work.context)?;
        // It belongs to the sandbox's user, so it is made before.
        work.partial.part(&self.part)?;
        let (configuration, time) = (registry.configuration(), work.context.time_limits.fetch);
        let (readable, writable) = (registry.readable(), work.partial.directory());
        let sandbox =
            ClientSandbox::open(work.context, Some(configuration), time, readable, writable)?;
        registry.fetch(self, work, sandbox)
    }

    pub fn build(&self, work: &mut Building<'_>) -> Result<()> {
        let registry = registry(self.kind, work.context)?;
        let readable = registry.readable().into_iter().chain([work.fetched(&self.part)]).collect();
        let time = work.context.time_limits.build;
        let sandbox = ClientSandbox::open(work.context, None, time, readable, work.install)?;
        registry.build(self, work, sandbox)
    }
}

/// A registry with its client, as the user has it.
fn registry(kind: SourceKind, context: &SourceContext<'_>) -> Result<Box<dyn Registry>> {
    Ok(match kind {
        SourceKind::Cargo => Box::new(Cargo::find(context)?),
        SourceKind::Npm => Box::new(Npm::find(context)?),
        _ => Box::new(Pip::find(context)?),
    })
}

/// Asks the registry of a package.
pub(super) fn look_up(asked: Asked<'_>, context: &SourceContext<'_>) -> Result<Option<Candidate>> {
    let (source, kind) = (asked.source, asked.source.kind());
    let partial = ArtifactCache::new(&context.cache).begin()?;
    let registry = registry(kind, context)?;
    let (configuration, time) = (registry.configuration(), context.time_limits.answer);
    let (readable, writable) = (registry.readable(), partial.scratch("look-up")?);
    let mut sandbox = ClientSandbox::open(context, Some(configuration), time, readable, &writable)?;
    let found = old_enough(asked, |asked| registry.look_up(asked, &mut sandbox))?;
    let Some(mut candidate) = found else { return Ok(None) };
    let wrong = |what: String| Err(SourceError::output(kind.word(), what));
    if let Err(error) = check_version(&candidate.version) {
        return wrong(error);
    }
    if plain_name(candidate.source.name()) != plain_name(source.name()) {
        return wrong(format!("`{}` for `{}`", candidate.source.name(), source.name()));
    }
    candidate.source = SourceRef::new(kind, candidate.source.name())?;
    Ok(Some(candidate))
}

/// Capital letters and separators do not matter to some registries; nothing else may differ.
pub(super) fn plain_name(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    lower.split(['-', '_', '.']).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}
