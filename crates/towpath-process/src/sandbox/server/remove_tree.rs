//! Emptying a directory that untrusted programs have filled. Nothing outside can be touched: no link is
//! followed and no mount is entered. A tree that is deeper than our limit
//! of open files is moved up and emptied in another round.

use rustix::fs::{
    AtFlags, Dir, Mode, OFlags, ResolveFlags, chmod, fstat, open, openat, openat2, renameat,
    statat, unlinkat,
};
use rustix::io::Errno;
use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

/// Deeper than any mount of a policy, so that what is moved has none below it.
const DEEPEST: usize = 64;
/// Each round removes this many levels, and a path of a tree cannot grow between them.
const ROUNDS: usize = 10_000;

/// What a directory has after it was emptied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rest {
    Nothing,
    /// Mounts, which are not ours to remove.
    Mounts,
    /// Something that was moved up.
    Moved,
    Stuck,
}

/// A directory that is emptied again and again. What was in it at first stays: that is where mounts are.
/// Under another name it is something left, and stuck.
#[derive(Debug, Default)]
pub(super) struct EmptiedDirectory {
    path: PathBuf,
    device: u64,
    first: HashSet<Entry>,
}

/// The parent's number, the name in it, and the number of what has this name.
type Entry = (u64, CString, u64);

impl EmptiedDirectory {
    pub fn new(path: &Path) -> EmptiedDirectory {
        let mut directory = EmptiedDirectory { path: path.to_owned(), ..Default::default() };
        if let Ok(top) = open_directory(path)
            && let Ok(state) = fstat(&top)
        {
            directory.device = state.st_dev;
            directory.note(&top, state.st_ino, 1);
        }
        directory
    }

    /// One of which nothing stays.
    pub fn left(path: &Path) -> EmptiedDirectory {
        let device = open_directory(path).and_then(fstat).map_or(0, |state| state.st_dev);
        EmptiedDirectory { path: path.to_owned(), device, first: HashSet::new() }
    }

    fn note(&mut self, directory: &OwnedFd, number: u64, depth: usize) {
        for name in names(directory).unwrap_or_default() {
            let Ok(state) = statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            if state.st_dev != self.device {
                continue;
            }
            if let Ok(directory) = enter(directory, &name, Closed::Stays)
                && depth < DEEPEST
            {
                self.note(&directory, state.st_ino, depth + 1);
            }
            self.first.insert((number, name, state.st_ino));
        }
    }

    /// Removes what has come into it; whether nothing of that is left.
    pub fn empty(&self) -> bool {
        let Ok(top) = open_directory(&self.path) else { return !self.path.exists() };
        let mut round = Round { top: &top, kept: self, moved: 0 };
        for _ in 0..ROUNDS {
            match round.empty(&top, 1) {
                Rest::Nothing | Rest::Mounts => return true,
                Rest::Moved => {}
                Rest::Stuck => return false,
            }
        }
        false
    }
}

fn open_directory(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    open(path, flags, Mode::empty())
}

struct Round<'a> {
    top: &'a OwnedFd,
    kept: &'a EmptiedDirectory,
    moved: u64,
}

