//! Consent to files that a document imports from outside of its project. The document itself, and what
//! belongs to its project, runs because the user named it; an embedded file is only read.

use crate::environment::Environment;
use crate::exit_codes_and_errors::{CommandError, ErrorKind, Exit};
use crate::session::trust::{ConsentStatus, ConsentSubject, visible};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use towpath_document::{DocumentSet, Roots};
use towpath_store::PlanHash;

/// A document that may be imported, as something to agree to.
pub fn document_subject(path: &Path, bytes: &[u8]) -> ConsentSubject {
    let mut hash = Sha256::new();
    hash.update(b"towpath document 1\0");
    hash.update(bytes);
    let text = String::from_utf8_lossy(bytes);
    ConsentSubject {
        path: path.canonicalize().unwrap_or_else(|_| path.to_owned()),
        hash: PlanHash(hash.finalize().into()),
        what: "document".to_owned(),
        contents: text.lines().map(|line| format!("  {}\n", visible(line))).collect(),
        agents: false,
        files: Vec::new(),
    }
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
