//! A package of a source, as a user writes it: `cargo:ripgrep`, `github:OWNER/REPO`, `url:https://…`.
//! The name of a [`SourceRef`] has been checked for its source, so that it can be an argument of the
//! source's client and a part of a path.

use regex::Regex;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;
use thiserror::Error;
use towpath_core::{data_rows, nearest};

/// In the order of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    Cargo,
    Npm,
    Pypi,
    GitHub,
    Url,
}

struct Row {
    word: &'static str,
    title: &'static str,
    has_names: bool,
    longest: usize,
    name: Regex,
    expected: &'static str,
    others: &'static str,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let rows = data_rows(include_str!("source_kinds.txt"));
    let row = |[word, title, names, longest, name, expected, others]: [&'static str; 7]| Row {
        word,
        title,
        has_names: !names.is_empty(),
        longest: longest.parse().expect("the table has numbers"),
        name: Regex::new(&format!("^(?:{name})$")).expect("the table has patterns"),
        expected,
        others,
    };
    rows.map(row).collect()
});

const KINDS: [SourceKind; 5] = {
    use SourceKind::{Cargo, GitHub, Npm, Pypi, Url};
    [Cargo, Npm, Pypi, GitHub, Url]
};

impl SourceKind {
    /// Those that can be asked for a plain name.
    pub fn with_names() -> impl Iterator<Item = SourceKind> {
        KINDS.into_iter().filter(|kind| kind.row().has_names)
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// `cargo`, as in `cargo:ripgrep`.
    pub fn word(self) -> &'static str {
        self.row().word
    }