impl Round<'_> {
    fn empty(&mut self, directory: &OwnedFd, depth: usize) -> Rest {
        let (Ok(names), Ok(state)) = (names(directory), fstat(directory)) else {
            return Rest::Stuck;
        };
        let mut rest = Rest::Nothing;
        for name in names {
            rest = rest.max(self.remove(directory, state.st_ino, name, depth));
        }
        rest
    }

    fn remove(&mut self, parent: &OwnedFd, number: u64, name: CString, depth: usize) -> Rest {
        let Ok(state) = statat(parent, name.as_c_str(), AtFlags::SYMLINK_NOFOLLOW) else {
            return Rest::Stuck;
        };
        if state.st_dev != self.kept.device {
            return Rest::Mounts;
        }
        let entry = (number, name, state.st_ino);
        let is_first = self.kept.first.contains(&entry);
        let name = entry.1.as_c_str();
        if is_first {
            return match enter(parent, name, Closed::Stays) {
                Ok(directory) => self.empty(&directory, depth + 1).max(Rest::Mounts),
                Err(_) => Rest::Mounts,
            };
        }
        match unlinkat(parent, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => return Rest::Nothing,
            Err(Errno::ISDIR) => {}
            Err(_) => return Rest::Stuck,
        }
        if unlinkat(parent, name, AtFlags::REMOVEDIR).is_ok() {
            return Rest::Nothing;
        }
        let Ok(directory) = enter(parent, name, Closed::Opens) else { return Rest::Stuck };
        if depth >= DEEPEST {
            return self.move_up(parent, name);
        }
        match self.empty(&directory, depth + 1) {
            Rest::Nothing if unlinkat(parent, name, AtFlags::REMOVEDIR).is_ok() => Rest::Nothing,
            Rest::Moved => Rest::Moved,
            // Mounts are only where they were at first.
            Rest::Nothing | Rest::Mounts | Rest::Stuck => Rest::Stuck,
        }
    }

    fn move_up(&mut self, parent: &OwnedFd, name: &CStr) -> Rest {
        for _ in 0..1000 {
            self.moved += 1;
            if renameat(parent, name, self.top, format!("removed-{}", self.moved)).is_ok() {
                return Rest::Moved;
            }
        }
        Rest::Stuck
    }
}

/// What happens to a directory that may not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closed {
    Stays,
    Opens,
}

/// Opens a directory below, without following a link or leaving the file system.
fn enter(parent: &OwnedFd, name: &CStr, closed: Closed) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let stay = ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    let seen = openat2(parent, name, flags | OFlags::PATH, Mode::empty(), stay)?;
    if closed == Closed::Opens {
        // By its file: the name is looked up only once.
        chmod(format!("/proc/self/fd/{}", seen.as_raw_fd()), Mode::RWXU)?;
    }
    openat(seen.as_fd(), c".", flags | OFlags::RDONLY, Mode::empty())
}

fn names(directory: &OwnedFd) -> Result<Vec<CString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let name = entry?.file_name().to_owned();
        if ![c".", c".."].contains(&name.as_c_str()) {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::mkdirat;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn everything_goes_and_what_links_lead_to_stays() {
        let outside = tempfile::tempdir().expect("a directory");
        fs::write(outside.path().join("kept"), "").expect("a file");
        let inside = tempfile::tempdir().expect("a directory");
        fs::create_dir_all(inside.path().join("first/below")).expect("directories");
        let emptied = EmptiedDirectory::new(inside.path());
        let path = |name: &str| inside.path().join(name);
        fs::create_dir_all(path("a/b/c")).expect("directories");
        fs::write(path("a/b/file"), "text").expect("a file");
        std::os::unix::fs::symlink(outside.path(), path("a/b/link")).expect("a link");
        std::os::unix::fs::symlink("/no/such", path("dangling")).expect("a link");
        fs::set_permissions(path("a/b"), fs::Permissions::from_mode(0o0)).expect("a mode");
        fs::write(path("first/below/file"), "text").expect("a file");
        assert!(emptied.empty());
        let names = |path| fs::read_dir(path).expect("it stays").count();
        assert_eq!(names(inside.path()), 1);
        assert_eq!(names(&path("first/below")), 0, "which was there at first");
        assert!(outside.path().join("kept").exists());
    }

    #[test]
    fn a_tree_deeper_than_any_path_goes() {
        let inside = tempfile::tempdir().expect("a directory");
        let emptied = EmptiedDirectory::new(inside.path());
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut next = open(inside.path(), flags, Mode::empty()).expect("a directory");
        for _ in 0..700 {
            mkdirat(&next, c"deeper", Mode::RWXU).expect("a directory");
            next = openat(&next, c"deeper", flags, Mode::empty()).expect("a directory");
        }
        drop(next);
        assert!(emptied.empty());
        assert_eq!(fs::read_dir(inside.path()).expect("it stays").count(), 0);
    }
}
