//! An agent's text on its way to a terminal. It is the model's, and so perhaps that of a hostile file
//! that the model has read: colours are all that it may do there. Text comes in pieces that may end
//! within a character or a control sequence.

/// The longest colour sequence that is passed on.
const LONGEST: usize = 64;

/// Takes out of text in any pieces whatever is neither text nor a colour.
#[derive(Debug, Default)]
pub struct ColoursOnly {
    state: State,
    /// The beginning of a character whose other bytes are to come.
    partial: Vec<u8>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After `ESC [`, with what has come since.
    Sequence(String),
    /// In the text of a command to the terminal, such as its title: up to BEL, ESC or a line's end.
    Command,
}

impl ColoursOnly {
    pub fn take(&mut self, bytes: &[u8]) -> String {
        let mut bytes = [std::mem::take(&mut self.partial).as_slice(), bytes].concat();
        let cut = bytes.len() - unfinished(&bytes);
        self.partial = bytes.split_off(cut);
        let mut shown = String::with_capacity(bytes.len());
        for c in String::from_utf8_lossy(&bytes).chars() {
            self.next(c, &mut shown);
        }
        shown
    }

    fn next(&mut self, c: char, shown: &mut String) {
        self.state = match (std::mem::take(&mut self.state), c) {
            (_, '\u{1b}') => State::Escape,
            (State::Escape, '[') | (_, '\u{9b}') => State::Sequence(String::new()),
            (State::Escape, ']' | 'P' | 'X' | '^' | '_')
            | (_, '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}') => State::Command,
            // Such as `ESC ( B`, which has more before its last character.
            (State::Escape, ' '..='/') => State::Escape,
            (State::Escape, '0'..='~') => State::Text,
            (State::Sequence(text), ' '..='?') if text.len() < LONGEST => {
                State::Sequence(text + c.encode_utf8(&mut [0; 4]))
            }
            (State::Sequence(text), 'm') if text.chars().all(is_colour) => {
                shown.extend(["\u{1b}[", &text, "m"]);
                State::Text
            }
            (State::Sequence(_), '@'..='~') => State::Text,
            (State::Command, '\u{7}') => State::Text,
            (State::Command, c) if c != '\n' => State::Command,
            (_, c) => {
                shown.extend(Some(c).filter(|c| is_text(*c)));
                State::Text
            }
        };
    }
}

fn is_colour(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, ';' | ':')
}

/// Whether a character only adds itself to the line.
fn is_text(c: char) -> bool {
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    matches!(c, '\n' | '\t') || !c.is_control() && !turns
}

/// How many bytes at the end are the beginning of a character.
fn unfinished(bytes: &[u8]) -> usize {
    let begins = |back: &usize| {
        let tail = std::str::from_utf8(&bytes[bytes.len() - back..]);
        tail.is_err_and(|error| error.error_len().is_none() && error.valid_up_to() == 0)
    };
    (1..=bytes.len().min(3)).find(begins).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str) -> String {
        ColoursOnly::default().take(text.as_bytes())
    }

    #[test]
    fn a_terminal_gets_text_and_colours_and_nothing_else() {
        for (text, seen) in [
            ("plain\n\ttext ä 語", "plain\n\ttext ä 語"),
            ("a\u{1b}[1;31mred\u{1b}[0mb", "a\u{1b}[1;31mred\u{1b}[0mb"),
            ("a\u{1b}[38:2::1:2:3mb", "a\u{1b}[38:2::1:2:3mb"),
            ("a\u{1b}[2Jb\u{1b}[Hc\u{1b}[?1049hd", "abcd"),
            ("a\u{1b}]0;title\u{7}b", "ab"),
            ("a\u{1b}]52;c;aGk=\u{1b}\\b", "ab"),
            ("a\u{1b}Pq#0\u{1b}\\b\u{1b}_x\u{1b}\\c\u{1b}^y\u{1b}\\d\u{1b}Xz\u{1b}\\e", "abcde"),
            ("a\u{1b}]0;never ended\nb", "a\nb"),
            ("a\u{9b}2Jb\u{9d}0;t\u{7}c\u{85}d", "abcd"),
            ("a\u{1b}(Bb\u{1b}cd\u{1b}7e", "abde"),
            ("a\u{202e}b\u{2066}c", "abc"),
            ("a\rb\u{8}c\u{7}d\u{0}e\r\n", "abcde\n"),
            ("a\u{1b}[>4;2mb\u{1b}[1 qc\u{1b}[3\u{1b}[2Jd", "abcd"),
            ("a\u{1b}\u{1b}]0;x\u{7}b\u{1b}", "ab"),
        ] {
            assert_eq!(shown(text), seen, "{text:?}");
        }
        assert!(is_tame(&shown(&format!("a\u{1b}[{}mb", "1;".repeat(99)))));
        assert_eq!(ColoursOnly::default().take(b"a\x9b2Jb\xff"), "a\u{fffd}2Jb\u{fffd}");
    }

    /// Whether only colours are left of all that a terminal would obey.
    fn is_tame(text: &str) -> bool {
        let mut rest = text;
        while let Some(at) = rest.find('\u{1b}') {
            let Some(end) = rest[at..].strip_prefix("\u{1b}[").and_then(|s| s.find('m')) else {
                return false;
            };
            if !rest[at + 2..at + 2 + end].chars().all(is_colour) {
                return false;
            }
            rest = &rest[at + 3 + end..];
        }
        text.chars().all(|c| is_text(c) || c == '\u{1b}')
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_are_tame_and_the_same(
            pieces in prop::collection::vec(
                prop_oneof![
                    prop::collection::vec(any::<u8>(), 0..6),
                    "[\u{1b}\\[\\]0-9;:?mJH\u{7}\\\\PX_a\u{9b}\u{9d}\u{202e}é語\r\n]{0,8}"
                        .prop_map(String::into_bytes),
                ],
                0..12,
            ),
        ) {
            let mut parts = ColoursOnly::default();
            let seen: String = pieces.iter().map(|piece| parts.take(piece)).collect();
            prop_assert!(is_tame(&seen), "{seen:?}");
            prop_assert_eq!(seen, ColoursOnly::default().take(&pieces.concat()));
        }
    }
}
