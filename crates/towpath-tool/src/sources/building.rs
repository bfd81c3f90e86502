//! A build: what was fetched becomes files of an install, and its programs get files or relative links in
//! `bin/`, each under the name by which it is run. What is extracted is in the install's `files/`, where
//! commands run and where the paths of programs begin.

use super::Built;
use super::client_sandbox::{Call, ClientSandbox, Configuration, SYSTEM_PATH, find_program};
use super::remote_file::FILES;
use super::source_context::SourceContext;
use super::source_error::{AtPath as _, Result, SourceError};
use crate::archive::{ArchiveLimits, unpack};
use crate::file_hash::set_mode;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};

/// What every sandbox shows already.
const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/opt"];

/// A command with network has no configuration of the user.
const NO_REGISTRY: Configuration =
    Configuration { variable: "TOWPATH_NO_FILE", below_home: &[], files: &[], variables: &[] };

pub(super) struct Building<'b> {
    pub artifact: &'b Path,
    pub install: &'b Path,
    pub built: Built,
    pub context: &'b SourceContext<'b>,
}

impl Building<'_> {
    /// A part of what was fetched.
    pub fn fetched(&self, part: &str) -> PathBuf {
        self.artifact.join(part)
    }

    /// Takes all executable files of a directory as programs, in the order of their names.
    pub fn add_programs(&mut self, directory: &str) -> Result<()> {
        let path = self.install.join(directory);
        let entries = fs::read_dir(&path).at(&path)?.flatten();
        let is_program = |entry: &fs::DirEntry| {
            let file = file_inside(self.install, &entry.path());
            file.and_then(|file| file.metadata().ok())
                .is_some_and(|file| file.permissions().mode() & 0o111 != 0)
        };
        let programs = entries.filter(is_program);
        let mut names: Vec<String> =
            programs.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        for name in names {
            let path = Path::new(directory).join(&name);
            if self.built.binaries.iter().all(|(_, known)| *known != path) {
                self.built.binaries.push((name, path));
            }
        }
        Ok(())
    }

    /// Links `bin/NAME` to a file of the install, which becomes executable.
    pub fn link_program(&mut self, name: &str, file: &str) -> Result<()> {
        let target = file_inside(self.install, &self.install.join(file));
        let target = target.ok_or_else(|| SourceError::NoFile(file.to_owned()))?;
        let mode = target.metadata().at(&target)?.permissions().mode();
        set_mode(&target, mode & 0o7777 | 0o111).at(&target)?;
        let link = real_directory(self.install, "bin")?.join(name);
        if link.symlink_metadata().is_ok() {
            return Err(SourceError::TwoPrograms(name.to_owned()));
        }
        symlink(Path::new("..").join(file), &link).at(&link)?;
        self.built.binaries.push((name.to_owned(), Path::new("bin").join(name)));
        Ok(())
    }

    pub fn extract(&self, name: &str, strip: u32) -> Result<()> {
        let archive = inner(&self.fetched(FILES), name)?;
        if !archive.is_file() {
            return Err(SourceError::NoFile(name.to_owned()));
        }
        let files = real_directory(self.install, FILES)?;
        let unpacked = self.install.join(".unpacked");
        refuse_links(self.install)?;
        unpack(&archive, name, &unpacked, strip, &ArchiveLimits::default())?;
        merge_tree(&unpacked, &files).at(&files)
    }

    pub fn install_programs(&mut self, programs: &[(String, String)]) -> Result<()> {
        let files = real_directory(self.install, FILES)?;
        for (path, name) in programs {
            let target = inner(&files, path)?;
            let fetched = self.fetched(FILES).join(path);
            // A program that came as it is, not in an archive.
            if target.symlink_metadata().is_err() && fetched.is_file() {
                let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
                real_directory(self.install, &format!("{FILES}/{parent}"))?;
                fs::copy(&fetched, &target).at(&target)?;
            }
            self.link_program(name, &format!("{FILES}/{path}"))?;
        }
        Ok(())
    }

    /// Runs a command of the recipe.
    pub fn run(&self, command: &[String], network: bool) -> Result<()> {
        let Some((program, arguments)) = command.split_first() else { return Ok(()) };
        let (files, fetched) = (real_directory(self.install, FILES)?, self.fetched(FILES));
        let program = program_of(program, &files)?;
        let readable = fetched.is_dir().then(|| fetched.clone()).into_iter().collect();
        let (network, time) = (network.then_some(&NO_REGISTRY), self.context.time_limits.build);
        let mut sandbox = ClientSandbox::open(self.context, network, time, readable, self.install)?;
        let name = "a command of the recipe";
        let mut call = Call::new(name, program, "").list(arguments);
        call = call.variable("INSTALL", self.install).variable("FETCHED", fetched);
        call.path.push(self.install.join("bin"));
        call.directory = Some(files);
        sandbox.run_shown(call, "")?.success(name).map(|_| ())
    }
}

