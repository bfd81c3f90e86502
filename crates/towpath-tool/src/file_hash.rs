//! The SHA-256 of a file, and one hash for a whole directory: names, content, what is executable and where
//! links lead. Times and owners do not count, so that the same content has the same hash wherever it was
//! unpacked. What is done with all files of a directory walks the same way.

use sha2::{Digest as _, Sha256};
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// `sha256:` and 64 digits.
pub(crate) fn tree_hash(directory: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    for path in sorted_tree(directory)? {
        let metadata = path.symlink_metadata()?;
        let name = path.strip_prefix(directory).unwrap_or(&path).as_os_str().as_bytes();
        let (kind, content) = if metadata.is_dir() {
            (b'd', Vec::new())
        } else if metadata.is_symlink() {
            (b'l', fs::read_link(&path)?.into_os_string().as_bytes().to_vec())
        } else if metadata.is_file() {
            let executable = metadata.permissions().mode() & 0o111 != 0;
            (if executable { b'x' } else { b'f' }, sha256_of(&path)?.to_vec())
        } else {
            return Err(no_file(&path));
        };
        // With lengths, so that no two trees have the same text.
        hasher.update([kind]);
        for part in [name, &content] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    Ok(format!("sha256:{}", hexadecimal(&hasher.finalize())))
}

/// In 64 digits.
pub(crate) fn file_sha256(file: &Path) -> io::Result<String> {
    Ok(hexadecimal(&sha256_of(file)?))
}

fn sha256_of(file: &Path) -> io::Result<[u8; 32]> {
    let (mut file, mut hasher) = (File::open(file)?, Sha256::new());
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finalize().into()),
            read => hasher.update(&buffer[..read]),
        }
    }
}

pub(crate) fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Everything below a directory, in the order of the paths.
pub(crate) fn sorted_tree(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    each_below(directory, &mut |path, _| {
        found.push(path.to_owned());
        Ok(())
    })?;
    found.sort();
    found.remove(0);
    Ok(found)
}

/// Calls `act` with a path and with everything below it, a directory before its content. Links are not
/// followed.
pub(crate) fn each_below(
    path: &Path,
    act: &mut dyn FnMut(&Path, &Metadata) -> io::Result<()>,
) -> io::Result<()> {
    let metadata = path.symlink_metadata()?;
    act(path, &metadata)?;
    if metadata.is_dir() {
        for entry in fs::read_dir(path)? {
            each_below(&entry?.path(), act)?;
        }
    }
    Ok(())
}

/// Copies a directory as it is: links stay links, whatever they lead to. `to` must not exist.
pub(crate) fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    each_below(from, &mut |path, metadata| {
        let target = match path.strip_prefix(from) {
            Ok(inner) if !inner.as_os_str().is_empty() => to.join(inner),
            _ => to.to_owned(),
        };
        if metadata.is_dir() {
            fs::create_dir(target)
        } else if metadata.is_symlink() {
            symlink(fs::read_link(path)?, target)
        } else if metadata.is_file() {
            fs::copy(path, target).map(|_| ())
        } else {
            Err(no_file(path))
        }
    })
}

fn no_file(path: &Path) -> io::Error {
    io::Error::other(format!("`{}` is no file", path.display()))
}

/// Makes everything readable for all and writable for the owner, without any other right: a build
/// runs as a user that owns nothing.
pub(crate) fn make_readable(directory: &Path) -> io::Result<()> {
    each_below(directory, &mut |path, metadata| {
        let executable = metadata.is_dir() || metadata.permissions().mode() & 0o111 != 0;
        match metadata.is_dir() || metadata.is_file() {
            true => set_mode(path, if executable { 0o755 } else { 0o644 }),
            false => Ok(()),
        }
    })
}

/// Removes what no program of an install may have: the right to run as its owner or group.
pub(crate) fn without_special_bits(install: &Path) -> io::Result<()> {
    each_below(install, &mut |path, metadata| {
        let mode = metadata.permissions().mode();
        match metadata.is_symlink() || mode & 0o7000 == 0 {
            true => Ok(()),
            false => set_mode(path, mode & 0o777),
        }
    })
}

/// A new directory that disappears when it is dropped, unless it was renamed.
pub(crate) fn fleeting_directory(parent: &Path) -> io::Result<TempDir> {
    tempfile::Builder::new().permissions(Permissions::from_mode(0o777)).tempdir_in(parent)
}

pub(crate) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_changes_the_tree_changes_the_hash_and_nothing_else_does() {
        let make = |change: fn(&Path)| {
            let directory = tempfile::tempdir().unwrap();
            let root = directory.path();
            fs::create_dir(root.join("d")).unwrap();
            fs::write(root.join("d/a"), "one").unwrap();
            fs::write(root.join("b"), "two").unwrap();
            symlink("d/a", root.join("l")).unwrap();
            change(root);
            make_readable(root).unwrap();
            tree_hash(root).unwrap()
        };
        let base = make(|_| {});
        assert!(base.starts_with("sha256:") && base.len() == 71, "{base}");
        assert_eq!(
            base,
            make(|root| fs::set_permissions(root.join("b"), Permissions::from_mode(0o600)).unwrap())
        );
        let changes: [fn(&Path); 7] = [
            |root| fs::write(root.join("b"), "tw0").unwrap(),
            |root| fs::rename(root.join("b"), root.join("c")).unwrap(),
            |root| fs::create_dir(root.join("e")).unwrap(),
            |root| fs::remove_file(root.join("l")).unwrap(),
            |root| fs::set_permissions(root.join("b"), Permissions::from_mode(0o744)).unwrap(),
            |root| fs::write(root.join("d/b"), "").unwrap(),
            |root| {
                fs::remove_file(root.join("l")).unwrap();
                symlink("b", root.join("l")).unwrap();
            },
        ];
        let mut hashes: Vec<String> = changes.into_iter().map(make).collect();
        hashes.push(base);
        let count = hashes.len();
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), count);
    }
}
