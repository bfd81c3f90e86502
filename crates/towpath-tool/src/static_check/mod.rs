//! What a look at a program's file shows before it runs: whether it can be started at all, and with which
//! interpreter and libraries. The bytes come in as data; questions about other files go to a small
//! trait, so that the same checks serve a real install and a test.

mod elf;
mod script;
mod unstartable_files;

pub use elf::defined_versions;

use crate::static_file_facts::FileFacts;

/// What is at a path, after links are followed.
#[derive(Debug, Clone, Copy)]
pub enum FileEntry<'a> {
    Missing,
    DanglingLink,
    LinkLoop,
    Directory,
    /// A socket, a device.
    Special,
    Regular {
        mode: u32,
        bytes: &'a [u8],
    },
}

/// Machines whose programs are distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    X86_64,
    X86,
    Aarch64,
    Arm,
    Other(u16),
}

/// Questions about other files on the machine that a program would run on.
pub trait FileQuestions {
    fn machine(&self) -> Machine;

    /// Whether there is a file, after links are followed.
    fn exists(&self, path: &str) -> bool;

    /// The beginning of a file, as far as it can be read.
    fn beginning(&self, path: &str) -> Option<Vec<u8>>;

    /// Whether a program of this name is on the PATH of a probe.
    fn is_on_path(&self, name: &str) -> bool;

    /// Where the loader finds a library: in its cache or its default directories.
    fn library(&self, name: &str) -> Option<String>;

    /// The symbol versions that a library defines ([`defined_versions`]); none if it cannot be read.
    fn library_versions(&self, path: &str) -> Option<Vec<String>>;
}

/// How many interpreters may be scripts themselves.
const DEEPEST: usize = 4;

/// Checks a program's file.
pub fn check_file(path: &str, entry: FileEntry<'_>, questions: &dyn FileQuestions) -> FileFacts {
    let (mode, bytes) = match entry {
        FileEntry::Missing => return FileFacts::faulty("", "missing"),
        FileEntry::DanglingLink => return FileFacts::faulty("", "dangling link"),
        FileEntry::LinkLoop => return FileFacts::faulty("", "link loop"),
        FileEntry::Directory => return FileFacts::faulty("", "directory"),
        FileEntry::Special => return FileFacts::faulty("", "not a regular file"),
        FileEntry::Regular { mode, bytes } => (mode, bytes),
    };
    let facts = check_bytes(path, bytes, questions, 0);
    let no_execute_bit = mode & 0o111 == 0 && facts.fault().is_none();
    match no_execute_bit {
        true => FileFacts::faulty(facts.description(), format!("mode {:04o}", mode & 0o7777)),
        false => facts,
    }
}

fn check_bytes(path: &str, bytes: &[u8], questions: &dyn FileQuestions, depth: usize) -> FileFacts {
    if bytes.is_empty() {
        return FileFacts::faulty("", "empty");
    }
    if bytes.starts_with(b"\x7fELF") {
        return elf::check(path, bytes, questions);
    }
    if bytes.starts_with(b"#!") {
        return script::check(bytes, questions, depth);
    }
    FileFacts::faulty("", unstartable_files::describe(bytes))
}

/// An interpreter that is a script has an interpreter of its own.
fn check_interpreter(path: &str, questions: &dyn FileQuestions, depth: usize) -> Option<String> {
    let beginning = questions.beginning(path)?;
    if depth >= DEEPEST || !beginning.starts_with(b"#!") {
        return None;
    }
    let facts = check_bytes(path, &beginning, questions, depth + 1);
    facts.fault().map(|fault| format!("interpreter {path}: {fault}"))
}
