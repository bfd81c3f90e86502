//! Copies a directory as it is: links stay links and are never followed, whatever they lead to.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

/// `to` must not exist.
pub(super) fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_tree(&source, &target)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(&source)?, &target)?;
        } else if kind.is_file() {
            fs::copy(&source, &target)?;
        } else {
            return Err(io::Error::other(format!("`{}` is no file", source.display())));
        }
    }
    Ok(())
}

/// Moves the content of a directory into another one. Directories are joined; nothing is replaced.
pub(super) fn merge_tree(from: &Path, into: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = into.join(entry.file_name());
        match target.symlink_metadata() {
            Err(_) => fs::rename(entry.path(), target)?,
            Ok(known) if known.is_dir() && entry.file_type()?.is_dir() => {
                merge_tree(&entry.path(), &target)?;
            }
            Ok(_) => {
                return Err(io::Error::new(
                    io::ErrorKind::AlreadyExists,
                    format!("`{}` is there already", target.display()),
                ));
            }
        }
    }
    fs::remove_dir(from)
}
