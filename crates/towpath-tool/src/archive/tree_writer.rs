//! Writes the entries of an archive into an empty directory that belongs to us. A path is relative and has
//! only ordinary components, its parents are real directories, nothing is written twice, and symbolic
//! links are made last, after all of them were followed: while files are written there is no link that
//! could lead a write elsewhere.

use super::ArchiveLimits;
use super::error::{ArchiveError, Refusal};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::Path;

/// The longest component and the longest path that file systems take.
const LONGEST_COMPONENT: usize = 255;
const LONGEST_PATH: usize = 4000;
/// As many links as Linux follows.
const MOST_LINKS: usize = 40;

/// A regular file that was unpacked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnpackedFile {
    /// Relative to the destination, with `/`.
    pub path: String,
    pub executable: bool,
}

/// An entry as its archive has it.
pub(super) enum Entry<'e> {
    Directory,
    File {
        mode: u32,
        content: &'e mut dyn Read,
    },
    Symlink(Vec<u8>),
    /// Another name of a file that is in the archive before it.
    HardLink(Vec<u8>),
    Refused(Refusal),
}

enum Node {
    Directory,
    File { executable: bool },
    Symlink(String),
}

pub(super) struct TreeWriter<'d> {
    root: &'d Path,
    /// How many components of every path are left out.
    pub strip: u32,
    pub limits: ArchiveLimits,
    nodes: BTreeMap<String, Node>,
    bytes: u64,
}

impl<'d> TreeWriter<'d> {
    /// `root` is an empty directory that nobody else writes to.
    pub fn new(root: &'d Path, strip: u32, limits: ArchiveLimits) -> TreeWriter<'d> {
        TreeWriter { root, strip, limits, nodes: BTreeMap::new(), bytes: 0 }
    }

    /// Writes an entry, unless nothing is left of its path.
    pub fn add(&mut self, name: &[u8], entry: Entry<'_>) -> Result<(), ArchiveError> {
        self.write(name, entry).map_err(|error| error.of_entry(name))
    }

    fn write(&mut self, name: &[u8], entry: Entry<'_>) -> Result<(), ArchiveError> {
        let Some(path) = relative_path(name, self.strip)? else { return Ok(()) };
        for parent in parents(&path) {
            self.make_directory(parent, Refusal::NotInDirectory)?;
        }
        match entry {
            // It may be named again, and after its content.
            Entry::Directory => self.make_directory(&path, Refusal::Duplicate),
            Entry::File { mode, .. } if mode & 0o6000 != 0 => Err(Refusal::SetUser.into()),
            Entry::File { mode, content } => self.write_file(&path, mode & 0o111 != 0, content),
            Entry::Symlink(target) => {
                let target = plain_text(&target)?.to_owned();
                self.new_node(&path, Node::Symlink(target))
            }
            Entry::HardLink(target) => self.hard_link(&path, &target),
            Entry::Refused(refusal) => Err(refusal.into()),
        }
    }

    fn write_file(
        &mut self,
        path: &str,
        executable: bool,
        content: &mut dyn Read,
    ) -> Result<(), ArchiveError> {
        self.new_node(path, Node::File { executable })?;
        let target = self.root.join(path);
        let mode = if executable { 0o755 } else { 0o644 };
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&target);
        let mut file = file.map_err(|error| not_made(error, &target))?;
        let left = self.limits.bytes.saturating_sub(self.bytes);
        let copied = io::copy(&mut content.take(left.saturating_add(1)), &mut file);
        // The system's errors are those of writing; readers of archives have their own.
        let copied = copied.map_err(|error| match error.raw_os_error() {
            Some(_) => ArchiveError::io(&target)(error),
            None => error.into(),
        })?;
        self.bytes = self.bytes.saturating_add(copied);
        match copied > left {
            true => Err(Refusal::TooManyBytes(self.limits.bytes).into()),
            false => Ok(()),
        }
    }

