//! The contents of a directory of recipes, file by file: the manifest that records them, what has
//! changed since, and how it compares with another such directory. It reads and compares; only [`Manifest::write`] writes, and only the manifest.

pub use crate::recipe_file::MANIFEST_FILE;

use crate::recipe_file::{EXTENSIONS, LIST_DEPTH, SKIPPED};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// How much of a file's hash a manifest keeps.
const DIGITS: usize = 16;
/// No manifest is larger.
const MOST_BYTES: u64 = 16 << 20;

/// File names, relative and with `/`, each with the beginning of the SHA-256 of its contents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    files: BTreeMap<String, String>,
}

#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    #[error("there is no {MANIFEST_FILE} in {}", .0.display())]
    None(PathBuf),
    #[error("{}: {}", .0.display(), .1)]
    Unreadable(PathBuf, io::Error),
    #[error("{}: {}", .0.display(), .1)]
    Bad(PathBuf, String),
}

/// The differences from a manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    pub new: Vec<String>,
    pub modified: Vec<String>,
    pub deleted: Vec<String>,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.new.is_empty() && self.modified.is_empty() && self.deleted.is_empty()
    }
}

/// The beginning of a SHA-256 in hexadecimal digits, as a manifest has it.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(hash: &[u8]) -> String {
    hash.iter().take(DIGITS / 2).map(|byte| format!("{byte:02x}")).collect()
}

impl Manifest {
    /// The contents of a directory now.
    pub fn of_directory(directory: &Path) -> io::Result<Manifest> {
        let mut files = BTreeMap::new();
        collect(directory, "", &mut files)?;
        Ok(Manifest { files })
    }

    /// The contents of a directory when its manifest was written.
    pub fn read(directory: &Path) -> Result<Manifest, ManifestError> {
        let path = directory.join(MANIFEST_FILE);
        let mut text = String::new();
        let read = File::open(&path).and_then(|f| f.take(MOST_BYTES).read_to_string(&mut text));
        match read {
            Ok(_) => Manifest::parse(&text).map_err(|why| ManifestError::Bad(path, why)),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(ManifestError::None(directory.to_owned()))
            }
            Err(error) => Err(ManifestError::Unreadable(path, error)),
        }
    }

    /// A manifest's text; what is wrong with it otherwise.
    pub fn parse(text: &str) -> Result<Manifest, String> {
        let value: Value = serde_json::from_str(text).map_err(|e| format!("not JSON: {e}"))?;
        let Value::Object(map) = value else {
            return Err("not a map of file names to hashes".to_owned());
        };
        let mut files = BTreeMap::new();
        for (name, hash) in map {
            let is_hash = |text: &&str| {
                text.len() == DIGITS && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
            };
            let Some(hash) = hash.as_str().filter(is_hash) else {
                return Err(format!("`{name}` has no hash of {DIGITS} hexadecimal digits"));
            };
            // Manifests of `recipe-runner-rs` have names without their ending.
            let name = if is_recipe_file(&name) { name } else { format!("{name}.yaml") };
            files.insert(name, hash.to_owned());
        }
        Ok(Manifest { files })
    }

    /// Writes the manifest into its directory; it is there as a whole or not at all.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        let path = directory.join(MANIFEST_FILE);
        let new = directory.join(format!(".{MANIFEST_FILE}.{}", std::process::id()));
        let written = File::create_new(&new)
            .and_then(|mut file| {
                file.write_all(self.to_string().as_bytes())?;
                file.sync_all()
            })
            .and_then(|()| fs::rename(&new, &path));
        written.inspect_err(|_| {
            let _ = fs::remove_file(&new);
        })
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    pub fn hash(&self, name: &str) -> Option<&str> {
        self.files.get(name).map(String::as_str)
    }

    pub fn insert(&mut self, name: impl Into<String>, hash: impl Into<String>) {
        self.files.insert(name.into(), hash.into());
    }

    /// The differences now.
    pub fn changes(&self, now: &Manifest) -> Changes {
        let mut changes = Changes::default();
        for (name, hash) in &now.files {
            match self.files.get(name) {
                None => changes.new.push(name.clone()),
                Some(old) if old != hash => changes.modified.push(name.clone()),
                Some(_) => {}
            }
        }
        let gone = self.files.keys().filter(|name| !now.files.contains_key(*name));
        changes.deleted = gone.cloned().collect();
        changes
    }
}

