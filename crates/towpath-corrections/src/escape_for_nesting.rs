//! Writes bash text so that it survives what is around a command: the quotes of `bash -c '…'` and
//! the backslashes of backticks.

use towpath_shell::bash::tree::{Part, Redirect, SubstitutionKind, Target};
use towpath_shell::bash::{Nesting, Script, SimpleCommand};

/// The text as it must be written among the words of `command`. `None` where it cannot be.
pub(crate) fn for_command(script: &Script, command: &SimpleCommand, text: &str) -> Option<String> {
    let mut text = text.to_owned();
    let mut in_here_document = false;
    for nesting in command.nesting.iter().rev() {
        match nesting {
            Nesting::ShellCode { word } => {
                let here_string = |redirect: &'_ Redirect| match &redirect.target {
                    Target::HereString(word) => Some(word.clone()),
                    _ => None,
                };
                let own = |c: &SimpleCommand| {
                    let here_strings = c.redirects.iter().filter_map(here_string);
                    c.words.iter().cloned().chain(here_strings).find(|w| w.range == *word)
                };
                let outer = script.commands().iter().find_map(own)?;
                text = for_word(outer.parts.first()?, &text)?;
            }
            Nesting::Substitution { kind: SubstitutionKind::Backtick, quoted, .. } => {
                text = for_backticks(&text, *quoted);
            }
            Nesting::HereDocument => in_here_document = true,
            _ => {}
        }
    }
    // A line of it could end the document, and the document joins lines by itself.
    (!in_here_document || !text.contains('\n')).then_some(text)
}

fn for_word(quoting: &Part, text: &str) -> Option<String> {
    match quoting {
        Part::Single(_) => (!text.contains('\'')).then(|| text.to_owned()),
        Part::Double { .. } => Some(escaped(text, "\\\"$`")),
        Part::Literal(_) => {
            let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&b);
            text.bytes().all(plain).then(|| text.to_owned())
        }
        _ => None,
    }
}

fn for_backticks(text: &str, quoted: bool) -> String {
    let removed = |c: char| matches!(c, '$' | '`' | '\\') || (quoted && c == '"');
    let mut written = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        // A backslash stays where nothing that it would be removed from follows.
        let escape = c == '`' || c == '\\' && chars.peek().is_none_or(|next| removed(*next));
        if escape || (quoted && c == '"') {
            written.push('\\');
        }
        written.push(c);
    }
    written
}

/// The text with a backslash before each of these characters.
pub(crate) fn escaped(text: &str, special: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for c in text.chars() {
        if special.contains(c) {
            written.push('\\');
        }
        written.push(c);
    }
    written
}
