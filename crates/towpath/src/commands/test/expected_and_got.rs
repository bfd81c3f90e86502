//! Expected and got, side by side where they are short, else line by line.

use crate::terminal::format::clean;
use crate::terminal::screen::{Screen, Tint};
use similar::{ChangeTag, TextDiff};

/// A text longer than this gets lines of its own.
const SHORT: usize = 56;
/// How many equal lines are shown around a difference.
const AROUND: usize = 3;
/// How many lines of one difference are shown.
const LONGEST: usize = 60;

pub fn lines(screen: &Screen, expected: &str, got: &str) -> Vec<String> {
    let short = |text: &str| !text.contains('\n') && text.chars().count() <= SHORT;
    if short(expected) && short(got) {
        return vec![
            screen.paint(Tint::Bad, &format!("- expected  {}", clean(expected))),
            screen.paint(Tint::Good, &format!("+ got       {}", clean(got))),
        ];
    }
    let mut lines = vec![format!(
        "{}  {}",
        screen.paint(Tint::Bad, "- expected"),
        screen.paint(Tint::Good, "+ got")
    )];
    // Without it the last line of the shorter text would differ from the same line in the other.
    let whole = |text: &str| format!("{}\n", text.trim_end_matches('\n'));
    let (expected, got) = (whole(expected), whole(got));
    let diff = TextDiff::from_lines(&expected, &got);
    for (number, group) in diff.grouped_ops(AROUND).iter().enumerate() {
        if number > 0 {
            lines.push(screen.paint(Tint::Dim, "  …"));
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (sign, tint) = match change.tag() {
                ChangeTag::Delete => ('-', Tint::Bad),
                ChangeTag::Insert => ('+', Tint::Good),
                ChangeTag::Equal => (' ', Tint::None),
            };
            let text = clean(change.value().trim_end_matches('\n'));
            lines.push(screen.paint(tint, format!("{sign} {text}").trim_end()));
        }
    }
    if lines.len() > LONGEST {
        let more = lines.len() - LONGEST;
        lines.truncate(LONGEST);
        lines.push(screen.paint(Tint::Dim, &format!("  … {more} more lines")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(expected: &str, got: &str) -> String {
        lines(&Screen { width: None, color: false }, expected, got).join("\n")
    }

    #[test]
    fn short_texts_are_printed_below_each_other() {
        assert_eq!(plain("1.2", "1.3\u{1b}[2J"), "- expected  1.2\n+ got       1.3\u{fffd}[2J");
    }

    #[test]
    fn long_texts_differ_line_by_line() {
        let (a, b) = ("a\nb\nc", "a\nc\nd");
        assert_eq!(plain(a, b), "- expected  + got\n  a\n- b\n  c\n+ d");
    }

    #[test]
    fn a_flood_is_cut() {
        let many: String = (0..500).map(|n| format!("{n}\n")).collect();
        let shown = plain("0", &many);
        assert!(shown.ends_with("+ 58\n  … 441 more lines"), "{shown}");
    }
}
