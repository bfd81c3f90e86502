//! Writes the entries of an archive into an empty directory that belongs to us. Every entry's parent
//! must be a real directory, nothing is written twice, and symbolic links are made last, after all of
//! them were followed: while files are written there is no link that could lead a write elsewhere.

use super::ArchiveLimits;
use super::entry_path::EntryPath;
use super::error::{ArchiveError, Refusal};
use super::link_target::stays_inside;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// A regular file that was unpacked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnpackedFile {
    /// Relative to the destination, with `/`.
    pub path: String,
    pub executable: bool,
}

enum Node {
    Directory,
    File { executable: bool },
    Symlink,
}

pub(super) struct TreeWriter<'d> {
    root: &'d Path,
    nodes: BTreeMap<String, Node>,
    links: BTreeMap<String, String>,
    limits: ArchiveLimits,
    bytes: u64,
}

impl<'d> TreeWriter<'d> {
    /// `root` is an empty directory that nobody else writes to.
    pub fn new(root: &'d Path, limits: ArchiveLimits) -> TreeWriter<'d> {
        TreeWriter { root, nodes: BTreeMap::new(), links: BTreeMap::new(), limits, bytes: 0 }
    }

    /// A directory may be named again, and after its content.
    pub fn directory(&mut self, path: &EntryPath) -> Result<(), ArchiveError> {
        self.make_parents(path)?;
        self.make_directory(path.as_str(), path)
    }

    pub fn file(
        &mut self,
        path: &EntryPath,
        executable: bool,
        content: &mut dyn Read,
    ) -> Result<(), ArchiveError> {
        self.new_node(path, Node::File { executable })?;
        let target = self.on_disk(path);
        let mode = if executable { 0o755 } else { 0o644 };
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&target);
        let mut file = file.map_err(|error| created(error, &target, path))?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = match content.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(ArchiveError::damaged(error)),
            };
            self.bytes = self.bytes.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
            if self.bytes > self.limits.bytes {
                return Err(refused(path, Refusal::TooManyBytes(self.limits.bytes)));
            }
            file.write_all(&buffer[..read]).map_err(|error| ArchiveError::io(&target, error))?;
        }
    }

    pub fn symlink(&mut self, path: &EntryPath, target: &[u8]) -> Result<(), ArchiveError> {
        let text = std::str::from_utf8(target).map_err(|_| refused(path, Refusal::NotUtf8))?;
        if text.contains(char::is_control) {
            return Err(refused(path, Refusal::ControlCharacter));
        }
        self.new_node(path, Node::Symlink)?;
        self.links.insert(path.as_str().to_owned(), text.to_owned());
        Ok(())
    }

    /// Another name of a file that is in the archive before it.
    pub fn hard_link(&mut self, path: &EntryPath, target: &EntryPath) -> Result<(), ArchiveError> {
        let Some(Node::File { executable }) = self.nodes.get(target.as_str()) else {
            return Err(refused(path, Refusal::LinkToNoFile(target.as_str().to_owned())));
        };
        self.new_node(path, Node::File { executable: *executable })?;
        let (from, to) = (self.on_disk(target), self.on_disk(path));
        fs::hard_link(from, &to).map_err(|error| created(error, &to, path))
    }

    /// Makes the symbolic links, and returns the files.
    pub fn finish(self) -> Result<Vec<UnpackedFile>, ArchiveError> {
        for (path, target) in &self.links {
            if !stays_inside(path, &self.links) {
                let refusal = Refusal::LinkLeaves(target.clone());
                return Err(ArchiveError::refused(path.as_bytes(), refusal));
            }
        }
        for (path, target) in &self.links {
            let at = self.root.join(path);
            symlink(target, &at).map_err(|error| ArchiveError::io(&at, error))?;
        }
        let file = |(path, node)| match node {
            Node::File { executable } => Some(UnpackedFile { path, executable }),
            _ => None,
        };
        Ok(self.nodes.into_iter().filter_map(file).collect())
    }

    fn on_disk(&self, path: &EntryPath) -> PathBuf {
        self.root.join(path.as_str())
    }

    fn new_node(&mut self, path: &EntryPath, node: Node) -> Result<(), ArchiveError> {
        self.make_parents(path)?;
        if self.nodes.contains_key(path.as_str()) {
            return Err(refused(path, Refusal::Duplicate));
        }
        self.insert(path.as_str(), node, path)
    }

    fn make_parents(&mut self, path: &EntryPath) -> Result<(), ArchiveError> {
        for parent in path.parents() {
            self.make_directory(parent, path)?;
        }
        Ok(())
    }

    fn make_directory(&mut self, directory: &str, of: &EntryPath) -> Result<(), ArchiveError> {
        match self.nodes.get(directory) {
            Some(Node::Directory) => return Ok(()),
            Some(_) if directory == of.as_str() => return Err(refused(of, Refusal::Duplicate)),
            Some(_) => return Err(refused(of, Refusal::NotInDirectory)),
            None => {}
        }
        self.insert(directory, Node::Directory, of)?;
        let target = self.root.join(directory);
        fs::create_dir(&target).map_err(|error| created(error, &target, of))
    }

    fn insert(&mut self, at: &str, node: Node, of: &EntryPath) -> Result<(), ArchiveError> {
        if self.nodes.len() as u64 >= self.limits.entries {
            return Err(refused(of, Refusal::TooManyEntries(self.limits.entries)));
        }
        self.nodes.insert(at.to_owned(), node);
        Ok(())
    }
}

fn refused(path: &EntryPath, refusal: Refusal) -> ArchiveError {
    ArchiveError::refused(path.as_str().as_bytes(), refusal)
}

/// Where the file system does not distinguish capital letters, two names can be one file.
fn created(error: io::Error, target: &Path, path: &EntryPath) -> ArchiveError {
    match error.kind() {
        io::ErrorKind::AlreadyExists => refused(path, Refusal::Duplicate),
        io::ErrorKind::InvalidFilename => refused(path, Refusal::TooLong),
        _ => ArchiveError::io(target, error),
    }
}
