//! The pattern of a verify section: a literal, case-sensitive, or a regex between slashes. `{version}` in
//! either is a version at that position, whose boundaries are checked. A version other than the
//! expected one matches too, and the match records that.

use crate::tool_names::ToolNames;
use crate::verify_section::VERSION;
use crate::version_token::{is_date, is_dotted, same_version};
use regex::Regex;
use std::ops::Range;
use thiserror::Error;

/// A version, as a group of a regex.
const VERSION_GROUP: &str = r"(?P<version>[0-9](?:[0-9A-Za-z.+~_-]*[0-9A-Za-z])?)";

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternError {
    #[error("the pattern is empty: it would match everything")]
    Empty,
    #[error("{VERSION} can be there once")]
    VersionTwice,
    #[error("the pattern is longer than {LONGEST} bytes")]
    TooLong,
    #[error("not a regex: {0}")]
    BadRegex(String),
}

/// A regex takes memory for each of its groups.
const LONGEST: usize = 2000;

#[derive(Debug, Clone)]
pub struct OutputPattern {
    /// With a group `version` if the pattern has one.
    regex: Regex,
    /// Nothing but a version is asked for.
    bare: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternMatch {
    /// What is at the position of `{version}`.
    pub version: Option<String>,
}

impl OutputPattern {
    pub fn new(pattern: &str) -> Result<OutputPattern, PatternError> {
        if pattern.len() > LONGEST {
            return Err(PatternError::TooLong);
        }
        let inner = pattern.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        if pattern.trim().is_empty() || inner == Some("") {
            return Err(PatternError::Empty);
        }
        if pattern.matches(VERSION).count() > 1 {
            return Err(PatternError::VersionTwice);
        }
        let literal = || {
            let parts: Vec<String> = pattern.split(VERSION).map(regex::escape).collect();
            parts.join(VERSION_GROUP)
        };
        let text = inner.map_or_else(literal, |inner| inner.replace(VERSION, VERSION_GROUP));
        let regex = Regex::new(&text).map_err(|error| PatternError::BadRegex(last_line(&error)))?;
        Ok(OutputPattern { regex, bare: pattern == VERSION })
    }

