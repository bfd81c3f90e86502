//! The version of a program, and which of two is newer. The numbers with dots decide; a missing number
//! is zero. What follows them decides last: `2.0-rc1` and `3.13.0a1` come before their release, any
//! other suffix after it (`9.2p1`, `1.1.1w`, a packager's `-9`). What follows a `+`, and an epoch as in
//! `1:2.36`, are not compared. It reads one version, and does not search for one in a text.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Two spellings of the same version are equal: `1.6` and `v1.6.0`.
#[derive(Debug, Clone)]
pub struct Version {
    text: String,
    numbers: Vec<u64>,
    suffix: Suffix,
}

/// In the order of time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Suffix {
    PreRelease(Phase, Vec<Part>),
    None,
    Later(Vec<Part>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Snapshot,
    Alpha,
    Beta,
    Candidate,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Number(u64),
    Word(String),
}

/// A text that is no version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a version")]
pub struct NotAVersion;

impl FromStr for Version {
    type Err = NotAVersion;

    fn from_str(text: &str) -> Result<Version, NotAVersion> {
        read(text).ok_or(NotAVersion)
    }
}

fn read(text: &str) -> Option<Version> {
    let plain = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let (_, plain) =
        plain.split_once(':').filter(|(epoch, _)| is_number(epoch)).unwrap_or(("", plain));
    let mut numbers = Vec::new();
    let mut rest = plain;
    loop {
        let (first, after) = rest.split_at(digits(rest));
        numbers.push(number(first)?);
        rest = after;
        match after.strip_prefix('.').filter(|next| digits(next) > 0) {
            Some(next) => rest = next,
            None => break,
        }
    }
    let suffix = rest.split('+').next().unwrap_or(rest);
    let known = |c: char| c.is_ascii_alphanumeric() || "+.-_~".contains(c);
    rest.chars().all(known).then_some(())?;
    Some(Version { text: text.to_owned(), numbers, suffix: suffix_of(suffix)? })
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && digits(text) == text.len()
}

/// Nobody counts further than this.
fn number(digits: &str) -> Option<u64> {
    (digits.len() <= 18).then(|| digits.parse().ok())?
}

fn suffix_of(text: &str) -> Option<Suffix> {
    let parts = parts(text)?;
    let Some(Part::Word(word)) = parts.first() else {
        return Some(if parts.is_empty() { Suffix::None } else { Suffix::Later(parts) });
    };
    let counted = matches!(parts.get(1), Some(Part::Number(_)));
    Some(match phase(word, counted) {
        Some(phase) => Suffix::PreRelease(phase, parts[1..].to_vec()),
        None => Suffix::Later(parts),
    })
}

/// A letter alone is a later release (`3.3a`), with a number it is an early one (`3.13.0a1`).
fn phase(word: &str, counted: bool) -> Option<Phase> {
    match word {
        "dev" | "snapshot" | "nightly" | "canary" => Some(Phase::Snapshot),
        "alpha" => Some(Phase::Alpha),
        "a" if counted => Some(Phase::Alpha),
        "beta" => Some(Phase::Beta),
        "b" if counted => Some(Phase::Beta),
        "rc" | "cr" | "pre" | "preview" => Some(Phase::Candidate),
        "c" if counted => Some(Phase::Candidate),
        _ => None,
    }
}

/// The words and numbers of a suffix: `-rc.1` has two.
fn parts(text: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut rest = text.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    while !rest.is_empty() {
        let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (part, after) = rest.split_at(if letters > 0 { letters } else { digits(rest) });
        parts.push(match letters {
            0 => Part::Number(number(part)?),
            _ => Part::Word(part.to_lowercase()),
        });
        rest = after.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    }
    Some(parts)
}

impl Version {
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// How this version is to a stated one, which means all versions that begin with its numbers: `1.6.3`
    /// is equal to a stated `1.6`, and `1.6.0-rc1` is before it.
    pub(crate) fn relative_to(&self, stated: &Version) -> Ordering {
        if stated.suffix != Suffix::None {
            return self.cmp(stated);
        }
        let length = stated.numbers.len();
        let own = &self.numbers[..length.min(self.numbers.len())];
        let below = self.numbers.get(length..).unwrap_or_default();
        let early = matches!(self.suffix, Suffix::PreRelease(..)) && below.iter().all(|n| *n == 0);
        compare(own, &stated.numbers).then(if early { Ordering::Less } else { Ordering::Equal })
    }
}

