//! A program that must be there, as recipes write it: `jq`, `jq>=1.6`. It knows what such a text means
//! and what is wrong with it; where programs are and which versions they have is found out elsewhere.

use crate::program_version::Version;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    pub name: String,
    /// Any version will do where there is none.
    pub constraint: Option<VersionConstraint>,
}

/// As text: `>=1.6`. Equal are those of one spelling, for `=1.6` and `=1.6.0` mean different versions.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct VersionConstraint {
    operator: Operator,
    version: Version,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    AtLeast,
    Above,
    AtMost,
    Below,
}

impl Operator {
    const ALL: [Operator; 5] =
        [Operator::Equal, Operator::AtLeast, Operator::Above, Operator::AtMost, Operator::Below];

    fn as_str(self) -> &'static str {
        match self {
            Operator::Equal => "=",
            Operator::AtLeast => ">=",
            Operator::Above => ">",
            Operator::AtMost => "<=",
            Operator::Below => "<",
        }
    }
}

/// Why a text is no requirement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RequirementError {
    pub message: String,
    /// What is wrong, in bytes of the text.
    pub range: Range<usize>,
    pub help: String,
}

/// Longer names are no file names.
const LONGEST_NAME: usize = 255;
/// What operators are made of, here and elsewhere.
const OPERATOR: &[char] = &['=', '<', '>', '!', '~', '^', '@'];

impl FromStr for Requirement {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Requirement, RequirementError> {
        let ends_name = |c: char| OPERATOR.contains(&c) || c.is_whitespace() || c == ',';
        let start = text.len() - text.trim_start().len();
        let end = text[start..].find(ends_name).map_or(text.len(), |at| start + at);
        let name = &text[start..end];
        check_name(name).map_err(|message| error(message, start..end, NAME_HELP))?;
        let rest = text[end..].trim();
        let name = name.to_owned();
        if rest.is_empty() {
            return Ok(Requirement { name, constraint: None });
        }
        let end = text.trim_end().len();
        let range = end - rest.len()..end;
        let constraint =
            constraint(&name, rest).map_err(|(message, help)| error(message, range, help))?;
        Ok(Requirement { name, constraint: Some(constraint) })
    }
}

const NAME_HELP: &str = "a name has letters, digits, `.`, `_`, `+` and `-`, as in `jq` or `g++`";
const OPERATORS_HELP: &str = "use `=`, `>=`, `>`, `<=` or `<`, as in `jq>=1.6`";

fn error(message: String, range: Range<usize>, help: impl Into<String>) -> RequirementError {
    RequirementError { message, range, help: help.into() }
}

fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("there is no name of a program".to_owned());
    }
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let known = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    let fits = name.len() <= LONGEST_NAME && name.chars().all(known);
    match begins && fits && name.contains(|c: char| c.is_ascii_alphabetic()) {
        true => Ok(()),
        false => Err(format!("`{name}` cannot be the name of a program")),
    }
}

/// What follows the name; else a message and what helps.
fn constraint(name: &str, text: &str) -> Result<VersionConstraint, (String, String)> {
    let version_at = text.find(|c: char| !OPERATOR.contains(&c)).unwrap_or(text.len());
    let (operator, version) = (&text[..version_at], text[version_at..].trim());
    let Some(known) = Operator::ALL.into_iter().find(|known| known.as_str() == operator) else {
        let message = match operator {
            "" => format!("there is no operator between `{name}` and `{version}`"),
            _ => format!("there is no operator `{operator}`"),
        };
        return Err((message, OPERATORS_HELP.to_owned()));
    };
    if let Some((first, second)) = version.split_once(',') {
        let (first, second) = (first.trim(), second.trim());
        let help = format!("write two: `{name}{operator}{first}` and `{name}{second}`");
        return Err(("one requirement has one version".to_owned(), help));
    }
    match version.parse() {
        Ok(version) => Ok(VersionConstraint { operator: known, version }),
        Err(_) => {
            let message = match version {
                "" => format!("`{operator}` has no version after it"),
                _ => format!("`{version}` is not a version"),
            };
            Err((message, "a version begins with a number, as in `1.6` or `2.0-rc1`".to_owned()))
        }
    }
}

impl VersionConstraint {
    /// Whether a version is one of those that are meant. A constraint means all versions that begin with
    /// its numbers: `1.6.3` is met by `=1.6` and `<=1.6`, and not by `>1.6`.
    pub fn is_met_by(&self, version: &Version) -> bool {
        let order = version.relative_to(&self.version);
        match self.operator {
            Operator::Equal => order == Ordering::Equal,
            Operator::AtLeast => order != Ordering::Less,
            Operator::Above => order == Ordering::Greater,
            Operator::AtMost => order != Ordering::Greater,
            Operator::Below => order == Ordering::Less,
        }
    }
}