    fn hard_link(&mut self, path: &str, link: &[u8]) -> Result<(), ArchiveError> {
        let shown = || link.escape_ascii().to_string();
        let target = relative_path(link, self.strip).map_err(|_| Refusal::LinkLeaves(shown()))?;
        let target = target.ok_or_else(|| Refusal::LinkToNoFile(shown()))?;
        let Some(&Node::File { executable }) = self.nodes.get(&target) else {
            return Err(Refusal::LinkToNoFile(target).into());
        };
        self.new_node(path, Node::File { executable })?;
        let (from, to) = (self.root.join(target), self.root.join(path));
        fs::hard_link(from, &to).map_err(|error| not_made(error, &to))
    }

    /// Makes the symbolic links, and returns the files.
    pub fn finish(self) -> Result<Vec<UnpackedFile>, ArchiveError> {
        let target_of = |path: &str| match self.nodes.get(path) {
            Some(Node::Symlink(target)) => Some(target.as_str()),
            _ => None,
        };
        let links = || self.nodes.keys().filter_map(|path| Some((path, target_of(path)?)));
        for (path, target) in links() {
            if !stays_inside(path, &target_of) {
                let refusal = Refusal::LinkLeaves(target.to_owned());
                return Err(ArchiveError::from(refusal).of_entry(path.as_bytes()));
            }
        }
        for (path, target) in links() {
            let at = self.root.join(path);
            symlink(target, &at).map_err(ArchiveError::io(&at))?;
        }
        let file = |(path, node)| match node {
            Node::File { executable } => Some(UnpackedFile { path, executable }),
            _ => None,
        };
        Ok(self.nodes.into_iter().filter_map(file).collect())
    }

    /// Makes a directory, unless it is there; anything else in its position is refused.
    fn make_directory(&mut self, path: &str, refusal: Refusal) -> Result<(), ArchiveError> {
        match self.nodes.get(path) {
            Some(Node::Directory) => return Ok(()),
            Some(_) => return Err(refusal.into()),
            None => self.new_node(path, Node::Directory)?,
        }
        let target = self.root.join(path);
        fs::create_dir(&target).map_err(|error| not_made(error, &target))
    }

    fn new_node(&mut self, path: &str, node: Node) -> Result<(), ArchiveError> {
        if self.nodes.contains_key(path) {
            return Err(Refusal::Duplicate.into());
        }
        if self.nodes.len() as u64 >= self.limits.entries {
            return Err(Refusal::TooManyEntries(self.limits.entries).into());
        }
        self.nodes.insert(path.to_owned(), node);
        Ok(())
    }
}

/// Where the file system does not distinguish capital letters, two names can be one file.
fn not_made(error: io::Error, target: &Path) -> ArchiveError {
    match error.kind() {
        io::ErrorKind::AlreadyExists => Refusal::Duplicate.into(),
        io::ErrorKind::InvalidFilename => Refusal::TooLong.into(),
        _ => ArchiveError::io(target)(error),
    }
}

fn plain_text(bytes: &[u8]) -> Result<&str, Refusal> {
    let text = std::str::from_utf8(bytes).map_err(|_| Refusal::NotUtf8)?;
    if text.contains(char::is_control) { Err(Refusal::ControlCharacter) } else { Ok(text) }
}

/// The name of an entry without its first `strip` components, joined by `/`; none if nothing is left.
fn relative_path(name: &[u8], strip: u32) -> Result<Option<String>, Refusal> {
    let text = plain_text(name)?;
    if text.starts_with('/') {
        return Err(Refusal::AbsolutePath);
    }
    let components = text.split('/').filter(|component| !matches!(*component, "" | "."));
    let components: Vec<&str> = components.collect();
    if components.contains(&"..") {
        return Err(Refusal::ParentDirectory);
    }
    if text.len() > LONGEST_PATH || components.iter().any(|part| part.len() > LONGEST_COMPONENT) {
        return Err(Refusal::TooLong);
    }
    let strip = usize::try_from(strip).unwrap_or(usize::MAX).min(components.len());
    let path = components[strip..].join("/");
    Ok((!path.is_empty()).then_some(path))
}

/// The directories above, from the top.
fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}