    /// The first match, or the first one that has the expected version.
    pub fn find(&self, text: &str, expected: Option<&str>) -> Option<PatternMatch> {
        let mut first = None;
        for captures in self.regex.captures_iter(text) {
            let Some(version) = captures.name("version") else {
                return Some(PatternMatch { version: None });
            };
            let before = &text.as_bytes()[..version.start()];
            let inside = matches!(before, [.., b'0'..=b'9'] | [.., b'0'..=b'9', b'.']);
            let version = version.as_str();
            let is_version = is_dotted(version) || is_date(version) || text.trim() == version;
            if inside || self.bare && !is_version {
                continue;
            }
            let found = PatternMatch { version: Some(version.to_owned()) };
            match expected {
                Some(expected) if !same_version(version, expected) => first = first.or(Some(found)),
                _ => return Some(found),
            }
        }
        first
    }
}

/// The pattern that finds a printed line again in any install: a literal, or a regex with a wildcard for
/// every path. None if the line has nothing but paths.
pub(crate) fn pattern_of_line(
    line: &str,
    names: &ToolNames,
    install: Option<&str>,
) -> Option<String> {
    let paths = paths_in(line, install);
    // A slash would end the regex.
    let escaped = |text: &str| regex::escape(text).replace('/', r"\x2f");
    let (mut regex, mut kept, mut at) = (String::new(), String::new(), 0);
    for path in &paths {
        let text = &line[path.clone()];
        let name = text.rsplit('/').next().filter(|name| names.is_name(name)).unwrap_or("");
        let wildcard = if text.contains(char::is_whitespace) { ".*" } else { r"\S*" };
        kept += &format!("{}{name}", &line[at..path.start]);
        regex += &format!("{}{wildcard}{}", escaped(&line[at..path.start]), escaped(name));
        at = path.end;
    }
    kept += &line[at..];
    regex += &escaped(&line[at..]);
    let is_literal = paths.is_empty() && !(line.starts_with('/') && line.ends_with('/'));
    let pattern = if is_literal { line.to_owned() } else { format!("/{regex}/") };
    kept.contains(char::is_alphanumeric).then_some(pattern)
}

/// Directories whose paths are recognised behind any letter: `-I/usr/include`.
const ROOTS: &[&str] =
    &["/usr/", "/home/", "/root/", "/tmp/", "/var/", "/opt/", "/etc/", "/nix/", "/mnt/", "/srv/"];

/// The paths of this machine in a line: all that are absolute, and those with the install's own directory.
pub(crate) fn paths_in(line: &str, install: Option<&str>) -> Vec<Range<usize>> {
    let install = install.map(|install| install.trim_end_matches('/')).unwrap_or_default();
    let counter = install.rsplit('/').next().filter(|name| !name.is_empty());
    let mut paths: Vec<Range<usize>> = Vec::new();
    for (slash, _) in line.match_indices('/') {
        let end = paths.last().map_or(0, |path| path.end);
        if slash < end {
            continue;
        }
        let word = end + line[end..slash].rfind(is_path_end).map_or(0, |at| at + 1);
        let word = line.ceil_char_boundary(word);
        let path = word..path_end(line, slash, install);
        let has_counter = |counter| line[path.clone()].split('/').any(|part| part == counter);
        if begins_path(line, slash, install) {
            paths.push(slash..path.end);
        } else if counter.is_some_and(has_counter) {
            paths.push(path);
        }
    }
    paths
}

fn begins_path(line: &str, slash: usize, install: &str) -> bool {
    let (before, rest) = line.split_at(slash);
    let known = ROOTS.iter().any(|root| rest.starts_with(root))
        || !install.is_empty() && rest.starts_with(install);
    let separate = match before.chars().next_back() {
        // `file:///opt` and `//opt`, but not `https://example`
        Some('/') => before.ends_with("://") || !before.ends_with(":/"),
        Some(c) => !c.is_alphanumeric() && !"._-~)]>}".contains(c),
        None => true,
    };
    known || separate && rest[1..].starts_with(|c: char| c.is_alphanumeric() || c == '.')
}

/// The end of a path. The install's own may contain blanks.
fn path_end(line: &str, start: usize, install: &str) -> usize {
    let letters = line[start..].char_indices().zip(install.chars());
    let common = letters.take_while(|((_, a), b)| a == b).last();
    let common = common.map_or(start, |((at, letter), _)| start + at + letter.len_utf8());
    common + line[common..].find(is_path_end).unwrap_or(line.len() - common)
}

fn is_path_end(letter: char) -> bool {
    letter.is_whitespace() || ":,;)\"'`‘’“”<>[]{}|".contains(letter)
}

/// The reason of a syntax error; the lines before it draw the pattern again.
fn last_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let line = text.lines().last().unwrap_or("not valid").trim();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, text: &str, expected: Option<&str>) -> Option<Option<String>> {
        let pattern = OutputPattern::new(pattern).expect("a pattern");
        pattern.find(text, expected).map(|found| found.version)
    }

    #[test]
    fn a_literal_is_case_sensitive_and_has_no_special_characters() {
        assert_eq!(found("usage: c++filt", "usage: c++filt [-n]", None), Some(None));
        assert_eq!(found("usage:", "Usage: x", None), None);
        assert_eq!(found("/[Uu]sage: \\S*x /", "Usage: /bin/x [a]", None), Some(None));
    }

    #[test]
    fn a_version_has_boundaries_and_the_expected_one_is_preferred() {
        let version = |text: &str| Some(Some(text.to_owned()));
        assert_eq!(found("jq-{version}", "jq-1.6\n", Some("1.6")), version("1.6"));
        assert_eq!(found("{version}", "lib 3.1, x 1.2", Some("1.2")), version("1.2"));
        assert_eq!(found("{version}", "x 11.2.0", Some("1.2")), version("11.2.0"));
        assert_eq!(found("{version}", "Copyright 2022 the authors", None), None);
        assert_eq!(found("{version}", "590\n", None), version("590"));
        assert_eq!(found("less {version}", "less 590 (GNU)", None), version("590"));
        assert_eq!(found("/^x {version}$/", "x 1.2.3", None), version("1.2.3"));
    }

    #[test]
    fn what_cannot_be_checked_is_refused() {
        assert_eq!(OutputPattern::new(" ").unwrap_err(), PatternError::Empty);
        assert_eq!(OutputPattern::new("//").unwrap_err(), PatternError::Empty);
        assert!(matches!(OutputPattern::new("/a(/").unwrap_err(), PatternError::BadRegex(_)));
        let twice = OutputPattern::new("{version} {version}").unwrap_err();
        assert_eq!(twice, PatternError::VersionTwice);
    }
}