impl PartialEq for VersionConstraint {
    fn eq(&self, other: &VersionConstraint) -> bool {
        self.operator == other.operator && self.version.as_str() == other.version.as_str()
    }
}

impl Eq for VersionConstraint {}

impl fmt::Display for VersionConstraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.operator.as_str(), self.version)
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.constraint.as_ref().map_or(Ok(()), |constraint| constraint.fmt(f))
    }
}

impl From<VersionConstraint> for String {
    fn from(constraint: VersionConstraint) -> String {
        constraint.to_string()
    }
}

impl TryFrom<String> for VersionConstraint {
    type Error = String;

    fn try_from(text: String) -> Result<VersionConstraint, String> {
        constraint("", &text).map_err(|(message, _)| message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn requirement(text: &str) -> Requirement {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn names_with_and_without_versions() {
        for (text, shown) in [
            ("jq", "jq"),
            (" ripgrep ", "ripgrep"),
            ("jq>=1.6", "jq>=1.6"),
            ("jq >= 1.6 ", "jq>=1.6"),
            ("g++=13", "g++=13"),
            ("python3.12<4", "python3.12<4"),
            ("7z>16.02", "7z>16.02"),
            ("clang-18<=18.1.0-rc2", "clang-18<=18.1.0-rc2"),
        ] {
            assert_eq!(requirement(text).to_string(), shown);
        }
    }

    #[test]
    fn what_is_refused_is_located_with_what_to_write() {
        for (text, wrong, message, help) in [
            ("", "", "there is no name of a program", NAME_HELP),
            (">=1", "", "there is no name of a program", NAME_HELP),
            ("-rf", "-rf", "`-rf` cannot be the name of a program", NAME_HELP),
            ("../x", "../x", "`../x` cannot be the name of a program", NAME_HELP),
            ("7", "7", "`7` cannot be the name of a program", NAME_HELP),
            ("jq==1.6", "==1.6", "there is no operator `==`", OPERATORS_HELP),
            ("jq@1.6", "@1.6", "there is no operator `@`", OPERATORS_HELP),
            ("jq 1.6", "1.6", "there is no operator between `jq` and `1.6`", OPERATORS_HELP),
            (
                "jq>=1.6, <2",
                ">=1.6, <2",
                "one requirement has one version",
                "write two: `jq>=1.6` and `jq<2`",
            ),
            (
                "jq>=",
                ">=",
                "`>=` has no version after it",
                "a version begins with a number, as in `1.6` or `2.0-rc1`",
            ),
            (
                "jq>=new",
                ">=new",
                "`new` is not a version",
                "a version begins with a number, as in `1.6` or `2.0-rc1`",
            ),
        ] {
            let error = text.parse::<Requirement>().expect_err(text);
            assert_eq!((error.message.as_str(), error.help.as_str()), (message, help), "{text}");
            assert_eq!(&text[error.range], wrong, "{text}");
        }
    }

    #[test]
    fn which_versions_are_meant() {
        for (text, met, unmet) in [
            (
                "x=1.6",
                &["1.6", "1.6.0", "1.6.3", "1.6p1"][..],
                &["1.5", "1.7", "1.60", "1.6-rc1"][..],
            ),
            ("x>=1.6", &["1.6", "1.10", "2", "1.6.0"], &["1.5.9", "1.6-rc1", "0.10"]),
            ("x>1.6", &["1.7", "1.10", "2"], &["1.6", "1.6.3", "1.5"]),
            ("x<=1.6", &["1.6.3", "1.5", "1.6-rc1"], &["1.7", "1.10"]),
            ("x<2", &["1.10", "2.0-rc1", "2.0.0-beta.1"], &["2", "2.0.1", "10"]),
            ("x>=2.0-rc1", &["2.0-rc1", "2.0-rc2", "2.0", "2.1"], &["2.0-beta1", "1.9"]),
        ] {
            let constraint = requirement(text).constraint.expect(text);
            let is_met = |version: &&str| constraint.is_met_by(&version.parse().expect(version));
            assert!(met.iter().all(&is_met), "{text}");
            assert!(!unmet.iter().any(is_met), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_text_has_an_answer(text in "[ a-z0-9=<>~,.+-]{0,12}|.{0,12}") {
            match text.parse::<Requirement>() {
                Ok(requirement) => {
                    let again: Requirement = requirement.to_string().parse().expect("it is read again");
                    prop_assert_eq!(again, requirement);
                }
                Err(error) => prop_assert!(text.get(error.range).is_some()),
            }
        }
    }
}
