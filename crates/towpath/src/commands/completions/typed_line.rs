//! The line that is being typed, as the shell hands it over: `-- towpath logs 7f3k ""`.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

#[derive(Debug)]
pub struct TypedLine {
    /// From the program's name on.
    words: Vec<OsString>,
    /// The word at the cursor.
    index: usize,
}

impl TypedLine {
    /// `index` comes from the shell; without it the last word is the one being typed.
    pub fn new(arguments: &[OsString], index: Option<OsString>) -> TypedLine {
        let after = arguments.iter().position(|a| a == "--").map_or(arguments.len(), |at| at + 1);
        let words = arguments[after..].to_vec();
        let index = index.and_then(|i| i.to_str().and_then(|i| i.parse().ok()));
        let index = index.unwrap_or(words.len().saturating_sub(1));
        TypedLine { words, index }
    }

    pub fn current(&self) -> &OsStr {
        self.words.get(self.index).map_or(OsStr::new(""), OsString::as_os_str)
    }

    /// The words before the cursor, without the program's name.
    pub fn before(&self) -> &[OsString] {
        let end = self.index.min(self.words.len());
        self.words.get(1..end).unwrap_or(&[])
    }

    /// Whether the value of `NAME=` is being typed: bash makes words of `NAME` and of the `=`.
    pub fn is_in_assignment(&self) -> bool {
        let is_flag = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
        matches!(self.before(), [.., name, equals] if equals == "=" && !is_flag(name))
    }

    /// What was given to a flag, in any of its forms.
    pub fn given(&self, short: &str, long: &str) -> Vec<PathBuf> {
        let mut values = Vec::new();
        let mut words = self.before().iter().peekable();
        while let Some(word) = words.next() {
            let joined = word.to_str().and_then(|w| w.strip_prefix(long)?.strip_prefix('='));
            if let Some(value) = joined {
                values.push(PathBuf::from(value));
            } else if word == short || word == long {
                // bash makes a word of the `=`.
                words.next_if(|next| *next == "=");
                values.extend(words.next().map(PathBuf::from));
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str], index: Option<&str>) -> TypedLine {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        TypedLine::new(&words, index.map(OsString::from))
    }

    #[test]
    fn the_cursor_may_be_anywhere() {
        let typed = ["towpath", "--", "towpath", "run", "-R", "a", "de", "--json"];
        assert_eq!(line(&typed, Some("4")).current(), "de");
        assert_eq!(line(&typed, Some("4")).before(), ["run", "-R", "a"]);
        assert_eq!(line(&typed, None).current(), "--json");
        assert_eq!(line(&typed, Some("99")).current(), "");
        assert_eq!(line(&["towpath"], None).current(), "");
        assert!(line(&["towpath"], Some("0")).before().is_empty());
    }

    #[test]
    fn the_value_of_a_variable_is_known_from_that_of_a_flag() {
        let typed = ["", "--", "towpath", "run", "--set", "name", "=", "A"];
        assert!(line(&typed, None).is_in_assignment());
        let flag = ["", "--", "towpath", "run", "--backend", "=", "cl"];
        assert!(!line(&flag, None).is_in_assignment());
        assert!(!line(&typed[..6], None).is_in_assignment());
    }

    #[test]
    fn flags_are_found_in_every_form() {
        let typed =
            ["", "--", "towpath", "run", "-R", "a", "--recipe-dir=b", "--recipe-dir", "=", "c", ""];
        assert_eq!(
            line(&typed, None).given("-R", "--recipe-dir"),
            ["a", "b", "c"].map(PathBuf::from)
        );
        assert_eq!(line(&typed[..5], None).given("-R", "--recipe-dir"), Vec::<PathBuf>::new());
    }
}
