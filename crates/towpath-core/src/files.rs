//! The user's own files. A text that a user names may come from a file, or from a pipe that their shell has
//! opened. One without an end, or larger than anybody means, is refused and never fills the memory; a pipe
//! by its name is refused, since nobody may ever write to it. A file that is written is
//! new, and never replaces anything, or gets whole new contents. Nothing is written through a
//! symbolic link.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

/// The most bytes of a text for an agent, an output or a test file.
pub const MOST_TEXT: u64 = 16 << 20;
/// The most bytes of a script of answers.
pub const MOST_SCRIPT: u64 = 64 << 20;

/// Whether a file can be started.
pub fn is_program(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// Pipes that are open already.
const OPEN: [&str; 3] = ["/dev/fd", "/dev/stdin", "/proc"];

/// The bytes of a file or an open pipe, at most `most` of them.
pub fn read_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let is_open = OPEN.iter().any(|open| path.starts_with(open));
    if !is_open && fs::metadata(path)?.file_type().is_fifo() {
        return Err(io::Error::other("it is no regular file"));
    }
    let file = File::open(path)?;
    // One byte more than there is: then the end is found without more memory.
    let expected = file.metadata()?.len().min(most) + 1;
    let mut bytes = Vec::with_capacity(expected as usize);
    file.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(io::Error::other(format!("larger than {} MiB", most >> 20))),
        false => Ok(bytes),
    }
}

/// The bytes of a file, at most `most` of them. A pipe or a device, which may have no end, is refused.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let found = fs::metadata(path)?;
    if !found.is_file() {
        let directory = found.is_dir().then(|| io::Error::from(ErrorKind::IsADirectory));
        return Err(directory.unwrap_or_else(|| io::Error::other("it is no regular file")));
    }
    read_bytes(path, most)
}

pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read_bytes(path, most)?).map_err(|_| io::Error::other("not UTF-8 text"))
}

/// Makes a file, and the folders it is in. Whatever has the name already stays.
pub fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = File::create_new(path)?;
    file.write_all(bytes).inspect_err(|_| {
        // Half a file would look like a file.
        let _ = fs::remove_file(path);
    })
}

/// Gives a file that is there other contents, all at once. It keeps its mode, and its owner where this
/// user may give a file away.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let old = fs::metadata(path)?;
    // A device or a pipe must stay what it is: as root, a file would take its name.
    if !old.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    move_into(path, bytes, Some(&old), || true).map(drop)
}

/// As [`replace`], but only a file that still has the contents `before`. Returns whether it had.
pub fn replace_unchanged(path: &Path, before: &[u8], bytes: &[u8]) -> io::Result<bool> {
    let old = fs::metadata(path)?;
    let same = || fs::read(path).is_ok_and(|now| now == before);
    move_into(path, bytes, Some(&old), same)
}

/// Writes a new file beside `path` and renames it, unless `may_replace` refuses at the last moment.
/// Returns whether it did.
fn move_into(
    path: &Path,
    bytes: &[u8],
    old: Option<&fs::Metadata>,
    may_replace: impl FnOnce() -> bool,
) -> io::Result<bool> {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}", std::process::id()));
    let new = path.with_file_name(name);
    let written = File::create_new(&new)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            if let Some(old) = old {
                keep_owner(&file, old)?;
                file.set_permissions(old.permissions())?;
            }
            file.sync_all()
        })
        .and_then(|()| match may_replace() {
            true => fs::rename(&new, path).map(|()| true),
            false => Ok(false),
        });
    if !matches!(written, Ok(true)) {
        let _ = fs::remove_file(&new);
    }
    written
}

fn keep_owner(file: &File, old: &fs::Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
        // Only root may do both; a group of one's own is worth a try by itself.
        let given = fchown(file, Some(old.uid()), Some(old.gid()));
        let _ = given.or_else(|_| fchown(file, None, Some(old.gid())));
    }
    Ok(())
}

/// Gives a file these contents, all at once. One that is not there is made, with the folders it is in.
/// Of several processes that do so at the same time, the last one wins.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            move_into(path, bytes, None, || true).map(drop)
        }
        Err(error) => Err(error),
        Ok(_) => replace(path, bytes),
    }
}

/// The path of a relative name below a directory, unless a symbolic link is on the way: it could
/// lead anywhere.
pub fn below(directory: &Path, name: &str) -> io::Result<PathBuf> {
    let mut path = directory.to_owned();
    for segment in name.split('/') {
        path.push(segment);
        match path.symlink_metadata() {
            Ok(there) if there.is_symlink() => {
                let message = format!("{} is a symbolic link", path.display());
                return Err(io::Error::other(message));
            }
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_is_there_stays() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("deep/er/a.yaml");
        create(&path, b"one").expect("a new file");
        assert_eq!(create(&path, b"two").map_err(|e| e.kind()), Err(ErrorKind::AlreadyExists));
        let dangling = directory.path().join("link");
        symlink(directory.path().join("elsewhere"), &dangling).expect("a link");
        assert!(create(&dangling, b"two").is_err());
        assert!(!directory.path().join("elsewhere").exists());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("permissions");
        replace(&path, b"three").expect("replaced");
        assert_eq!(fs::read(&path).expect("a file"), b"three");
        assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(directory.path().join("deep/er")).expect("a folder").count(), 1);
    }

    #[test]
    fn a_replaced_file_keeps_its_owner() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.json");
        create(&path, b"one").expect("a new file");
        // Only root may give it away; for others it stays theirs.
        let given = std::os::unix::fs::chown(&path, Some(4321), Some(4321)).is_ok();
        let before = fs::metadata(&path).expect("a file");
        replace(&path, b"two").expect("replaced");
        let after = fs::metadata(&path).expect("a file");
        assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()), "{given}");
        assert_eq!(fs::read(&path).expect("a file"), b"two");
    }

    #[test]
    fn no_link_is_followed() {
        let directory = tempfile::tempdir().expect("a directory");
        symlink("/tmp", directory.path().join("out")).expect("a link");
        assert!(below(directory.path(), "out/a.yaml").is_err());
        let path = below(directory.path(), "in/a.yaml").expect("a path");
        assert_eq!(path, directory.path().join("in/a.yaml"));
    }
}
