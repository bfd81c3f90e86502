//! The pattern of a verify section: a literal, case-sensitive, or a regex between slashes. `{version}` in
//! either is a version at that position, whose boundaries are checked. A version other than the
//! expected one matches too, and the match records that.

use crate::verify_section::VERSION;
use crate::version_token::{is_date, is_dotted, same_version};
use regex::Regex;
use thiserror::Error;

/// A version, as a group of a regex.
const VERSION_GROUP: &str = r"(?P<version>[0-9](?:[0-9A-Za-z.+~_-]*[0-9A-Za-z])?)";

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternError {
    #[error("the pattern is empty: it would match everything")]
    Empty,
    #[error("{VERSION} can be there once")]
    VersionTwice,
    #[error("not a regex: {0}")]
    BadRegex(String),
}

#[derive(Debug, Clone)]
pub struct OutputPattern {
    matcher: Matcher,
}

#[derive(Debug, Clone)]
enum Matcher {
    Literal(String),
    /// With a group `version` if the pattern has one; `bare` if nothing but a version is asked for.
    Regex {
        regex: Regex,
        bare: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternMatch {
    /// What is at the position of `{version}`.
    pub version: Option<String>,
}

impl OutputPattern {
    pub fn new(pattern: &str) -> Result<OutputPattern, PatternError> {
        let inner = pattern.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        if pattern.trim().is_empty() || inner == Some("") {
            return Err(PatternError::Empty);
        }
        if pattern.matches(VERSION).count() > 1 {
            return Err(PatternError::VersionTwice);
        }
        let bare = pattern == VERSION;
        let text = match inner {
            Some(inner) => inner.replace(VERSION, VERSION_GROUP),
            None if pattern.contains(VERSION) => {
                let parts: Vec<String> = pattern.split(VERSION).map(regex::escape).collect();
                parts.join(VERSION_GROUP)
            }
            None => return Ok(OutputPattern { matcher: Matcher::Literal(pattern.to_owned()) }),
        };
        let regex = Regex::new(&text).map_err(|error| PatternError::BadRegex(last_line(&error)))?;
        Ok(OutputPattern { matcher: Matcher::Regex { regex, bare } })
    }

    /// The first match, or the first one that has the expected version.
    pub fn find(&self, text: &str, expected: Option<&str>) -> Option<PatternMatch> {
        match &self.matcher {
            Matcher::Literal(literal) => {
                text.contains(literal.as_str()).then_some(PatternMatch { version: None })
            }
            Matcher::Regex { regex, bare } => first_version(regex, *bare, text, expected),
        }
    }
}

fn first_version(
    regex: &Regex,
    bare: bool,
    text: &str,
    expected: Option<&str>,
) -> Option<PatternMatch> {
    let mut first = None;
    for captures in regex.captures_iter(text) {
        let Some(version) = captures.name("version") else {
            return Some(PatternMatch { version: None });
        };
        let before = &text.as_bytes()[..version.start()];
        let inside = matches!(before, [.., b'0'..=b'9'] | [.., b'0'..=b'9', b'.']);
        let version = version.as_str();
        if inside || bare && !is_dotted(version) && !is_date(version) && text.trim() != version {
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
