//! The SHA-256 of a file, and one hash for a whole directory: names, content, what is executable and where
//! links lead. Times and owners do not count, so that the same content has the same hash wherever it was
//! unpacked.

use sha2::{Digest as _, Sha256};
use std::fs::{self, File, Permissions};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

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
            return Err(io::Error::other(format!("`{}` is no file", path.display())));
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

/// Everything below a directory, directories before their content. Links are not followed.
pub(crate) fn sorted_tree(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                waiting.push(entry.path());
            }
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Makes everything readable for all and writable for the owner, without any other right: a build
/// runs as a user that owns nothing.
pub(crate) fn make_readable(directory: &Path) -> io::Result<()> {
    fs::set_permissions(directory, Permissions::from_mode(0o755))?;
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let metadata = path.symlink_metadata()?;
        if metadata.is_dir() {
            make_readable(&path)?;
        } else if metadata.is_file() {
            let executable = metadata.permissions().mode() & 0o111 != 0;
            let mode = if executable { 0o755 } else { 0o644 };
            fs::set_permissions(&path, Permissions::from_mode(mode))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

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
