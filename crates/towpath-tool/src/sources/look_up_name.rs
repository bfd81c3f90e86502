//! What the sources have under a name. All are asked at once: each takes a second or more, most of it
//! waiting.

use super::candidate::Candidate;
use super::registry;
use super::source_context::SourceContext;
use super::source_error::SourceError;
use super::source_ref::{SourceKind, SourceRef, check_version};
use super::{archive_url, github};

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
            registry::look_up(source, version, &context.split().0, &cache)
        }
    }
}

/// Asks every source that has names for exactly this one.
pub fn search(name: &str, context: &mut SourceContext<'_>) -> Vec<Found> {
    let cache = &context.cache.clone();
    let (clients, _) = context.split();
    std::thread::scope(|scope| {
        let ask = |kind| {
            // A name that this source cannot have is not there.
            let ask = move || match SourceRef::new(kind, name) {
                Ok(source) => registry::look_up(&source, None, &clients, cache),
                Err(_) => Ok(None),
            };
            (kind, scope.spawn(ask))
        };
        let asked: Vec<_> = SourceKind::with_names().map(ask).collect();
        let answer = |(kind, thread): (SourceKind, std::thread::ScopedJoinHandle<'_, _>)| {
            let answer = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (kind, answer)
        };
        asked.into_iter().map(answer).collect()
    })
}
