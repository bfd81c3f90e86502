//! The token that every request for data needs: 128 random bits, written as 32 hexadecimal digits.

use sha2::{Digest as _, Sha256};
use std::fmt;
use std::hint::black_box;

#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    pub fn from_random(bytes: [u8; 16]) -> Token {
        Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// None: that is no token.
    pub fn parse(text: &str) -> Option<Token> {
        let digits = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        (text.len() == 32 && digits).then(|| Token(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What only a program that knows the token can answer to these words of a client.
    pub fn proof(&self, nonce: &str) -> String {
        let hash = Sha256::digest(format!("{}:{nonce}", self.0));
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether a client has shown this token.
    pub fn matches(&self, shown: &str) -> bool {
        is_same(&self.0, shown)
    }
}

/// Compares for as long with any text of the right length, so that the time gives no digit away.
pub(crate) fn is_same(own: &str, shown: &str) -> bool {
    let (own, shown) = (own.as_bytes(), shown.as_bytes());
    let difference = own.iter().zip(shown).fold(0, |sum, (a, b)| black_box(sum | (a ^ b)));
    black_box(difference) == 0 && own.len() == shown.len()
}

/// A token is for whoever starts the server, not for logs.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_matches_itself_alone() {
        let token = Token::from_random([7; 16]);
        assert_eq!(token.as_str(), "07".repeat(16));
        assert_eq!(Token::parse(token.as_str()), Some(token.clone()));
        assert!(token.matches(&"07".repeat(16)));
        for other in ["", "07", &"07".repeat(17), &"08".repeat(16), &"07".repeat(15)] {
            assert!(!token.matches(other), "{other}");
        }
        for other in ["", "x", &"0G".repeat(16), &"0A".repeat(16)] {
            assert_eq!(Token::parse(other), None, "{other}");
        }
        assert!(!format!("{token:?}").contains("07"));
        assert_ne!(token.proof("a"), token.proof("b"));
        assert_ne!(token.proof("a"), Token::from_random([8; 16]).proof("a"));
    }
}
