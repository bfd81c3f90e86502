//! What the sources have under a name: the newest version that is old enough, or the one that is asked for.

use super::candidate::{Candidate, Unusable};
use super::source_context::SourceContext;
use super::source_error::{Result, SourceError};
use super::source_ref::{SourceKind, SourceRef, check_version};
use super::{github, registry, remote_file};

/// A source and its answer.
pub type Found = (SourceKind, Result<Option<Candidate>>);

/// A question to a source.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub source: &'a SourceRef,
    /// The newest if there is none.
    pub version: Option<&'a str>,
    /// What was published later is too young.
    pub before: Option<&'a str>,
}

impl Asked<'_> {
    /// `NAME`, or that with a version as the client writes it.
    pub fn wanted(&self, before_version: &str) -> String {
        let version = self.version.map(|version| format!("{before_version}{version}"));
        format!("{}{}", self.source.name(), version.unwrap_or_default())
    }

    pub fn is_too_young(&self, published: Option<&str>) -> bool {
        self.before.zip(published).is_some_and(|(before, published)| published > before)
    }
}

/// An answer of a source.
pub(super) struct Offer {
    pub candidate: Candidate,
    /// The version to ask for, if this one is too young.
    pub older: Option<String>,
}

/// What one source has; none if it has nothing of that name, or not that version.
pub fn look_up(
    source: &SourceRef,
    version: Option<&str>,
    context: &SourceContext<'_>,
) -> Result<Option<Candidate>> {
    if let Some(version) = version {
        check_version(version).map_err(|_| SourceError::Version(version.to_owned()))?;
    }
    let before = context.released_before.as_deref().filter(|_| version.is_none());
    let asked = Asked { source, version, before };
    match source.kind() {
        SourceKind::GitHub => old_enough(asked, |asked| github::look_up(asked, context)),
        SourceKind::Url => remote_file::look_up(source, version).map(Some),
        _ => registry::look_up(asked, context),
    }
}

/// Asks every source that has names for exactly this one, all at once: each takes a second or more, most
/// of it waiting.
pub fn search(name: &str, context: &SourceContext<'_>) -> Vec<Found> {
    std::thread::scope(|scope| {
        let ask = |kind| {
            // A name that this source cannot have is not there.
            let ask = move || match SourceRef::new(kind, name) {
                Ok(source) => look_up(&source, None, context),
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

/// Asks for a version, and for an older one if it was published too recently.
pub(super) fn old_enough(
    asked: Asked<'_>,
    mut ask: impl FnMut(&Asked<'_>) -> Result<Option<Offer>>,
) -> Result<Option<Candidate>> {
    let Some(Offer { mut candidate, older }) = ask(&asked)? else { return Ok(None) };
    if !asked.is_too_young(candidate.published.as_deref()) {
        let unknown = candidate.published.is_none() && candidate.unusable.is_none();
        candidate.note = asked.before.filter(|_| unknown).map(|_| {
            let title = asked.source.kind().title();
            format!("{title} reports no release times; cool_down was not applied")
        });
        return Ok(Some(candidate));
    }
    let found = match &older {
        Some(older) => ask(&Asked { version: Some(older), before: None, ..asked })?,
        None => None,
    };
    Ok(Some(match found {
        Some(older) => Candidate { newer: Some(candidate.version), ..older.candidate },
        None => {
            Candidate { unusable: candidate.unusable.or(Some(Unusable::TooYoung)), ..candidate }
        }
    }))
}
