//! [`Normaliser`]: values that differ in each run become words; equal values become equal words.

use regex::{Captures, Regex};
use std::path::Path;

/// Patterns whose first group, else the whole match, is replaced by a word. `#` in the word becomes the
/// number of the value.
const PATTERNS: &[(&str, &str)] = &[
    (r"\d{4}-\d\d-\d\d(?:T| )\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?", "<time>"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uuid-#>"),
    (r"\b[0-9a-f]{64}\b", "<sha256-#>"),
    (r"\b[0-9a-f]{40}\b", "<commit-#>"),
    (r"\b[0-9a-f]{32}\b", "<digits-#>"),
    (r#""(?:\w*[dD]uration\w*|took)":\s*(\d+(?:\.\d+)?)"#, "<duration>"),
    // A run that was active for less than a millisecond.
    (r#""duration":\s*(null)"#, "<duration>"),
    (r#""(?:\w+_ms|at|pid|seq)":\s*(\d+)"#, "<number>"),
    (r"\b\d+\.\d ?s\b", "<duration>"),
    (r#""duration": \[\s*([^\]]*?)\s*\]"#, "<durations>"),
    (r#"GNU bash, (version [^\n"]*)"#, "<version>"),
    (r"\b\d+(?:\.\d+)? [kMG]B\b", "<size>"),
    (r#""(?:bytes|returned|kept)":\s*(\d{4,})"#, "<size>"),
    (r"\b(?:just now|\d+ (?:s|min) ago)\b", "<ago>"),
    (r"\b1[6-9]\d{11}\b", "<milliseconds>"),
];

pub struct Normaliser {
    hidden: Vec<(String, String)>,
    patterns: Vec<(Regex, &'static str)>,
    /// Values that have a number, with the word that they got.
    numbered: Vec<(String, String)>,
}

impl Normaliser {
    /// For a user whose files are below a directory.
    pub fn new(directory: &Path) -> Normaliser {
        let mut normaliser = Normaliser {
            hidden: Vec::new(),
            patterns: PATTERNS
                .iter()
                .map(|(pattern, word)| (Regex::new(pattern).expect("a pattern"), *word))
                .collect(),
            numbered: Vec::new(),
        };
        let directory = directory.to_str().expect("text").trim_end_matches('/');
        normaliser.hide(directory, "<home>");
        normaliser.hide(env!("CARGO_BIN_EXE_towpath"), "<towpath>");
        normaliser
    }

    /// Replaces a text by a word from now on.
    pub fn hide(&mut self, text: &str, word: &str) {
        if !self.hidden.iter().any(|(known, _)| known == text) {
            self.hidden.push((text.to_owned(), word.to_owned()));
        }
    }

    pub fn normalise(&mut self, text: &str, runs: &[String]) -> String {
        let mut text = text.to_owned();
        for (hidden, word) in &self.hidden {
            text = text.replace(hidden, word);
        }
        for (at, run) in runs.iter().enumerate() {
            let id = Regex::new(&format!(r"\b{run}\b")).expect("an id has no special characters");
            text = id.replace_all(&text, format!("<run-{}>", at + 1)).into_owned();
        }
        let version = Regex::new(&format!(r"\b{}\b", regex::escape(env!("CARGO_PKG_VERSION"))));
        text = version.expect("a pattern").replace_all(&text, "<version>").into_owned();
        for (pattern, word) in &self.patterns {
            let numbered = &mut self.numbered;
            let replaced = pattern.replace_all(&text, |found: &Captures| {
                let whole = found.get(0).expect("the whole match");
                let value = found.get(1).unwrap_or(whole);
                let word = number(numbered, value.as_str(), word);
                let (from, to) = (value.start() - whole.start(), value.end() - whole.start());
                format!("{}{word}{}", &whole.as_str()[..from], &whole.as_str()[to..])
            });
            text = replaced.into_owned();
        }
        text
    }
}

/// The word of a value, with the number that the value got when it was first seen.
fn number(numbered: &mut Vec<(String, String)>, value: &str, word: &str) -> String {
    if !word.contains('#') {
        return word.to_owned();
    }
    if let Some((_, known)) = numbered.iter().find(|(known, _)| known == value) {
        return known.clone();
    }
    let (kind, _) = word.split_once('#').expect("a number sign");
    let count = numbered.iter().filter(|(_, known)| known.starts_with(kind)).count();
    let word = word.replace('#', &(count + 1).to_string());
    numbered.push((value.to_owned(), word.clone()));
    word
}