impl std::fmt::Display for Manifest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = serde_json::to_string_pretty(&self.files).expect("texts can be written");
        writeln!(f, "{text}")
    }
}

/// Whether a file of this name, relative to a directory of recipes, is one of its files: recipes and
/// their tests. A name from elsewhere that passes stays below the directory.
pub fn is_recipe_file(name: &str) -> bool {
    let segments: Vec<&str> = name.split('/').collect();
    let Some((file, folders)) = segments.split_last() else { return false };
    let seen = |segment: &&str| !segment.is_empty() && !segment.starts_with('.');
    let ending = Path::new(file).extension();
    ending.is_some_and(|ending| EXTENSIONS.iter().any(|known| ending == *known))
        && *file != MANIFEST_FILE
        && segments.len() <= LIST_DEPTH
        && segments.iter().all(seen)
        && !folders.iter().any(|folder| SKIPPED.contains(folder))
        && !name.chars().any(|c| c.is_control() || c == '\\')
}

fn collect(folder: &Path, prefix: &str, found: &mut BTreeMap<String, String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        // What is not text can be no key of the manifest, and no recipe's name.
        let Some(name) = path.file_name().and_then(|n| n.to_str()) else { continue };
        let name = format!("{prefix}{name}");
        if path.is_dir() {
            // As if a recipe were in it: the one rule also decides which folders count.
            if !path.is_symlink() && is_recipe_file(&format!("{name}/r.yaml")) {
                collect(&path, &format!("{name}/"), found)?;
            }
        } else if is_recipe_file(&name) && path.is_file() {
            let hash = hash_of(&path);
            let hash = hash.map_err(|e| io::Error::new(e.kind(), format!("{name}: {e}")))?;
            found.insert(name, hash);
        }
    }
    Ok(())
}

fn hash_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut piece = [0; 64 * 1024];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hex(&hash.finalize())),
            read => hash.update(&piece[..read]),
        }
    }
}

/// How a file here differs from the same file upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    Same,
    /// Only upstream. `deleted_here`: the manifest knows it, so it was removed here.
    New {
        deleted_here: bool,
    },
    /// Different. `modified_here`: it is not what the manifest knows, so the change is, at least
    /// also, one of this side.
    Changed {
        modified_here: bool,
    },
    OnlyHere,
}

