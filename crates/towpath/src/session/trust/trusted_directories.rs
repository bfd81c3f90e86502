//! Directories whose recipes run whatever they become (`towpath trust --here`): for one's own work. A recipe
//! belongs to the nearest project around it, so that a clone within a trusted directory is not trusted with it.

use crate::environment::is_project;
use crate::exit::CommandError;
use crate::terminal::format::now_ms;
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use towpath_store::{PlanHash, Store, TrustRecord};

/// What it means, for the user to read before they agree.
pub const MEANING: &str = "Its recipes will run without a question, whatever they become. An agent that works \
    here, a pull or another branch can rewrite them, and the next run does what they contain then.";

/// The record of a directory; its hash is of no contents.
pub fn record(store: &mut Store, directory: &Path) -> Result<(), CommandError> {
    store.trust_add(&TrustRecord {
        path: directory.to_owned(),
        hash: any_contents(),
        at_ms: now_ms(),
        what: "all its recipes, whatever they become".to_owned(),
    })?;
    Ok(())
}

/// The directories that are trusted.
pub fn among(records: &[TrustRecord]) -> impl Iterator<Item = &Path> {
    let hash = any_contents();
    records.iter().filter(move |record| record.hash == hash).map(|record| record.path.as_path())
}

/// Whether each of these files belongs to a trusted directory.
pub fn cover(records: &[TrustRecord], files: &[PathBuf]) -> bool {
    let trusted: Vec<&Path> = among(records).collect();
    let nearest = |file: &Path| {
        let mut around = file.ancestors().skip(1);
        around
            .find(|directory| is_project(directory) || trusted.contains(directory))
            .map(Path::to_owned)
    };
    let belongs =
        |file: &PathBuf| nearest(file).is_some_and(|root| trusted.contains(&root.as_path()));
    !trusted.is_empty() && !files.is_empty() && files.iter().all(belongs)
}

fn any_contents() -> PlanHash {
    PlanHash(Sha256::digest(b"towpath directory 1\0").into())
}
