//! One section of a Markdown file, by its heading.

use crate::literal_blocks::LiteralBlocks;

/// The section with its heading, up to the next heading of the same or a higher level. The heading is
/// the text after `#`, without blanks and closing `#` around it.
pub fn section<'a>(file: &'a [u8], heading: &str) -> Option<&'a [u8]> {
    let mut blocks = LiteralBlocks::new(file);
    let mut found: Option<(usize, usize)> = None;
    let mut at = 0;
    for line in file.split_inclusive(|byte| *byte == b'\n') {
        let text = line.trim_ascii_end();
        let literal = blocks.literal_to(at..at + text.len()) > at;
        let level_and_text = if literal { None } else { heading_of(text) };
        match (found, level_and_text) {
            (None, Some((level, text))) if text == heading.as_bytes() => found = Some((at, level)),
            (Some((start, level)), Some((next, _))) if next <= level => {
                return Some(&file[start..at]);
            }
            _ => {}
        }
        at += line.len();
    }
    found.map(|(start, _)| &file[start..])
}

/// The level and the text of a heading such as `## Text`.
fn heading_of(line: &[u8]) -> Option<(usize, &[u8])> {
    let blanks = line.iter().take_while(|byte| **byte == b' ').count();
    let line = line.get(blanks..).filter(|_| blanks <= 3)?;
    let level = line.iter().take_while(|byte| **byte == b'#').count();
    let rest = &line[level..];
    let separated = rest.is_empty() || rest.starts_with(b" ") || rest.starts_with(b"\t");
    if !(1..=6).contains(&level) || !separated {
        return None;
    }
    let text = rest.trim_ascii();
    let closing = text.iter().rev().take_while(|byte| **byte == b'#').count();
    let before = &text[..text.len() - closing];
    let closed = closing > 0 && (before.is_empty() || before.ends_with(b" "));
    Some((level, if closed { before.trim_ascii_end() } else { text }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_ends_with_the_next_of_its_level() {
        let file = "# A\none\n## B ##\ntwo\n```\n## C\n```\n### B1\nsub\n## C\nthree\n#D\n";
        let of = |heading| section(file.as_bytes(), heading).map(|s| str::from_utf8(s).unwrap());
        assert_eq!(of("B"), Some("## B ##\ntwo\n```\n## C\n```\n### B1\nsub\n"));
        assert_eq!(of("C"), Some("## C\nthree\n#D\n"));
        assert_eq!(of("A"), Some(file));
        assert_eq!(of("D"), None);
        assert_eq!(of(""), None);
    }
}
