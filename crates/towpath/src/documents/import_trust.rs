//! Consent to files that a document imports from outside of its project. The document itself, and what
//! belongs to its project, runs because the user named it; an embedded file is only read.

use crate::environment::Environment;
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::session::trust::{ConsentStatus, ConsentSubject};
use std::path::{Path, PathBuf};
use towpath_document::{DocumentSet, Roots};

/// A document that may be imported, as something to agree to.
pub fn document_subject(path: &Path, bytes: &[u8]) -> ConsentSubject {
    ConsentSubject::of_text(path, "document", "document", bytes)
}

/// Refuses imports from outside of the project that the user has not agreed to.
pub fn require(env: &Environment, set: &DocumentSet, roots: &Roots) -> Result<(), CommandError> {
    let project = Path::new(&roots.project);
    let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
    let outside =
        set.files.iter().skip(1).filter(|file| !Path::new(&file.identity).starts_with(&project));
    let mut untrusted = Vec::new();
    for file in outside {
        let path = PathBuf::from(&file.identity);
        let subject = document_subject(&path, file.document.bytes());
        if subject.status(env.journal()?.as_ref())? != ConsentStatus::Trusted {
            untrusted.push(subject.argument(env));
        }
    }
    if untrusted.is_empty() {
        return Ok(());
    }
    let files = untrusted.join(" ");
    let message = format!(
        "the document imports files from outside of its project, and they are not trusted: to see \
         them: towpath trust {files}; to trust them: towpath trust --yes {files}"
    );
    Err(CommandError::new(Exit::Setup, ErrorKind::NotTrusted, message))
}