/// A path, or a name that the system has.
fn program_of(program: &str, files: &Path) -> Result<PathBuf> {
    if program.starts_with('/') {
        return Ok(program.into());
    }
    if program.contains('/') {
        return inner(files, program.trim_start_matches("./"));
    }
    let found = find_program(OsStr::new(SYSTEM_PATH), program);
    found.ok_or_else(|| SourceError::NoFile(program.to_owned()))
}

/// A directory of the install, made if it does not exist. What an earlier step has run may have put a
/// link there, and what we write through it would be anywhere.
pub(super) fn real_directory(install: &Path, inner: &str) -> Result<PathBuf> {
    let mut path = install.to_owned();
    for part in inner.split('/').filter(|part| !part.is_empty()) {
        path.push(part);
        match path.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(SourceError::NotInside(path)),
            Err(_) => fs::create_dir(&path).at(&path)?,
        }
    }
    Ok(path)
}

/// Refuses links at the top of an install: whoever writes beside `bin/` would follow them.
pub(super) fn refuse_links(install: &Path) -> Result<()> {
    for entry in fs::read_dir(install).at(install)?.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            return Err(SourceError::NotInside(entry.path()));
        }
    }
    Ok(())
}

/// Moves the content of a directory into another one. Directories are joined; nothing is replaced.
fn merge_tree(from: &Path, into: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = into.join(entry.file_name());
        match target.symlink_metadata() {
            Err(_) => fs::rename(entry.path(), target)?,
            Ok(known) if known.is_dir() && entry.file_type()?.is_dir() => {
                merge_tree(&entry.path(), &target)?;
            }
            Ok(_) => {
                let message = format!("`{}` is there already", target.display());
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
            }
        }
    }
    fs::remove_dir(from)
}

/// A name that can be a file in `bin/` and a word of a command.
pub(super) fn is_program_name(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    starts
        && name.len() <= 255
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c))
}

/// The file that a path leads to, unless that is outside of the install: what a build has made may
/// contain links to anywhere.
fn file_inside(install: &Path, path: &Path) -> Option<PathBuf> {
    let (root, file) = (install.canonicalize().ok()?, path.canonicalize().ok()?);
    (file.starts_with(root) && file.is_file()).then_some(file)
}

/// Those directories that a sandbox has to be shown.
pub(super) fn outside_of_system(directories: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let outside = |path: &PathBuf| !SYSTEM.iter().any(|system| path.starts_with(system));
    directories.into_iter().filter(outside).collect()
}

/// A path below a directory; what was filled in could have changed that.
pub(super) fn inner(directory: &Path, path: &str) -> Result<PathBuf> {
    let mut parts = Path::new(path).components();
    let is_inner = !path.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)));
    is_inner.then(|| directory.join(path)).ok_or_else(|| SourceError::NoFile(path.to_owned()))
}