/// Whether a link stays inside at every step, followed as the kernel would, through the other links of the
/// archive. Comparing the text alone is not enough: with `here -> .`, the target `here/..` looks as if it
/// stayed inside, and does not.
fn stays_inside<'t>(link: &str, target_of: &dyn Fn(&str) -> Option<&'t str>) -> bool {
    let mut at: Vec<String> = Vec::new();
    let mut left: Vec<String> = link.rsplit('/').map(str::to_owned).collect();
    let mut followed = 0;
    while let Some(component) = left.pop() {
        match component.as_str() {
            "" | "." => continue,
            ".." if at.pop().is_none() => return false,
            ".." => continue,
            _ => at.push(component),
        }
        // The target of a link is walked from its directory.
        let Some(target) = target_of(&at.join("/")) else { continue };
        followed += 1;
        if followed > MOST_LINKS || target.starts_with('/') || target.is_empty() {
            return false;
        }
        at.pop();
        left.extend(target.rsplit('/').map(str::to_owned));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    type Case<'c> = (&'c [u8], u32, Result<Option<&'c str>, Refusal>);

    #[test]
    fn a_path_is_relative_and_has_only_ordinary_components() {
        let long = "x".repeat(256);
        let deep = "y/".repeat(2001);
        let cases: &[Case<'_>] = &[
            (b"a/b", 0, Ok(Some("a/b"))),
            (b"./a//b/.", 0, Ok(Some("a/b"))),
            (b"a/b/c", 1, Ok(Some("b/c"))),
            (b"a/", 1, Ok(None)),
            (b"a", 7, Ok(None)),
            (b".", 0, Ok(None)),
            (b"", 0, Ok(None)),
            (b"...", 0, Ok(Some("..."))),
            (b"..a/b..", 0, Ok(Some("..a/b.."))),
            (b"/etc/passwd", 0, Err(Refusal::AbsolutePath)),
            (b"/x", 1, Err(Refusal::AbsolutePath)),
            (b"..", 0, Err(Refusal::ParentDirectory)),
            (b"a/../../b", 0, Err(Refusal::ParentDirectory)),
            (b"../x/y", 1, Err(Refusal::ParentDirectory)),
            (b"a\xff", 0, Err(Refusal::NotUtf8)),
            (b"a\nb", 0, Err(Refusal::ControlCharacter)),
            (b"a\0b", 0, Err(Refusal::ControlCharacter)),
            (b"\x1b[2J", 0, Err(Refusal::ControlCharacter)),
            (long.as_bytes(), 0, Err(Refusal::TooLong)),
            (deep.as_bytes(), 0, Err(Refusal::TooLong)),
        ];
        for (name, strip, expected) in cases {
            let expected = expected.clone().map(|path| path.map(str::to_owned));
            assert_eq!(relative_path(name, *strip), expected, "{}", name.escape_ascii());
        }
    }

    #[test]
    fn parents_are_in_order() {
        assert_eq!(parents("a/b/c").collect::<Vec<_>>(), ["a", "a/b"]);
    }

    type Links<'l> = &'l [(&'l str, &'l str)];

    #[test]
    fn links_are_followed_through_other_links() {
        let cases: &[(Links<'_>, &str, bool)] = &[
            (&[("a", "b")], "a", true),
            (&[("lib/a.so", "a.so.1")], "lib/a.so", true),
            (&[("bin/x", "../lib/x")], "bin/x", true),
            (&[("bin/x", "./../bin/../lib/x/")], "bin/x", true),
            (&[("bin/x", "../../lib/x")], "bin/x", false),
            (&[("a", "..")], "a", false),
            (&[("a", "b/../..")], "a", false),
            (&[("a", "/etc/passwd")], "a", false),
            (&[("a", "")], "a", false),
            (&[("here", "."), ("a", "here/..")], "a", false),
            (&[("d/up", ".."), ("a", "d/up/x")], "a", true),
            (&[("d/up", ".."), ("a", "d/up/..")], "a", false),
            (&[("a", "b"), ("b", "../x")], "a", false),
            (&[("deep/e/l", "../.."), ("x", "deep/e/l/../y")], "x", false),
            (&[("a", "a")], "a", false),
            (&[("a", "b"), ("b", "a")], "a", false),
        ];
        for (pairs, link, inside) in cases {
            let find = |path: &str| pairs.iter().find(|(at, _)| *at == path);
            let target_of = |path: &str| find(path).map(|(_, target)| *target);
            assert_eq!(stays_inside(link, &target_of), *inside, "{pairs:?} {link}");
        }
    }
}
