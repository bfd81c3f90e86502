//! What the sources have under a name. All are asked at once: each takes a second or more, most of it
//! waiting.

use super::artifact_cache::ArtifactCache;
use super::candidate::Candidate;
use super::client_sandbox::Clients;
use super::source_context::SourceContext;
use super::source_error::SourceError;
use super::source_ref::{SourceKind, SourceRef, check_version};
use super::{archive_url, cargo, github, npm, pypi};
use std::path::Path;

/// A source and its answer.
pub type Found = (SourceKind, Result<Option<Candidate>, SourceError>);

/// What one source has; none if it has nothing of that name, or not that version.
pub fn look_up(
    source: &SourceRef,
    version: Option<&str>,
    context: &mut SourceContext<'_>,
) -> Result<Option<Candidate>, SourceError> {
    if let Some(version) = version {
        check_version(version).map_err(|_| SourceError::Version(version.to_owned()))?;
    }
    match source.kind() {
        SourceKind::GitHub => github::look_up(source, version, context),
        SourceKind::Url => archive_url::look_up(source, version).map(Some),
        _ => {
            let cache = context.cache.clone();
            look_up_package(source, version, &context.split().0, &cache)
        }
    }
}

/// Asks every source that has names for exactly this one.
pub fn search(name: &str, context: &mut SourceContext<'_>) -> Vec<Found> {
    let cache = context.cache.clone();
    let (clients, _) = context.split();
    let named = SourceKind::ALL.iter().copied().filter(|kind| kind.has_names());
    std::thread::scope(|scope| {
        let ask = |kind| {
            let cache = &cache;
            // A name that this source cannot have is not there.
            let ask = move || match SourceRef::new(kind, name) {
                Ok(source) => look_up_package(&source, None, &clients, cache),
                Err(_) => Ok(None),
            };
            (kind, scope.spawn(ask))
        };
        let asked: Vec<_> = named.map(ask).collect();
        let answer = |(kind, thread): (SourceKind, std::thread::ScopedJoinHandle<'_, _>)| {
            let answer = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (kind, answer)
        };
        asked.into_iter().map(answer).collect()
    })
}

/// Asks the client of a registry.
fn look_up_package(
    source: &SourceRef,
    version: Option<&str>,
    clients: &Clients<'_>,
    cache: &Path,
) -> Result<Option<Candidate>, SourceError> {
    let partial = ArtifactCache::new(cache).begin()?;
    let directory = partial.scratch("look-up")?;
    let name = source.name();
    match source.kind() {
        SourceKind::Cargo => cargo::look_up(name, version, clients, &directory),
        SourceKind::Npm => npm::look_up(name, version, clients, &directory),
        SourceKind::Pypi => pypi::look_up(name, version, clients, &directory),
        SourceKind::GitHub | SourceKind::Url => Ok(None),
    }
}