    /// As its users write it: `PyPI`.
    pub fn title(self) -> &'static str {
        self.row().title
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceRef {
    kind: SourceKind,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SourceRefError {
    #[error("`{text}` names no source: write one of {}", words())]
    NoSource { text: String },
    /// Programs that are unpacked without the scripts of their packages do not do their work.
    #[error("Debian's packages belong to the system: apt-get install {0}")]
    OfSystem(String),
    #[error("unknown source `{word}`{}", near(.nearest))]
    UnknownSource { word: String, nearest: Option<&'static str> },
    #[error("`{name}` is no name of {}: expected {expected}", kind.title())]
    Name { kind: SourceKind, name: String, expected: &'static str },
}

fn words() -> String {
    let word =
        |row: &Row| format!("{}:{}", row.word, if row.has_names { "NAME" } else { row.expected });
    ROWS.iter().map(word).collect::<Vec<_>>().join(", ")
}

fn near(nearest: &Option<&'static str>) -> String {
    nearest
        .map_or_else(|| format!(": write one of {}", words()), |n| format!(": did you mean `{n}`?"))
}

impl SourceRef {
    pub fn new(kind: SourceKind, name: &str) -> Result<SourceRef, SourceRefError> {
        let row = kind.row();
        let (is_name, name) = (row.name.is_match(name), name.to_owned());
        match is_name && name.len() <= row.longest {
            true => Ok(SourceRef { kind, name }),
            false => Err(SourceRefError::Name { kind, name, expected: row.expected }),
        }
    }

    pub fn kind(&self) -> SourceKind {
        self.kind
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// With a name that the reader of recipes has checked.
    pub(crate) fn checked(kind: SourceKind, name: String) -> SourceRef {
        SourceRef { kind, name }
    }

    /// `NAME@VERSION` as its two parts; with a source before it or without. A scope's `@` and one
    /// inside of a URL begin no version.
    pub fn split_version(text: &str) -> (&str, Option<&str>) {
        match text.rsplit_once('@') {
            Some((name, version))
                if !name.is_empty()
                    && !name.ends_with([':', '/'])
                    && !version.is_empty()
                    && !version.contains('/') =>
            {
                (name, Some(version))
            }
            _ => (text, None),
        }
    }
}

impl FromStr for SourceRef {
    type Err = SourceRefError;

    fn from_str(text: &str) -> Result<SourceRef, SourceRefError> {
        let no_source = || SourceRefError::NoSource { text: text.to_owned() };
        let (word, name) = text.split_once(':').ok_or_else(no_source)?;
        // A URL alone is clear enough.
        if matches!(word, "https" | "http") {
            return SourceRef::new(SourceKind::Url, text);
        }
        if matches!(word, "deb" | "apt") {
            return Err(SourceRefError::OfSystem(name.to_owned()));
        }
        let kind = KINDS.into_iter().find(|kind| kind.word() == word).ok_or_else(|| {
            let other = ROWS.iter().find(|row| row.others.split(' ').any(|other| other == word));
            let other = other.map(|row| row.word);
            let nearest = other.or_else(|| nearest(word, ROWS.iter().map(|row| row.word)));
            SourceRefError::UnknownSource { word: word.to_owned(), nearest }
        })?;
        SourceRef::new(kind, name)
    }
}

impl fmt::Display for SourceRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.word(), self.name)
    }
}

impl Serialize for SourceRef {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Whether a text can be a version: it becomes a part of arguments, paths and URLs.
pub fn check_version(version: &str) -> Result<(), String> {
    let ordinary = |c: char| c.is_ascii_alphanumeric() || ".+-~:_!".contains(c);
    let starts = version.starts_with(|c: char| c.is_ascii_alphanumeric());
    let numbered = version.contains(|c: char| c.is_ascii_digit());
    match starts && numbered && version.len() <= 128 && version.chars().all(ordinary) {
        true => Ok(()),
        false => Err(format!("`{version}` is not a version")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_and_written() {
        for text in [
            "cargo:ripgrep",
            "npm:@angular/cli",
            "npm:semver",
            "pypi:zope.interface",
            "github:BurntSushi/ripgrep",
            "github:o/.github",
            "url:https://example.com/a-1.0.tar.gz?x=1&y",
        ] {
            assert_eq!(text.parse::<SourceRef>().unwrap().to_string(), text);
        }
        let url = "https://example.com/x.zip".parse::<SourceRef>().unwrap();
        assert_eq!(url.to_string(), "url:https://example.com/x.zip");
        for (row, kind) in ROWS.iter().zip(KINDS) {
            assert_eq!(format!("\"{}\"", row.word), serde_json::to_string(&kind).unwrap());
        }
    }

    #[test]
    fn what_could_be_an_option_or_a_path_is_refused() {
        for text in [
            "cargo:--config",
            "cargo:",
            "cargo:a b",
            "npm:@/x",
            "npm:@a/../b",
            "npm:a/b",
            "npm:.hidden",
            "pypi:a[extra]",
            "pypi:-r",
            "pypi:a==1",
            "github:owner",
            "github:owner/..",
            "github:-o/r",
            "github:a/b/c",
            "url:file:///etc/passwd",
            "url:https://",
            "url:https://a b",
            "https://{x}",
        ] {
            let error = text.parse::<SourceRef>().unwrap_err();
            assert!(matches!(error, SourceRefError::Name { .. }), "{text}: {error}");
        }
    }

    #[test]
    fn a_wrong_source_gets_a_suggestion() {
        let message = |text: &str| text.parse::<SourceRef>().unwrap_err().to_string();
        assert_eq!(message("pip:x"), "unknown source `pip`: did you mean `pypi`?");
        assert!(message("zzz:x").starts_with("unknown source `zzz`: write one of cargo:NAME, "));
        assert!(
            message("ripgrep").starts_with("`ripgrep` names no source: write one of cargo:NAME")
        );
        let error = message("github:Htop");
        assert_eq!(error, "`Htop` is no name of GitHub: expected OWNER/REPO");
        assert!(message("deb:htop").contains("apt-get install htop"));
    }

    #[test]
    fn a_version_follows_the_last_at() {
        let cases = [
            ("kibi", ("kibi", None)),
            ("kibi@0.2.2", ("kibi", Some("0.2.2"))),
            ("cargo:kibi@0.2.2", ("cargo:kibi", Some("0.2.2"))),
            ("npm:@a/b", ("npm:@a/b", None)),
            ("npm:@a/b@1", ("npm:@a/b", Some("1"))),
            ("@a/b", ("@a/b", None)),
            ("@b", ("@b", None)),
            ("url:https://me@host/x", ("url:https://me@host/x", None)),
            ("kibi@", ("kibi@", None)),
        ];
        for (text, expected) in cases {
            assert_eq!(SourceRef::split_version(text), expected, "{text}");
        }
    }

    #[test]
    fn versions_are_checked() {
        for version in ["1", "1.2.3", "v1", "2:1.0-1~deb12u1", "1.0.0+b1", "1!2.0"] {
            assert_eq!(check_version(version), Ok(()), "{version}");
        }
        for version in ["", "-1", "1 2", "../1", "1/2", "1@2", ".1", "1\n"] {
            assert!(check_version(version).is_err(), "{version}");
        }
        assert!(check_version(&"1".repeat(129)).is_err());
    }
}
