//! The id of a run, short enough to type.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A run's short, typeable name: lower-case base32, four characters or more.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunId(String);

impl RunId {
    const ALPHABET: &'static [u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

    pub fn new(text: &str) -> Option<RunId> {
        let ok = text.len() >= 4 && text.bytes().all(|b| Self::ALPHABET.contains(&b));
        ok.then(|| RunId(text.to_owned()))
    }

    /// An id of `length` characters from random bytes that the caller brings.
    pub fn from_random(bytes: &[u8], length: usize) -> RunId {
        let text = bytes.iter().take(length.max(4)).map(|b| Self::ALPHABET[(b & 31) as usize]);
        RunId(text.map(char::from).collect())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_ids_are_checked() {
        assert!(RunId::new("7f3k").is_some());
        for bad in ["", "7f", "../x", "7F3K", "il1o"] {
            assert!(RunId::new(bad).is_none(), "{bad}");
        }
        assert_eq!(RunId::from_random(&[0, 31, 32, 255, 7], 5).as_str(), "0z0z7");
    }
}
