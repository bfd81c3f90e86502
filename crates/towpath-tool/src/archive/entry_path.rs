//! The name of an entry, checked: a relative path of ordinary components in UTF-8. There is no other
//! way to make an [`EntryPath`], and nothing is written to a path that is none.

use super::error::{ArchiveError, Refusal};

/// The longest component and the longest path that file systems take.
const LONGEST_COMPONENT: usize = 255;
const LONGEST_PATH: usize = 4000;

/// Components joined by `/`, never empty.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EntryPath(String);

impl EntryPath {
    /// The path without its first `strip` components; none if nothing is left of it.
    pub fn parse(name: &[u8], strip: u32) -> Result<Option<EntryPath>, ArchiveError> {
        let refuse = |refusal| ArchiveError::refused(name, refusal);
        let text = std::str::from_utf8(name).map_err(|_| refuse(Refusal::NotUtf8))?;
        if text.contains(char::is_control) {
            return Err(refuse(Refusal::ControlCharacter));
        }
        if text.starts_with('/') {
            return Err(refuse(Refusal::AbsolutePath));
        }
        if text.len() > LONGEST_PATH {
            return Err(refuse(Refusal::TooLong));
        }
        let mut components = Vec::new();
        for component in text.split('/').filter(|component| !matches!(*component, "" | ".")) {
            if component == ".." {
                return Err(refuse(Refusal::ParentDirectory));
            }
            if component.len() > LONGEST_COMPONENT {
                return Err(refuse(Refusal::TooLong));
            }
            components.push(component);
        }
        let strip = usize::try_from(strip).unwrap_or(usize::MAX).min(components.len());
        let path = components[strip..].join("/");
        Ok((!path.is_empty()).then_some(EntryPath(path)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The directories above, from the top.
    pub fn parents(&self) -> impl Iterator<Item = &str> {
        self.0.match_indices('/').map(|(end, _)| &self.0[..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Case<'c> = (&'c [u8], u32, Result<Option<&'c str>, Refusal>);

    #[test]
    fn a_path_is_relative_and_has_only_ordinary_components() {
        let parse = |name: &[u8], strip| match EntryPath::parse(name, strip) {
            Ok(path) => Ok(path.map(|path| path.0)),
            Err(error) => Err(error.refusal().cloned().unwrap()),
        };
        let long = "x".repeat(256);
        let deep = "y/".repeat(2001);
        let cases: &[Case<'_>] = &[
            (b"a/b", 0, Ok(Some("a/b"))),
            (b"./a//b/.", 0, Ok(Some("a/b"))),
            (b"a/b/c", 1, Ok(Some("b/c"))),
            (b"a/", 1, Ok(None)),
            (b"a", 7, Ok(None)),
            (b".", 0, Ok(None)),
            (b"", 0, Ok(None)),
            (b"...", 0, Ok(Some("..."))),
            (b"..a/b..", 0, Ok(Some("..a/b.."))),
            (b"/etc/passwd", 0, Err(Refusal::AbsolutePath)),
            (b"/x", 1, Err(Refusal::AbsolutePath)),
            (b"..", 0, Err(Refusal::ParentDirectory)),
            (b"a/../../b", 0, Err(Refusal::ParentDirectory)),
            (b"../x/y", 1, Err(Refusal::ParentDirectory)),
            (b"a\xff", 0, Err(Refusal::NotUtf8)),
            (b"a\nb", 0, Err(Refusal::ControlCharacter)),
            (b"a\0b", 0, Err(Refusal::ControlCharacter)),
            (b"\x1b[2J", 0, Err(Refusal::ControlCharacter)),
            (long.as_bytes(), 0, Err(Refusal::TooLong)),
            (deep.as_bytes(), 0, Err(Refusal::TooLong)),
        ];
        for (name, strip, expected) in cases {
            let expected = expected.clone().map(|path| path.map(str::to_owned));
            assert_eq!(parse(name, *strip), expected, "{}", name.escape_ascii());
        }
    }

    #[test]
    fn parents_are_in_order() {
        let path = EntryPath::parse(b"a/b/c", 0).unwrap().unwrap();
        assert_eq!(path.parents().collect::<Vec<_>>(), ["a", "a/b"]);
    }
}
