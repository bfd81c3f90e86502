//! What was fetched, kept for the next install: `CACHE/SOURCE/PACKAGE/VERSION-KEY/` with a tree and a
//! file that has its hash. An artifact appears complete or not at all, also when two fetch it at once or
//! one is killed; one whose content has changed is removed, never used.

use super::source_error::{AtPath as _, Result};
use super::source_ref::SourceRef;
use crate::attestation::Attestation;
use crate::file_hash::{fleeting_directory, hexadecimal, make_readable, tree_hash};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind::DirectoryNotEmpty, ErrorKind::NotFound, ErrorKind::WouldBlock};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Everything that an offline build of one version needs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Artifact {
    /// Read-only for builds.
    #[serde(skip)]
    pub directory: PathBuf,
    schema: u32,
    /// `sha256:…` of the whole tree.
    pub integrity: String,
    /// The registry's own checksums, or ours of each file, by package or file name.
    pub checksums: Vec<(String, String)>,
    /// Who has built the tool's own package or file; none where nobody was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attestation: Option<Attestation>,
    /// The version of the interpreter that it was fetched for, if that matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_for: Option<String>,
    /// The choices of the clients, as their own lock files: by part, and where it matters by platform.
    #[serde(default)]
    pub locks: Locks,
}

pub type Locks = BTreeMap<String, String>;

/// What was asked for.
#[derive(Debug, Clone, Serialize)]
pub(super) struct FetchRequest {
    pub source: SourceRef,
    pub version: String,
    /// The steps that fetch something, as JSON.
    pub steps: serde_json::Value,
    pub platform: String,
    /// Exactly this; empty for what the clients choose.
    pub locks: Locks,
}

const SCHEMA: u32 = 1;
const TREE: &str = "tree";
const FILE: &str = "artifact.json";
const LOCK: &str = "lock";

/// Each try means that another process published or discarded.
const MOST_TRIES: u32 = 100;

#[derive(Debug)]
pub(super) struct ArtifactCache<'c> {
    root: &'c Path,
}

