//! The words that a command begins with, compared by what bash makes of them.

use towpath_shell::bash::{self, SimpleCommand};

/// The values of a text that is nothing but the words of one command, none of them expanded.
pub(crate) fn static_words(text: &str) -> Option<Vec<String>> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-./:@%+, ".contains(&b);
    if text.bytes().all(plain) {
        let words: Vec<String> =
            text.split(' ').filter(|w| !w.is_empty()).map(str::to_owned).collect();
        return (!words.is_empty()).then_some(words);
    }
    // As arguments, reserved words and assignments are words like any other.
    let source = format!(": {text}");
    let script = bash::parse(&source).ok()?;
    bash::tokenize(text).ok()?;
    let words = script.commands().first()?.words.get(1..)?;
    let values: Option<Vec<String>> =
        words.iter().map(|word| word.fixed().map(str::to_owned)).collect();
    values.filter(|values| !values.is_empty())
}

/// Whether a command begins with these words.
pub(crate) fn begins_with(command: &SimpleCommand, prefix: &[String]) -> bool {
    !prefix.is_empty()
        && command.words.len() >= prefix.len()
        && command.words.iter().zip(prefix).all(|(word, value)| word.fixed() == Some(value))
}
