//! Answers the questions of the static check from the file system of this machine: which files there
//! are, where the loader would find a library, which programs are on the PATH of a probe.

use crate::FileFacts;
use crate::static_check::{FileQuestions, check_file, defined_versions, is_for_this_machine};
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// No program that we judge is larger.
const LARGEST: u64 = 1 << 30;
/// A `#!` line is within this.
const BEGINNING: u64 = 4096;
const LOOP: i32 = rustix::io::Errno::LOOP.raw_os_error();
const LOADER_CONFIGURATION: &str = "/etc/ld.so.conf";
/// What every system includes there.
const INCLUDED_CONFIGURATION: &str = "/etc/ld.so.conf.d";
/// The directories that the loader searches by default.
const LIBRARY_DIRECTORIES: &[&str] = &["/lib64", "/usr/lib64", "/lib", "/usr/lib"];

#[derive(Debug)]
pub struct FilesOnDisk {
    /// The PATH of a probe.
    path: Vec<PathBuf>,
    libraries: OnceLock<Vec<PathBuf>>,
}

impl FilesOnDisk {
    pub fn new(path: Vec<PathBuf>) -> FilesOnDisk {
        FilesOnDisk { path, libraries: OnceLock::new() }
    }

    fn library_directories(&self) -> &[PathBuf] {
        self.libraries.get_or_init(|| {
            let included = fs::read_dir(INCLUDED_CONFIGURATION).into_iter().flatten().flatten();
            let included = included.map(|entry| entry.path());
            let is_included = |path: &PathBuf| path.extension().is_some_and(|end| end == "conf");
            let mut files: Vec<PathBuf> = included.filter(is_included).collect();
            files.sort();
            files.push(PathBuf::from(LOADER_CONFIGURATION));
            let texts: Vec<String> = files.iter().flat_map(fs::read_to_string).collect();
            let lines = texts.iter().flat_map(|text| text.lines());
            let lines = lines.map(|line| line.split('#').next().unwrap_or("").trim());
            let own = lines.filter(|line| line.starts_with('/'));
            own.chain(LIBRARY_DIRECTORIES.iter().copied()).map(PathBuf::from).collect()
        })
    }
}

/// What a look at a program's file finds, without running it.
pub fn look_at_file(path: &Path, questions: &FilesOnDisk) -> FileFacts {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.raw_os_error() == Some(LOOP) => {
            return FileFacts::faulty("", "link loop");
        }
        Err(error) if error.kind() == ErrorKind::NotFound && path.is_symlink() => {
            return FileFacts::faulty("", "dangling link");
        }
        Err(_) => return FileFacts::faulty("", "missing"),
    };
    if !metadata.is_file() {
        let fault = if metadata.is_dir() { "directory" } else { "not a regular file" };
        return FileFacts::faulty("", fault);
    }
    let mode = metadata.permissions().mode();
    // `$ORIGIN` is the directory of the file that a link leads to.
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match read_at_most(&real, LARGEST) {
        Ok(bytes) => check_file(&real.to_string_lossy(), mode, &bytes, questions),
        // Whoever may run it and not read it finds out by running it.
        Err(_) => FileFacts::sound("not readable"),
    }
}

fn read_at_most(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A program's header is within this.
const HEADER: u64 = 64;

fn is_library(path: &Path) -> bool {
    read_at_most(path, HEADER).is_ok_and(|beginning| is_for_this_machine(&beginning))
}

impl FileQuestions for FilesOnDisk {
    fn exists(&self, path: &str) -> bool {
        Path::new(path).exists()
    }

    fn beginning(&self, path: &str) -> Option<Vec<u8>> {
        read_at_most(Path::new(path), BEGINNING).ok()
    }

    fn is_on_path(&self, name: &str) -> bool {
        let is_program = |file: PathBuf| {
            fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
        };
        self.path.iter().any(|directory| is_program(directory.join(name)))
    }

    fn library(&self, name: &str) -> Option<String> {
        let files = self.library_directories().iter().map(|directory| directory.join(name));
        let mut there = files.filter(|file| file.exists());
        // A program of the machine's other word size has its libraries in other directories.
        let first = there.next()?;
        let best = match is_library(&first) {
            true => first,
            false => there.find(|file| is_library(file)).unwrap_or(first),
        };
        Some(best.to_string_lossy().into_owned())
    }

    fn library_versions(&self, path: &str) -> Option<Vec<String>> {
        let path = Path::new(path);
        if !is_library(path) {
            return None;
        }
        defined_versions(&read_at_most(path, LARGEST).ok()?)
    }
}
