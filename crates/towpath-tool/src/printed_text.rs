//! What a program printed, made safe to read: escape sequences and control characters are gone, bytes
//! that are not UTF-8 are replaced, and very long output is shortened in the middle. Judging a probe and
//! evaluating a stored check read the same text, so a pattern that was found once is found again.

use crate::verdict::{Evidence, EvidenceKind};
use std::borrow::Cow;

/// How much of one stream is read: its beginning and its end.
const HEAD: usize = 48 * 1024;
const TAIL: usize = 16 * 1024;

/// A longer line is read as far as this.
const LONGEST_LINE: usize = 4096;

/// One line, with a copy in lower case whose offsets are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub text: String,
    pub lower: String,
}

impl Line {
    pub fn new(text: &str) -> Line {
        let text = &text[..text.floor_char_boundary(LONGEST_LINE)];
        Line { text: text.trim_end().to_owned(), lower: text.trim_end().to_ascii_lowercase() }
    }

    /// A verdict's evidence.
    pub fn evidence(&self, kind: EvidenceKind) -> Evidence {
        Evidence::new(kind, self.text.trim())
    }

    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// The bytes of a stream as text.
pub fn captured_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&shortened(bytes)).into_owned()
}

/// The text without escape sequences and control characters. A carriage return ends a line, a
/// backspace takes back a character, as on a terminal.
pub fn clean_text(text: &str) -> String {
    let bytes = shortened(text.as_bytes());
    let text = String::from_utf8_lossy(&bytes);
    let mut clean = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => skip_escape(&mut letters),
            '\r' if letters.peek() == Some(&'\n') => {}
            '\r' => clean.push('\n'),
            '\u{8}' if !clean.ends_with('\n') => drop(clean.pop()),
            '\n' | '\t' => clean.push(letter),
            other if other.is_control() => {}
            other => clean.push(other),
        }
    }
    clean
}

/// The lines of a text, cleaned.
pub(crate) fn lines_of(text: &str) -> Vec<Line> {
    clean_text(text).lines().map(Line::new).collect()
}

fn shortened(bytes: &[u8]) -> Cow<'_, [u8]> {
    if bytes.len() <= HEAD + TAIL {
        return Cow::Borrowed(bytes);
    }
    let mut short = bytes[..HEAD].to_vec();
    short.push(b'\n');
    short.extend_from_slice(&bytes[bytes.len() - TAIL..]);
    Cow::Owned(short)
}

/// Skips the rest of an escape sequence: `ESC [ … letter`, `ESC ] … BEL`, or one character.
fn skip_escape(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match letters.peek().copied() {
        Some('[') => {
            letters.next();
            while letters.next_if(|c| matches!(c, ' '..='?')).is_some() {}
            letters.next_if(|c| matches!(c, '@'..='~'));
        }
        Some(']' | 'P' | '_' | '^') => {
            letters.next();
            while letters.next_if(|c| !matches!(c, '\u{7}' | '\u{1b}' | '\n')).is_some() {}
            if letters.next_if_eq(&'\u{1b}').is_some() {
                letters.next_if_eq(&'\\');
            }
        }
        Some('(' | ')') => {
            letters.next();
            letters.next_if(char::is_ascii_alphanumeric);
        }
        Some(' '..='~') => drop(letters.next()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_interpret_is_gone() {
        assert_eq!(clean_text("\u{1b}[1;31mjq\u{1b}[0m-1.6\r\n"), "jq-1.6\n");
        assert_eq!(clean_text("\u{1b}]0;title\u{7}x\u{1b}]8;;http://a\u{1b}\\y"), "xy");
        assert_eq!(clean_text("N\u{8}NA\u{8}A\0\u{7f}"), "NA");
        assert_eq!(clean_text("10%\r20%"), "10%\n20%");
        assert_eq!(captured_text(b"a\xff"), "a\u{fffd}");
    }

    #[test]
    fn long_output_keeps_its_beginning_and_its_end() {
        let text = format!("begin{}end", "x".repeat(1 << 20));
        let clean = clean_text(&text);
        assert!(clean.len() <= HEAD + TAIL + 1);
        assert!(clean.starts_with("begin") && clean.ends_with("end"));
        assert!(lines_of(&text).iter().all(|line| line.text.len() <= LONGEST_LINE));
    }
}
