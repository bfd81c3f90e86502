//! Lines with their endings, and what all lines of a document begin with.

pub(super) const BOM: &str = "\u{feff}";

/// One line: its text, then its ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    pub start: usize,
    pub text_end: usize,
    pub end: usize,
}

/// The line that begins at an offset. It ends with `\n` or `\r\n`, or with the text.
pub(super) fn line_at(text: &str, start: usize) -> Line {
    let bytes = text.as_bytes();
    let Some(newline) = memchr::memchr(b'\n', &bytes[start..]) else {
        return Line { start, text_end: text.len(), end: text.len() };
    };
    let newline = start + newline;
    let carriage = newline > start && bytes[newline - 1] == b'\r';
    Line { start, text_end: newline - usize::from(carriage), end: newline + 1 }
}

/// The blanks that all lines begin with which are not blank.
pub(super) fn common_indentation(text: &str) -> &str {
    let mut common: Option<&str> = None;
    let mut at = if text.starts_with(BOM) { BOM.len() } else { 0 };
    while at < text.len() {
        let line = line_at(text, at);
        at = line.end;
        let content = &text[line.start..line.text_end];
        let blanks = &content[..content.len() - content.trim_start_matches([' ', '\t']).len()];
        if blanks.len() == content.len() {
            continue;
        }
        let shared = common.map_or(blanks, |common| shared_start(common, blanks));
        if shared.is_empty() {
            return "";
        }
        common = Some(shared);
    }
    common.unwrap_or_default()
}

fn shared_start<'a>(a: &'a str, b: &str) -> &'a str {
    let length = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    &a[..length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_and_its_ending() {
        let at = |text, start| {
            let Line { text_end, end, .. } = line_at(text, start);
            (text_end, end)
        };
        assert_eq!(at("a\nb", 0), (1, 2));
        assert_eq!(at("a\r\nb", 0), (1, 3));
        assert_eq!(at("\r\n", 0), (0, 2));
        assert_eq!(at("a\nb", 2), (3, 3));
        assert_eq!(at("a\rb\n", 0), (3, 4));
    }

    #[test]
    fn what_all_lines_begin_with() {
        for (text, expected) in [
            ("\n    a\n      b\n  ", "    "),
            ("\u{feff}  a\n  b", "  "),
            ("\ta\n  b", ""),
            (" a\nb", ""),
            ("\n\n", ""),
        ] {
            assert_eq!(common_indentation(text), expected, "{text:?}");
        }
    }
}
