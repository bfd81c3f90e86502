//! The words we do not use, searched in code, comments, help, messages and pages.
//! `docs/glossary.md` has the words we use.

use std::fs;
use std::path::{Path, PathBuf};

/// Words and phrases, in lower case, and what to write instead. Names in code count too:
/// a function `mend_file` and a type `MendFile` both contain the word.
const AVOIDED: &[(&str, &str)] = &[
    ("person", "user, you"),
    ("persons", "users, you"),
    ("somebody", "user, you"),
    ("who asks", "user, you"),
    ("mend", "fix"),
    ("mends", "fixes"),
    ("mended", "fixed"),
    ("mending", "fixing"),
    ("tell", "report, describe, print, show"),
    ("tells", "reports, describes, prints, shows"),
    ("told", "reported, described, printed, shown"),
    ("telling", "reporting, describing, printing, showing"),
    ("say", "report, describe, print, show"),
    ("says", "reports, describes, prints, shows"),
    ("said", "reported, described, printed, shown"),
    ("saying", "reporting, describing, printing, showing"),
    ("go on", "resume, continue"),
    ("goes on", "resumes, continues"),
    ("going on", "resuming, continuing, active"),
    ("went on", "resumed, continued"),
    ("gone on", "resumed, continued"),
    ("anew", "again, rerun, rewrite"),
    ("once more", "again"),
    ("sit out", "wait until it resets"),
    ("sits out", "waits until it resets"),
    ("sat out", "waited until it reset"),
    ("stand", "be, status"),
    ("stands", "is, status"),
    ("stood", "was, status"),
    ("hold", "require, ensure, check, enforce, contain"),
    ("holds", "requires, ensures, checks, enforces, contains"),
    ("held", "required, ensured, checked, enforced, contained"),
    ("holding", "requiring, checking, containing"),
    ("cut off", "interrupted"),
    ("truth", "boolean"),
    ("truths", "booleans"),
    ("place", "placeholder, location, directory, position"),
    ("places", "placeholders, locations, directories, positions"),
    ("surroundings", "environment"),
    ("stage", "batch (git's own word aside)"),
    ("stages", "batches"),
];

/// Text that is not ours to change: the beginning of its path, the part of a line that stays, and why.
const NOT_OURS: &[(&str, &str, &str)] = &[
    ("", "auto_stage", "a recipe's field, as its format has it"),
    ("", "auto-stage", "a flag of recipe-runner-rs"),
    ("", "stage-verified", "a shipped recipe"),
    ("", "--in-place", "a flag, named as sed and perl name it"),
    ("", "\"in-place\"", "a flag, named as sed and perl name it"),
    ("", "{{person}}", "an example of Meld's plan"),
    ("", "greet(person)", "an example of Meld's plan"),
    ("", "tells_retries", "a key of the JSON of `doctor`"),
    ("", "\"places\"", "a key of the JSON of `doctor`"),
    ("", "\"held\"", "a kind of error in JSON"),
    ("docs/troubleshooting.md", "| `held` |", "a kind of error in JSON"),
    ("", "\"held_back\"", "a key of the JSON of `recipes sync`"),
    ("", "`place`", "a key of the JSON of `test`"),
    ("", "\"place\"", "a key of the JSON of `test`"),
    ("", "unquoted-place", "a stable code of a diagnostic"),
    ("", "unfilled-place", "a stable code of a diagnostic"),
    ("crates/towpath-agent", "account_on_hold", "an error code of Claude Code's service"),
    ("crates/towpath-run/tests", ":stage", "a kind of job, as the journal has it"),
    ("crates/towpath-store", "status, place,", "a column of the journal"),
    ("crates/towpath-store", "place = ?3", "a column of the journal"),
    ("crates/towpath-store", "place TEXT NOT NULL", "a column of the journal"),
    ("crates/towpath/tests", "FAIL: it says 10 words", "what the demo prints"),
    ("crates/towpath/tests", "# ── Stage", "a published page, as it is printed"),
    ("crates/towpath-recipe/tests", "if a person decides so", "a prompt of a state machine"),
    ("crates/towpath-recipe/tests", "Stage 1: Build & Test", "a shipped recipe"),
];

#[test]
fn only_words_of_the_glossary_are_used() {
    let found: Vec<String> = files().iter().flat_map(|file| avoided_in(file)).collect();
    assert!(found.is_empty(), "{} words:\n{}", found.len(), found.join("\n"));
}

fn avoided_in(file: &Path) -> Vec<String> {
    let path = file.to_str().expect("our paths are text");
    let text = fs::read_to_string(root().join(file)).expect("a source is text");
    let mut found: Vec<String> =
        avoided(path).map(|(word, instead)| format!("{path}: `{word}`: write {instead}")).collect();
    let others: Vec<&str> = NOT_OURS
        .iter()
        .filter(|(start, _, _)| path.starts_with(start))
        .map(|(_, part, _)| *part)
        .collect();
    for (index, line) in text.lines().enumerate() {
        let line = others.iter().fold(line.to_owned(), |line, part| line.replace(part, " "));
        let wrong = avoided(&line)
            .map(|(word, instead)| format!("{path}:{}: `{word}`: write {instead}", index + 1));
        found.extend(wrong);
    }
    found
}

fn avoided(line: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let words = words(line);
    let lower = line.to_lowercase();
    AVOIDED
        .iter()
        .copied()
        .filter(move |(word, _)| contains(&words, word) && !is_usual(word, &lower))
}

/// The usual words for a lock, and for git's index.
fn is_usual(word: &str, line: &str) -> bool {
    let contains = |start: &str| words(line).iter().any(|word| word.starts_with(start));
    (word.starts_with('h') && (contains("lock") || contains("flock")))
        || (word.starts_with("stage") && contains("git"))
}

fn contains(words: &[String], phrase: &str) -> bool {
    let phrase: Vec<&str> = phrase.split(' ').collect();
    words.windows(phrase.len()).any(|window| window.iter().zip(&phrase).all(|(a, b)| a == b))
}

/// The words of a line in lower case, those inside of names too.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    for letter in line.chars() {
        let starts = letter.is_uppercase() && before.is_lowercase();
        if (starts || !letter.is_alphabetic()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_alphabetic() {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.push(word);
    words
}

#[test]
fn names_are_read_word_by_word() {
    let expected = ["fn", "print", "user", "shown", "goes", "off", ""];
    assert_eq!(words("fn print_user(&Shown, 'goesOff')"), expected);
    assert!(contains(&words("// It goes off."), "goes off"));
    assert!(!contains(&words("understanding"), "understand"));
}

fn root() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).to_owned()
}

/// Our sources and pages, relative to the repository.
fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for (directory, ending) in [("crates", "rs"), ("fuzz/src", "rs"), ("docs", "md")] {
        collect(Path::new(directory), ending, &mut files);
    }
    for page in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "AGENTS.md"] {
        files.push(page.into());
    }
    let this_table = Path::new("crates/towpath/tests/it/avoided_words.rs");
    files.retain(|file| file != this_table);
    files.sort();
    assert!(files.len() > 50, "the sources are found");
    files
}

fn collect(directory: &Path, ending: &str, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root().join(directory)).expect("a directory can be read") {
        let entry = entry.expect("an entry can be read");
        let path = directory.join(entry.file_name());
        if entry.path().is_dir() {
            collect(&path, ending, files);
        } else if path.extension().is_some_and(|e| e == ending) {
            files.push(path);
        }
    }
}
