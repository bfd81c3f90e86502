//! A command of a recipe as words. No shell runs it, so only blanks and quotes mean something; what a
//! shell would interpret is refused instead of being passed on as a strange argument.

use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CommandWordsError {
    #[error("the command is empty")]
    Empty,
    #[error("a quote {0} is not closed")]
    OpenQuote(char),
    #[error("no shell runs this command, so `{0}` has no meaning")]
    ShellSyntax(char),
}

/// Characters that only a shell understands, outside of quotes.
const SHELL_ONLY: &[char] = &['|', '&', ';', '<', '>', '`', '$', '*', '(', ')', '\\', '\n'];

/// Splits at blanks; `'…'` and `"…"` keep their content as it is.
pub fn command_words(command: &str) -> Result<Vec<String>, CommandWordsError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for letter in command.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            Some(_) => word.get_or_insert_default().push(letter),
            None if letter == '\'' || letter == '"' => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter == ' ' || letter == '\t' => words.extend(word.take()),
            None if SHELL_ONLY.contains(&letter) => {
                return Err(CommandWordsError::ShellSyntax(letter));
            }
            None => word.get_or_insert_default().push(letter),
        }
    }
    if let Some(open) = quote {
        return Err(CommandWordsError::OpenQuote(open));
    }
    words.extend(word);
    match words.first().is_some_and(|program| !program.is_empty()) {
        true => Ok(words),
        false => Err(CommandWordsError::Empty),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_quotes_split_and_shell_syntax_is_refused() {
        let words = |text| command_words(text).unwrap();
        assert_eq!(words("rg --version"), ["rg", "--version"]);
        assert_eq!(words("  a 'b c' \"d\"e ''"), ["a", "b c", "de", ""]);
        assert_eq!(command_words(" "), Err(CommandWordsError::Empty));
        assert_eq!(command_words("'' a"), Err(CommandWordsError::Empty));
        assert_eq!(command_words("a 'b"), Err(CommandWordsError::OpenQuote('\'')));
        for text in ["a | b", "a; b", "a $X", "a > b"] {
            assert!(
                matches!(command_words(text), Err(CommandWordsError::ShellSyntax(_))),
                "{text}"
            );
        }
    }
}
