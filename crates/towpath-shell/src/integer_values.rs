//! Integers where bash calculates. No quoting helps there, since bash evaluates what a variable
//! is set to: only the digits themselves are safe, so a value must be an integer and is written out.

use std::ops::Range;

/// How the digits are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// In parentheses, so that `1 - {{v}}` with -5 does not become `1 - -5` without its blank.
    Parentheses,
    /// Where bash allows no parentheses, or needs none.
    Bare,
}

/// `[+-]?[0-9]+` within 64 bits, in bash's plain form: no leading zero, which would mean octal.
pub fn canonical(value: &str, style: Style) -> Option<String> {
    let digits = value.strip_prefix(['+', '-']).unwrap_or(value);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number: i64 = value.parse().ok()?;
    Some(match style {
        Style::Parentheses => format!("({number})"),
        Style::Bare => number.to_string(),
    })
}

/// Whether a number at `placeholder` does not join its neighbours: `1{{v}}` and `x{{v}}` are
/// other numbers and names, `${{v}}` another expansion. Quotes are looked through.
pub fn is_separate(text: &str, placeholder: Range<usize>, mark: char, style: Style) -> bool {
    let quotes = ['"', '\''];
    let before = text[..placeholder.start].trim_end_matches(quotes).chars().next_back();
    let after = text[placeholder.end..].trim_start_matches(quotes).chars().next();
    let joins = |c: char| {
        c.is_alphanumeric() || c == mark || matches!(c, '_' | '$' | '#' | '.' | '`' | '\\')
    };
    let left = before.is_some_and(|c| {
        joins(c) || matches!(c, '}' | ')' | ']') || (style == Style::Bare && matches!(c, '+' | '-'))
    });
    let right = after.is_some_and(|c| joins(c) || matches!(c, '(' | '[' | '{'));
    !left && !right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_integers() {
        for (value, expected) in [
            ("5", Some("(5)")),
            ("-5", Some("(-5)")),
            ("+5", Some("(5)")),
            ("08", Some("(8)")),
            ("-0", Some("(0)")),
            ("9223372036854775807", Some("(9223372036854775807)")),
            ("-9223372036854775808", Some("(-9223372036854775808)")),
            ("9223372036854775808", None),
            ("", None),
            ("-", None),
            ("+-1", None),
            ("1+1", None),
            ("1.0", None),
            ("0x10", None),
            (" 5", None),
            ("5\n", None),
            ("٣", None),
            ("a[$(id)]", None),
        ] {
            assert_eq!(canonical(value, Style::Parentheses).as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn neighbours_that_would_join() {
        for (text, style, alone) in [
            ("1 + @", Style::Parentheses, true),
            ("1-@", Style::Parentheses, true),
            ("1-@", Style::Bare, false),
            ("1@", Style::Parentheses, false),
            ("x@", Style::Parentheses, false),
            ("@x", Style::Parentheses, false),
            ("$@", Style::Parentheses, false),
            ("16#@", Style::Parentheses, false),
            ("@@", Style::Parentheses, false),
            ("\"@\"", Style::Bare, true),
            ("1\"@\"", Style::Bare, false),
            ("'x=@' y", Style::Bare, true),
            ("@", Style::Bare, true),
        ] {
            let at = text.find('@').unwrap();
            assert_eq!(is_separate(text, at..at + 1, '@', style), alone, "{text}");
        }
    }
}
