//! The programs of an install: files or relative links in its `bin/`, each under the name by which it is
//! run.

use super::Built;
use super::source_error::SourceError;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};

/// What every sandbox shows already.
const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/opt"];

/// Takes all executable files of a directory as programs, in the order of their names.
pub(super) fn add_directory(
    built: &mut Built,
    install: &Path,
    directory: &str,
) -> Result<(), SourceError> {
    let path = install.join(directory);
    let entries = fs::read_dir(&path).map_err(SourceError::io(&path))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| {
            file_inside(install, &entry.path()).is_some_and(|file| is_executable(&file))
        })
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    for name in names {
        let path = Path::new(directory).join(&name);
        if built.binaries.iter().all(|(_, known)| *known != path) {
            built.binaries.push((name, path));
        }
    }
    Ok(())
}

/// Links `bin/NAME` to a file of the install, which becomes executable.
pub(super) fn link_program(
    built: &mut Built,
    install: &Path,
    name: &str,
    file: &str,
) -> Result<(), SourceError> {
    let target = file_inside(install, &install.join(file));
    let target = target.ok_or_else(|| SourceError::NoFile(file.to_owned()))?;
    let mut permissions = target.metadata().map_err(SourceError::io(&target))?.permissions();
    if permissions.mode() & 0o111 != 0o111 {
        permissions.set_mode(permissions.mode() | 0o111);
        fs::set_permissions(&target, permissions).map_err(SourceError::io(&target))?;
    }
    new_program(built, install, name, |link| symlink(Path::new("..").join(file), link))
}

/// Makes `bin/NAME` by a function that gets its path.
pub(super) fn new_program(
    built: &mut Built,
    install: &Path,
    name: &str,
    make: impl FnOnce(&Path) -> std::io::Result<()>,
) -> Result<(), SourceError> {
    let path = real_directory(install, "bin")?.join(name);
    if path.symlink_metadata().is_ok() {
        return Err(SourceError::TwoPrograms(name.to_owned()));
    }
    make(&path).map_err(SourceError::io(&path))?;
    built.binaries.push((name.to_owned(), Path::new("bin").join(name)));
    Ok(())
}

/// A directory of the install, made if it does not exist. What an earlier step has run may have put a
/// link there, and what we write through it would be anywhere.
pub(super) fn real_directory(install: &Path, inner: &str) -> Result<PathBuf, SourceError> {
    let mut path = install.to_owned();
    for part in inner.split('/').filter(|part| !part.is_empty()) {
        path.push(part);
        match path.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(SourceError::NotInside(path)),
            Err(_) => fs::create_dir(&path).map_err(SourceError::io(&path))?,
        }
    }
    Ok(path)
}

/// Refuses links at the top of an install: whoever writes beside `bin/` would follow them.
pub(super) fn refuse_links(install: &Path) -> Result<(), SourceError> {
    for entry in fs::read_dir(install).map_err(SourceError::io(install))?.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            return Err(SourceError::NotInside(entry.path()));
        }
    }
    Ok(())
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

pub(super) fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// Those directories that a sandbox has to be shown.
pub(super) fn outside_of_system<const N: usize>(directories: [&PathBuf; N]) -> Vec<PathBuf> {
    let outside = |path: &&&PathBuf| !SYSTEM.iter().any(|system| path.starts_with(system));
    directories.iter().filter(outside).map(|path| (**path).clone()).collect()
}

/// Whether a path has only ordinary components.
pub(super) fn is_inner_path(path: &str) -> bool {
    !path.is_empty()
        && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}
