//! Takes over upstream's recipes. A file that was changed or deleted here stays as it is without
//! `--force`, a symbolic link always; the manifest records what was taken.

use super::fetch_upstream_recipes::Upstream;
use crate::exit::CommandError;
use std::path::Path;
use towpath_core::files;
use towpath_recipe::directory_manifest::{Compared, Manifest, digest};

/// What was done with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// It is upstream's now.
    Yes,
    /// It stays as it is here, for this reason.
    Kept(String),
    /// There was nothing to do.
    Nothing,
}

/// Whether a file is to be taken, before anything is written.
pub fn plan(compared: Compared, force: bool) -> Taken {
    match compared {
        Compared::Same | Compared::OnlyHere => Taken::Nothing,
        Compared::New { deleted_here: true } if !force => Taken::Kept("deleted here".to_owned()),
        Compared::Changed { modified_here: true } if !force => {
            Taken::Kept("changed here".to_owned())
        }
        Compared::New { .. } | Compared::Changed { .. } => Taken::Yes,
    }
}

/// Writes the files that are to be taken, and the manifest.
pub fn apply(
    directory: &Path,
    compared: &[(String, Compared)],
    upstream: &Upstream,
    mut known: Manifest,
    force: bool,
) -> Result<Vec<Taken>, CommandError> {
    std::fs::create_dir_all(directory)
        .map_err(|e| CommandError::setup(format!("{}: {e}", directory.display())))?;
    let before = known.clone();
    let mut done = Vec::new();
    for (name, state) in compared {
        let mut taken = plan(*state, force);
        if let (Taken::Yes, Some(bytes)) = (&taken, upstream.files.get(name))
            && let Err(error) = write(directory, name, bytes, *state)
        {
            taken = Taken::Kept(error.to_string());
        }
        if taken == Taken::Yes || *state == Compared::Same {
            known.insert(name, upstream.files.get(name).map_or(String::new(), |b| digest(b)));
        }
        done.push(taken);
    }
    if known != before {
        known
            .write(directory)
            .map_err(|e| CommandError::setup(format!("{}: {e}", directory.display())))?;
    }
    Ok(done)
}

fn write(directory: &Path, name: &str, bytes: &[u8], state: Compared) -> std::io::Result<()> {
    let path = files::below(directory, name)?;
    match state {
        Compared::New { .. } => files::create(&path, bytes),
        _ => files::replace(&path, bytes),
    }
}
