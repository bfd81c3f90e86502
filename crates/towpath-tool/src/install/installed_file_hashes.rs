//! The files of an install with their hashes, as a list inside of it. The hash of the list is in the record,
//! so that a change of any file is noticed. What programs write beside their own files, such as caches, is
//! in no list and does not count.

use crate::file_hash::{file_sha256, sorted_tree};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

const FILE: &str = "towpath-files.json";

/// By path, where every byte that is not plain ASCII is written as its number.
type Hashes = BTreeMap<String, String>;

/// Writes the list. Returns its own hash.
pub(super) fn write_list(install: &Path) -> io::Result<String> {
    let path = install.join(FILE);
    let mut hashes = Hashes::new();
    for file in sorted_tree(install)? {
        if let Some(hash) = hash_of(&file)? {
            let name = file.strip_prefix(install).unwrap_or(&file);
            hashes.insert(name.as_os_str().as_bytes().escape_ascii().to_string(), hash);
        }
    }
    fs::write(&path, serde_json::to_vec(&hashes)?)?;
    file_sha256(&path)
}

/// The files that are not what was installed.
pub(super) fn changed_files(install: &Path, list_hash: &str) -> io::Result<Vec<String>> {
    let path = install.join(FILE);
    if file_sha256(&path)? != list_hash {
        return Ok(vec![FILE.to_owned()]);
    }
    let mut hashes: Hashes = serde_json::from_slice(&fs::read(&path)?)?;
    for file in sorted_tree(install)? {
        let name = file.strip_prefix(install).unwrap_or(&file);
        let name = name.as_os_str().as_bytes().escape_ascii().to_string();
        if hashes.contains_key(&name) && hash_of(&file)? == hashes.get(&name).cloned() {
            hashes.remove(&name);
        }
    }
    Ok(hashes.into_keys().collect())
}

/// None for a directory.
fn hash_of(path: &Path) -> io::Result<Option<String>> {
    let metadata = path.symlink_metadata()?;
    if metadata.is_symlink() {
        return Ok(Some(format!("link to {}", fs::read_link(path)?.display())));
    }
    metadata.is_file().then(|| file_sha256(path)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_any_file_is_found_and_a_new_one_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let install = directory.path();
        fs::create_dir(install.join("lib")).unwrap();
        fs::write(install.join("lib/x.py"), "one").unwrap();
        fs::write(install.join("é"), "two").unwrap();
        std::os::unix::fs::symlink("lib/x.py", install.join("link")).unwrap();
        let hash = write_list(install).unwrap();
        fs::write(install.join("lib/cache"), "new").unwrap();
        assert_eq!(changed_files(install, &hash).unwrap(), Vec::<String>::new());
        fs::write(install.join("lib/x.py"), "other").unwrap();
        fs::remove_file(install.join("link")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", install.join("link")).unwrap();
        fs::remove_file(install.join("é")).unwrap();
        let changed = changed_files(install, &hash).unwrap();
        assert_eq!(changed, ["\\xc3\\xa9", "lib/x.py", "link"]);
        fs::write(install.join(FILE), "{}").unwrap();
        assert_eq!(changed_files(install, &hash).unwrap(), [FILE]);
    }
}