/// A missing number is zero.
fn compare(a: &[u64], b: &[u64]) -> Ordering {
    let at = |numbers: &[u64], index: usize| numbers.get(index).copied().unwrap_or(0);
    let mut ordered = (0..a.len().max(b.len())).map(|index| at(a, index).cmp(&at(b, index)));
    ordered.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

impl Ord for Version {
    fn cmp(&self, other: &Version) -> Ordering {
        compare(&self.numbers, &other.numbers).then_with(|| self.suffix.cmp(&other.suffix))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Version) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Version) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap_or_else(|_| panic!("{text}"))
    }

    #[test]
    fn from_the_oldest_to_the_newest() {
        let ordered = [
            "0.9",
            "1.6-dev",
            "1.6a1",
            "1.6-alpha.2",
            "1.6-beta1",
            "1.6-rc1",
            "1.6rc2",
            "1.6-rc.10",
            "1.6",
            "1.6-9",
            "1.6a",
            "1.6p1",
            "1.6p2",
            "1.6.1",
            "1.9",
            "1.10",
            "2",
            "2.0.1",
            "10.0",
            "2024.1",
        ];
        for (index, older) in ordered.iter().enumerate() {
            for newer in &ordered[index + 1..] {
                assert!(version(older) < version(newer), "{older} < {newer}");
            }
        }
    }

    #[test]
    fn spellings_of_the_same_version() {
        for (a, b) in
            [("1.6", "v1.6.0"), ("1.6", "1.6+git3"), ("1:2.36", "2.36"), ("1.6-RC1", "1.6rc1")]
        {
            assert_eq!(version(a), version(b), "{a} {b}");
        }
        assert_eq!(version("v1.6.0").as_str(), "v1.6.0");
    }

    #[test]
    fn what_is_no_version() {
        for text in ["", "v", "x", "1.6 ", ".1", "-1", "1/2", "1.6;x", "1234567890123456789", "é"]
        {
            assert_eq!(text.parse::<Version>(), Err(NotAVersion), "{text}");
        }
    }

    #[test]
    fn a_stated_version_means_all_that_begin_with_it() {
        let relative = |own: &str, stated: &str| version(own).relative_to(&version(stated));
        for own in ["1.6", "1.6.0", "1.6.3", "1.6.3-rc1", "1.6p1"] {
            assert_eq!(relative(own, "1.6"), Ordering::Equal, "{own}");
        }
        for own in ["1.5.9", "1.6-rc1", "1.6.0-rc1", "1"] {
            assert_eq!(relative(own, "1.6"), Ordering::Less, "{own}");
        }
        assert_eq!(relative("1.7", "1.6"), Ordering::Greater);
        assert_eq!(relative("1", "1.0"), Ordering::Equal);
        assert_eq!(relative("1.6.3", "1.6.3-rc1"), Ordering::Greater);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_text_has_an_answer(text in "[v0-9a-z.+:~_-]{0,12}|.{0,8}") {
            if let Ok(version) = text.parse::<Version>() {
                prop_assert_eq!(version.as_str(), text);
            }
        }

        #[test]
        fn the_order_is_one(texts in prop::collection::vec("[0-2](\\.[0-2]){0,2}(-?(rc|a|p|dev)[0-2]?)?", 3)) {
            let [a, b, c] = [0, 1, 2].map(|at| version(&texts[at]));
            prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
            if a <= b && b <= c {
                prop_assert!(a <= c);
            }
            // What is stated without a suffix and with all its numbers is compared as it is.
            let full = version(&format!("{}.0.0", texts[1].split(|c: char| c != '.' && !c.is_ascii_digit()).next().unwrap_or("0")));
            if a.numbers.len() <= full.numbers.len() && a.suffix <= Suffix::None {
                prop_assert_eq!(a.relative_to(&full), a.cmp(&full));
            }
        }
    }
}