impl<'c> ArtifactCache<'c> {
    pub fn new(root: &'c Path) -> ArtifactCache<'c> {
        ArtifactCache { root }
    }

    /// What was fetched before and is unchanged. What is there and is not that is removed.
    pub fn find(&self, request: &FetchRequest) -> Option<Artifact> {
        let directory = self.directory(request);
        // Asked first: one that another process publishes meanwhile is not discarded.
        let is_there = directory.exists();
        let found = unchanged(&directory);
        if found.is_none() && is_there {
            self.discard(request);
        }
        found
    }

    /// The version of a source that was fetched last.
    pub fn newest_version(&self, source: &SourceRef) -> Option<String> {
        let package = self.package_directory(source);
        let entries = fs::read_dir(package).into_iter().flatten().flatten();
        let fetched = |entry: &fs::DirEntry| entry.metadata().and_then(|file| file.modified()).ok();
        let newest = entries.max_by_key(fetched)?;
        let name = newest.file_name().to_string_lossy().into_owned();
        let (version, _) = name.rsplit_once('-')?;
        Some(version.replace("%2f", "/").replace("%25", "%"))
    }

    /// Removes what is not usable any more.
    pub fn discard(&self, request: &FetchRequest) {
        let directory = self.directory(request);
        let Ok(partial) = self.begin() else { return };
        // Away at one instant, so that nobody finds half of it.
        let _ = fs::rename(directory, partial.directory().join("discarded"));
    }

    /// An empty tree to fetch into.
    pub fn begin(&self) -> Result<PartialArtifact> {
        let partials = self.root.join(".partial");
        loop {
            fs::create_dir_all(&partials).at(&partials)?;
            remove_leftovers(&partials);
            match PartialArtifact::new(&partials) {
                // Another process took it for a leftover before it was locked.
                Err(error) if matches!(error.kind(), WouldBlock | NotFound) => {}
                made => return made.at(&partials),
            }
        }
    }

    /// Makes a tree visible under what was asked for.
    pub fn publish(
        &self,
        request: &FetchRequest,
        mut partial: PartialArtifact,
    ) -> Result<Artifact> {
        let (tree, whole) = (&partial.tree, partial.directory.path());
        make_readable(tree).at(tree)?;
        let mut artifact = std::mem::take(&mut partial.artifact);
        artifact.integrity = tree_hash(tree).at(tree)?;
        artifact.checksums.sort();
        let text = serde_json::to_vec_pretty(&artifact).expect("strings and lists are JSON");
        fs::write(whole.join(FILE), text).at(whole)?;
        let target = self.directory(request);
        let parent = target.parent().unwrap_or(self.root);
        fs::create_dir_all(parent).at(parent)?;
        let mut tries = 0..MOST_TRIES;
        while let Err(error) = fs::rename(whole, &target) {
            // Another process was faster, or one is damaged there, which is discarded.
            if error.kind() != DirectoryNotEmpty || tries.next().is_none() {
                return Err(error).at(&target);
            }
            if let Some(artifact) = self.find(request) {
                return Ok(artifact);
            }
        }
        let _ = fs::remove_file(target.join(LOCK));
        Ok(Artifact { directory: target.join(TREE), ..artifact })
    }

    fn directory(&self, request: &FetchRequest) -> PathBuf {
        let text = serde_json::to_vec(request).expect("a request is JSON");
        let key = &hexadecimal(&Sha256::digest(text))[..12];
        let package = self.package_directory(&request.source);
        package.join(format!("{}-{key}", one_part(&request.version)))
    }

    fn package_directory(&self, source: &SourceRef) -> PathBuf {
        let name = source.name();
        // A URL is no name for a directory.
        let package = if name.contains("://") { "download" } else { name };
        self.root.join(source.kind().word()).join(one_part(package))
    }
}

fn one_part(text: &str) -> String {
    text.replace('%', "%25").replace('/', "%2f")
}

fn unchanged(directory: &Path) -> Option<Artifact> {
    let text = fs::read(directory.join(FILE)).ok()?;
    let artifact: Artifact = serde_json::from_slice(&text).ok()?;
    let directory = directory.join(TREE);
    let same = artifact.schema == SCHEMA
        && tree_hash(&directory).is_ok_and(|hash| hash == artifact.integrity);
    same.then_some(Artifact { directory, ..artifact })
}

/// A tree that is being fetched. Dropping it removes it.
#[derive(Debug)]
pub(super) struct PartialArtifact {
    directory: TempDir,
    /// What is fetched goes here.
    pub tree: PathBuf,
    pub artifact: Artifact,
    _lock: File,
}

impl PartialArtifact {
    fn new(partials: &Path) -> io::Result<PartialArtifact> {
        let directory = fleeting_directory(partials)?;
        let lock = File::create(directory.path().join(LOCK))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        let tree = directory.path().join(TREE);
        fs::create_dir(&tree)?;
        let artifact = Artifact { schema: SCHEMA, ..Artifact::default() };
        Ok(PartialArtifact { directory, tree, artifact, _lock: lock })
    }

    /// The directory of everything that belongs to it.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// A directory beside the tree, for what is not kept.
    pub fn scratch(&self, name: &str) -> Result<PathBuf> {
        make_directory(self.directory().join(format!("scratch-{name}")))
    }

    /// A directory in the tree.
    pub fn part(&self, name: &str) -> Result<PathBuf> {
        make_directory(self.tree.join(name))
    }
}

fn make_directory(directory: PathBuf) -> Result<PathBuf> {
    fs::create_dir_all(&directory).at(&directory)?;
    Ok(directory)
}

/// What killed processes have left: nobody has its lock.
fn remove_leftovers(partials: &Path) {
    for entry in fs::read_dir(partials).into_iter().flatten().flatten() {
        let Ok(lock) = File::open(entry.path().join(LOCK)) else { continue };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