/// Compares what is here with upstream; `known` is what was last taken from there.
pub fn compare(here: &Manifest, upstream: &Manifest, known: &Manifest) -> Vec<(String, Compared)> {
    let names: BTreeSet<&String> = here.files.keys().chain(upstream.files.keys()).collect();
    let status = |name: &String| {
        let was = known.files.get(name);
        match (here.files.get(name), upstream.files.get(name)) {
            (Some(ours), Some(theirs)) if ours == theirs => Compared::Same,
            (Some(ours), Some(_)) => Compared::Changed { modified_here: was != Some(ours) },
            (None, _) => Compared::New { deleted_here: was.is_some() },
            (Some(_), None) => Compared::OnlyHere,
        }
    };
    names.into_iter().map(|name| (name.clone(), status(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(files: &[(&str, &str)]) -> Manifest {
        let mut manifest = Manifest::default();
        for (name, text) in files {
            manifest.insert(*name, digest(text.as_bytes()));
        }
        manifest
    }

    #[test]
    fn a_hash_is_the_beginning_of_the_sha_256() {
        assert_eq!(digest(b""), "e3b0c44298fc1c14");
        assert_eq!(digest(b"hello\n"), "5891b5b522d5df08");
    }

    #[test]
    fn what_is_written_is_read_again_and_sorted() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["z.yaml", "a.yml", "a.test.yaml", "team/b.json", "notes.md", ".hidden.yaml"] {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
        fs::create_dir(directory.path().join("node_modules")).unwrap();
        fs::write(directory.path().join("node_modules/x.yaml"), "").unwrap();
        std::os::unix::fs::symlink("..", directory.path().join("loop")).unwrap();
        let now = Manifest::of_directory(directory.path()).unwrap();
        let names: Vec<&str> = now.names().collect();
        assert_eq!(names, ["a.test.yaml", "a.yml", "team/b.json", "z.yaml"]);
        assert!(matches!(Manifest::read(directory.path()), Err(ManifestError::None(_))));
        now.write(directory.path()).unwrap();
        assert_eq!(Manifest::read(directory.path()).unwrap(), now);
        let text = fs::read_to_string(directory.path().join(MANIFEST_FILE)).unwrap();
        assert!(text.starts_with("{\n  \"a.test.yaml\": \""), "{text}");
        assert!(now.changes(&Manifest::of_directory(directory.path()).unwrap()).is_empty());
        let left = fs::read_dir(directory.path()).unwrap().count();
        assert_eq!(left, 9, "no other file is left behind");
    }

    #[test]
    fn changes_are_named() {
        let before = manifest(&[("a.yaml", "1"), ("b.yaml", "1"), ("c.yaml", "1")]);
        let now = manifest(&[("a.yaml", "1"), ("b.yaml", "2"), ("d.yaml", "1")]);
        let changes = before.changes(&now);
        assert_eq!(changes.new, ["d.yaml"]);
        assert_eq!(changes.modified, ["b.yaml"]);
        assert_eq!(changes.deleted, ["c.yaml"]);
    }

    #[test]
    fn a_bad_manifest_is_refused() {
        for bad in
            ["", "[]", "{\"a.yaml\": 1}", "{\"a.yaml\": \"xyz\"}", "{\"a\": \"E3B0C44298FC1C14\"}"]
        {
            assert!(Manifest::parse(bad).is_err(), "{bad}");
        }
        assert!(Manifest::parse("{}").unwrap().is_empty());
    }

    #[test]
    fn a_name_without_its_ending_is_that_of_a_yaml_file() {
        let text = format!("{{\"a\": \"{0}\", \"b.yml\": \"{0}\"}}", digest(b"1"));
        let read = Manifest::parse(&text).unwrap();
        assert_eq!(read, manifest(&[("a.yaml", "1"), ("b.yml", "1")]));
        assert!(read.changes(&manifest(&[("a.yaml", "1"), ("b.yml", "1")])).is_empty());
    }

    #[test]
    fn the_manifest_shows_whose_change_it_is() {
        let known = manifest(&[("ours", "1"), ("theirs", "1"), ("gone", "1"), ("left", "1")]);
        let here =
            manifest(&[("ours", "2"), ("theirs", "1"), ("left", "1"), ("own", "1"), ("same", "1")]);
        let upstream =
            manifest(&[("ours", "1"), ("theirs", "2"), ("gone", "1"), ("new", "1"), ("same", "1")]);
        let compared: BTreeMap<String, Compared> =
            compare(&here, &upstream, &known).into_iter().collect();
        assert_eq!(compared["ours"], Compared::Changed { modified_here: true });
        assert_eq!(compared["theirs"], Compared::Changed { modified_here: false });
        assert_eq!(compared["gone"], Compared::New { deleted_here: true });
        assert_eq!(compared["new"], Compared::New { deleted_here: false });
        assert_eq!(compared["left"], Compared::OnlyHere);
        assert_eq!(compared["own"], Compared::OnlyHere);
        assert_eq!(compared["same"], Compared::Same);
        assert_eq!(compared.len(), 7);
    }

    #[test]
    fn a_name_from_elsewhere_stays_below() {
        for good in ["a.yaml", "a.test.yml", "a.json", "team/x y.yaml", "a/b/c/d.yaml"] {
            assert!(is_recipe_file(good), "{good}");
        }
        for bad in [
            "",
            "a.toml",
            MANIFEST_FILE,
            "team/_recipe_manifest.json",
            "../a.yaml",
            "/a.yaml",
            "a/../b.yaml",
            "a//b.yaml",
            ".git/a.yaml",
            ".yaml",
            "a/b/c/d/e.yaml",
            "target/a.yaml",
            "a\n.yaml",
            "a\\b.yaml",
        ] {
            assert!(!is_recipe_file(bad), "{bad}");
        }
    }
}
