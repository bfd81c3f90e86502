//! Where a command has its home, its working directory and its temporary files. What it leaves there is
//! removed before the next command starts, and where the sandbox has private temporary directories, all
//! that is in those, too. Elsewhere the directories are on the machine's disk: they are locked while
//! their server lives, and what a killed one has left is removed by a later one.

use super::super::confinement::Confinement;
use super::super::mount_plan::{SHARED_MEMORY, TEMPORARY};
use super::remove_tree::EmptiedDirectory;
use crate::os::User;
use rustix::fs::{Mode, OFlags, open};
use rustix::process::geteuid;
use std::fs::File;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the names of directories on the machine's disk begin with.
pub(in super::super) const SCRATCH_PREFIX: &str = "towpath-sandbox-";
/// A server that was just started has locked its directory by then.
const LOCKED_WITHIN: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct Scratch {
    base: PathBuf,
    /// The temporary directories are this sandbox's alone.
    is_private: bool,
    /// What is emptied after each command.
    emptied: Vec<EmptiedDirectory>,
    /// Who the directories are for, where that is not this process's user.
    user: Option<User>,
    is_made: bool,
    /// On the machine's disk: the directory itself, locked.
    lock: Option<File>,
}

#[derive(Debug)]
pub(super) struct FreshDirectory {
    pub home: PathBuf,
    pub work: PathBuf,
    pub temporary: PathBuf,
}

impl Scratch {
    pub fn new(base: PathBuf, confinement: &Confinement, user: Option<User>) -> Scratch {
        let is_private = confinement.has_namespaces();
        // Outside of a sandbox of their own these two are everyone's, and never emptied.
        let private: &[&str] = if is_private { &[TEMPORARY, SHARED_MEMORY] } else { &[] };
        let emptied = private.iter().map(|path| EmptiedDirectory::new(Path::new(path))).collect();
        Scratch { base, is_private, emptied, user, is_made: false, lock: None }
    }

    /// What all fresh directories are in.
    pub fn base(&self) -> &Path {
        &self.base
    }

    pub fn make(&mut self) -> io::Result<FreshDirectory> {
        if self.is_private || !self.is_made {
            // One that exists already is not ours.
            std::fs::DirBuilder::new().mode(0o711).create(&self.base)?;
            self.is_made = true;
            if !self.is_private {
                let directory = File::open(&self.base)?;
                directory.lock()?;
                self.lock = Some(directory);
                self.emptied = vec![EmptiedDirectory::new(&self.base)];
                remove_abandoned(&self.base);
            }
        }
        let [home, work, temporary] = ["home", "work", "tmp"].map(|name| self.base.join(name));
        for directory in [&home, &work, &temporary] {
            self.make_one(directory)?;
        }
        Ok(FreshDirectory { home, work, temporary })
    }

    fn make_one(&self, path: &Path) -> io::Result<()> {
        std::fs::DirBuilder::new().mode(0o700).create(path)?;
        match self.user {
            Some(User(id)) => chown(path, Some(id), Some(id)),
            None => Ok(()),
        }
    }

    /// Whether nothing of the last command is left.
    pub fn clear(&mut self) -> bool {
        self.emptied.iter().all(EmptiedDirectory::empty)
    }

    pub fn remove(&mut self) {
        if self.is_made && !self.is_private {
            let _ = std::fs::remove_dir(&self.base);
        }
    }
}

/// Removes directories beside `base` that a server of this user has left when it was killed: those that
/// nobody has locked. A young one may not be locked yet.
fn remove_abandoned(base: &Path) {
    let Some(parent) = base.parent() else { return };
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().as_encoded_bytes().starts_with(SCRATCH_PREFIX.as_bytes());
        let path = entry.path();
        if !is_ours || path == base || !is_old_and_own(&path) {
            continue;
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(directory) = open(&path, flags, Mode::empty()) else { continue };
        let directory = File::from(directory);
        if directory.try_lock().is_ok() && EmptiedDirectory::left(&path).empty() {
            let _ = std::fs::remove_dir(&path);
        }
    }
}

fn is_old_and_own(path: &Path) -> bool {
    let Ok(state) = std::fs::symlink_metadata(path) else { return false };
    let age = state.modified().ok().and_then(|time| time.elapsed().ok());
    state.is_dir()
        && state.uid() == geteuid().as_raw()
        && age.is_some_and(|age| age > LOCKED_WITHIN)
}
