//! What a look at a program's file shows before it runs: whether it can be started at all, and with which
//! interpreter and libraries. The bytes come in as data; questions about other files go to a small
//! trait, so that the same checks serve a real install and a test.

mod elf;

pub use elf::{defined_versions, is_for_this_machine};

use crate::file_facts::FileFacts;
use regex::bytes::Regex;
use std::sync::LazyLock;
use towpath_core::data_rows;

/// Questions about other files on the machine that a program would run on.
pub trait FileQuestions {
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

/// Checks the file of a program.
pub fn check_file(path: &str, mode: u32, bytes: &[u8], questions: &dyn FileQuestions) -> FileFacts {
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
        return check_script(bytes, questions, depth);
    }
    FileFacts::faulty("", no_program(bytes))
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

/// As much of the first line as a kernel reads.
const LONGEST_LINE: usize = 256;

/// A script: the kernel reads the `#!` line, and `env` looks for the word after it.
fn check_script(bytes: &[u8], questions: &dyn FileQuestions, depth: usize) -> FileFacts {
    let line = &bytes[2..bytes.len().min(LONGEST_LINE)];
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or(line);
    if line.ends_with(b"\r") {
        return FileFacts::faulty("script", "CR in #! line");
    }
    let line = String::from_utf8_lossy(line);
    let line = line.trim_matches([' ', '\t']);
    let (interpreter, argument) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let kind = format!("script #!{}", line.replace(", ", ","));
    if interpreter.is_empty() || !questions.exists(interpreter) {
        let name = if interpreter.is_empty() { "interpreter" } else { interpreter };
        return FileFacts::faulty(&kind, format!("{name} missing"));
    }
    if interpreter.rsplit('/').next() == Some("env") {
        return match env_program(argument.trim()) {
            Some(program) if !questions.is_on_path(&program) => {
                FileFacts::faulty(&kind, format!("{program} not on PATH"))
            }
            _ => FileFacts::sound(kind),
        };
    }
    match check_interpreter(interpreter, questions, depth) {
        Some(fault) => FileFacts::faulty(&kind, fault),
        None => FileFacts::sound(kind),
    }
}

/// The program that `env` would start. Without `-S` everything after it is one word.
fn env_program(argument: &str) -> Option<String> {
    let split = argument.strip_prefix("-S").or_else(|| argument.strip_prefix("--split-string="));
    let split = split.or_else(|| argument.strip_prefix("-vS"));
    let Some(words) = split else {
        return (!argument.is_empty() && !argument.starts_with('-')).then(|| argument.to_owned());
    };
    let mut words = words.split_whitespace().skip_while(|w| w.starts_with('-') || w.contains('='));
    words.next().map(str::to_owned)
}

/// How much of a file is looked at to name what it is.
const LOOKED_AT: usize = 4096;

/// What a file is that no kernel starts: an archive that was never unpacked, a program of another system,
/// or text without a `#!` line, which a shell would run line by line.
fn no_program(bytes: &[u8]) -> &'static str {
    static KINDS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
        let kind = |[name, regex]: [&'static str; 2]| {
            (name, Regex::new(&format!("(?s-u){regex}")).expect("a test compiles every row"))
        };
        data_rows(include_str!("no_programs.txt")).map(kind).collect()
    });
    let beginning = &bytes[..bytes.len().min(LOOKED_AT)];
    let found = KINDS.iter().find(|(_, regex)| regex.is_match(beginning));
    found.map_or("unknown data", |(name, _)| name)
}
