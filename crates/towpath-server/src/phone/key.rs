//! The key that a client shows: the token's 128 bits in the form that clients of this protocol accept. It is
//! read from its file at each use, so that it can be made and replaced while the server is up.

use crate::token::Token;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

const PREFIX: &str = "untethered-";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhoneKey(Token);

impl PhoneKey {
    pub fn new(token: Token) -> PhoneKey {
        PhoneKey(token)
    }

    /// None: there is no key, or others could read it.
    pub fn read(file: &Path) -> Option<PhoneKey> {
        let private = fs::metadata(file).ok()?.mode() & 0o077 == 0;
        let text = fs::read_to_string(file).ok().filter(|_| private)?;
        PhoneKey::parse(text.trim_end())
    }

    pub fn parse(text: &str) -> Option<PhoneKey> {
        Token::parse(text.strip_prefix(PREFIX)?).map(PhoneKey)
    }

    pub fn text(&self) -> String {
        format!("{PREFIX}{}", self.0.as_str())
    }

    /// Takes as long for every key of the right length.
    pub fn matches(&self, shown: &str) -> bool {
        shown.strip_prefix(PREFIX).is_some_and(|shown| self.0.matches(shown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_key_has_the_form_that_clients_accept_and_matches_itself_alone() {
        let key = PhoneKey::new(Token::from_random([7; 16]));
        assert_eq!(key.text(), format!("untethered-{}", "07".repeat(16)));
        assert_eq!(PhoneKey::parse(&key.text()), Some(key.clone()));
        assert!(key.matches(&key.text()));
        for other in ["", "untethered-", &"07".repeat(16), &key.text()[..42], "untethered-08"] {
            assert!(!key.matches(other), "{other}");
            assert_eq!(PhoneKey::parse(other), None, "{other}");
        }
        assert!(!format!("{key:?}").contains("07"));
    }

    #[test]
    fn a_key_that_others_could_read_is_none() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("phone-key");
        assert_eq!(PhoneKey::read(&file), None);
        let key = PhoneKey::new(Token::from_random([7; 16]));
        fs::write(&file, format!("{}\n", key.text())).expect("a file");
        for (mode, expected) in [(0o640, None), (0o604, None), (0o600, Some(&key))] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("a mode");
            assert_eq!(PhoneKey::read(&file).as_ref(), expected, "{mode:o}");
        }
    }
}
