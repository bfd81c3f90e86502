//! Quote removal, and whether a stretch of text in one quoting is plain text. It looks at the text
//! itself and not at the parser's tree: a second opinion on what the parser called plain.

use super::tree::{Part, SubstitutionKind, Word};
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quoting {
    Bare,
    Double,
    HereDoc,
    Single,
    Ansi,
}

/// Whether nothing in `text` begins an expansion or ends the quoting. A parser that gave up on an
/// inner part and called it plain text is found out here.
pub fn is_inert(text: &str, quoting: Quoting) -> bool {
    if quoting == Quoting::Single {
        return !text.contains('\'');
    }
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let active = match c {
            '\\' => {
                chars.next();
                false
            }
            '\'' => matches!(quoting, Quoting::Bare | Quoting::Ansi),
            '"' => matches!(quoting, Quoting::Bare | Quoting::Double),
            '`' => quoting != Quoting::Ansi,
            '$' if quoting == Quoting::Ansi => false,
            '$' => chars.peek().is_some_and(|next| {
                let quote = quoting == Quoting::Bare && matches!(next, '\'' | '"');
                quote || begins_expansion(*next)
            }),
            _ => false,
        };
        if active {
            return false;
        }
    }
    true
}

/// The word after quote removal, if nothing in it is expanded.
pub fn unquoted(word: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = word.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next().filter(|c| *c != '\n')),
            '\'' => loop {
                match chars.next()? {
                    '\'' => break,
                    c => out.push(c),
                }
            },
            '"' => unquoted_double(&mut chars, &mut out)?,
            '$' => match chars.peek() {
                Some('\'') => {
                    chars.next();
                    unquoted_ansi(&mut chars, &mut out)?;
                }
                Some('"') => {}
                Some(c) if begins_expansion(*c) => return None,
                _ => out.push(c),
            },
            '`' | ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => return None,
            c => out.push(c),
        }
    }
    Some(out)
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn begins_expansion(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_{([@*#?$!-".contains(c)
}

fn unquoted_double(chars: &mut Chars, out: &mut String) -> Option<()> {
    loop {
        match chars.next()? {
            '"' => return Some(()),
            '`' => return None,
            '$' if chars.peek().is_some_and(|c| begins_expansion(*c)) => return None,
            '\\' => match chars.next()? {
                '\n' => {}
                c @ ('$' | '`' | '"' | '\\') => out.push(c),
                c => out.extend(['\\', c]),
            },
            c => out.push(c),
        }
    }
}

/// The inside of `$'…'`. `None` where it makes bytes that are no ASCII.
fn unquoted_ansi(chars: &mut Chars, out: &mut String) -> Option<()> {
    loop {
        match chars.next()? {
            '\'' => return Some(()),
            '\\' => {}
            c => {
                out.push(c);
                continue;
            }
        }
        let mut code = |first: u32, radix: u32, most: usize, chars: &mut Chars| {
            let mut value = first;
            for _ in 0..most {
                let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
                value = value.checked_mul(radix)?.checked_add(digit)?;
                chars.next();
            }
            out.push(char::from_u32(value).filter(|c| c.is_ascii() && *c != '\0')?);
            Some(())
        };
        match chars.next()? {
            'x' => code(0, 16, 2, chars)?,
            'u' => code(0, 16, 4, chars)?,
            'U' => code(0, 16, 8, chars)?,
            c @ '0'..='7' => code(c.to_digit(8)?, 8, 2, chars)?,
            'c' => return None,
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'a' => out.push('\x07'),
            'b' => out.push('\x08'),
            'e' | 'E' => out.push('\x1b'),
            'f' => out.push('\x0c'),
            'v' => out.push('\x0b'),
            c @ ('\\' | '\'' | '"' | '?') => out.push(c),
            c => out.extend(['\\', c]),
        }
    }
}

/// Whether bash makes exactly one word of these parts: no splitting, pattern, tilde or braces.
pub fn is_one_word(text: &str, parts: &[Part]) -> bool {
    let unquoted = parts.iter().all(|part| matches!(part, Part::Literal(_)));
    if let (true, [Part::Literal(first), ..], [.., Part::Literal(last)]) = (unquoted, parts, parts)
    {
        return !is_expanded(&text[first.start..last.end], true, true);
    }
    parts.iter().enumerate().all(|(index, part)| match part {
        Part::Literal(range) => !is_expanded(&text[range.clone()], index == 0, false),
        Part::Single(_) | Part::Ansi(_) => true,
        Part::Double { parts, .. } => parts.iter().all(|part| is_one_when_quoted(text, part)),
        Part::Substitution { kind, .. } => *kind == SubstitutionKind::Process,
        _ => false,
    })
}

/// `"$@"` and `"${a[@]}"` are as many words as there are elements.
fn is_one_when_quoted(text: &str, part: &Part) -> bool {
    match part {
        Part::Variable { range, .. } => !text[range.clone()].contains('@'),
        Part::Parameter(parameter) => !text[parameter.range.clone()].contains('@'),
        Part::Unclear(_) => false,
        _ => true,
    }
}

/// Whether unquoted text is a pattern, or has a tilde or braces that bash may expand. What it opens
/// may be closed in another part, unless it is the whole word.
fn is_expanded(text: &str, first: bool, whole: bool) -> bool {
    let mut before = first.then_some(':');
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let rest = chars.as_str();
        let closed = |close: char| rest.contains(close) || !whole;
        let expanded = match c {
            '\\' => {
                chars.next();
                false
            }
            '*' | '?' | '(' => true,
            '[' => closed(']'),
            '{' => closed('}') && !rest.starts_with('}') && (!whole || lists(rest)),
            '~' => matches!(before, Some(':' | '=')),
            _ => false,
        };
        if expanded {
            return true;
        }
        before = Some(c);
    }
    false
}

fn lists(braced: &str) -> bool {
    braced.contains(',') || braced.contains("..")
}

/// A character after quote removal, with where it is written: a backslash before it is part of that.
pub type Written = (Range<usize>, char);

/// A word after quote removal. `None` if bash does more to the word, or if a backslash is removed
/// before a character that is only known later, as `open` answers.
pub fn characters(word: &Word, text: &str, open: &dyn Fn(usize) -> bool) -> Option<Vec<Written>> {
    let mut found = Vec::new();
    let mut at = word.range.start;
    for part in &word.parts {
        let (outer, inner, quoting) = match part {
            Part::Literal(range) => (range, range.clone(), Quoting::Bare),
            Part::Single(range) => (range, range.start + 1..range.end - 1, Quoting::Single),
            Part::Double { range, parts } if text[range.clone()].starts_with('"') => {
                let plain = parts.iter().all(|p| matches!(p, Part::Literal(_)));
                let inner = range.start + 1..range.end - 1;
                plain.then_some((range, inner, Quoting::Double))?
            }
            _ => return None,
        };
        if outer.start != at || !is_inert(&text[inner.clone()], quoting) {
            return None;
        }
        at = outer.end;
        unescaped(inner, quoting, text, open, &mut found)?;
    }
    (at == word.range.end).then_some(found)
}

fn unescaped(
    range: Range<usize>,
    quoting: Quoting,
    text: &str,
    open: &dyn Fn(usize) -> bool,
    found: &mut Vec<Written>,
) -> Option<()> {
    let mut from = text[range.clone()].char_indices().peekable();
    while let Some((offset, c)) = from.next() {
        let at = range.start + offset;
        let end = at + c.len_utf8();
        match c {
            '\\' if quoting != Quoting::Single => {
                let (offset, next) = *from.peek()?;
                let escapes = quoting == Quoting::Bare || "$`\"\\\n".contains(next);
                if open(range.start + offset) {
                    return None;
                }
                if !escapes {
                    found.push((at..end, c));
                    continue;
                }
                from.next();
                if next != '\n' {
                    found.push((at..end + next.len_utf8(), next));
                }
            }
            '*' | '?' | '[' | '{' | '~' if quoting == Quoting::Bare => return None,
            _ => found.push((at..end, c)),
        }
    }
    Some(())
}

/// What bash parses for the backtick substitution whose body is `body`. Inside double quotes `\"`
/// loses its backslash as well.
pub fn backtick_characters(text: &str, body: Range<usize>, double: bool) -> Vec<Written> {
    let mut found = Vec::new();
    let mut from = text[body.clone()].char_indices().peekable();
    while let Some((offset, c)) = from.next() {
        let at = body.start + offset;
        let taken = |c: char| matches!(c, '$' | '`' | '\\') || (double && c == '"');
        match from.next_if(|(_, next)| c == '\\' && taken(*next)) {
            Some((_, escaped)) => found.push((at..at + 2, escaped)),
            None => found.push((at..at + c.len_utf8(), c)),
        }
    }
    found
}

/// Whether a word means itself to every shell, without quotes.
pub fn is_plain_for_shells(word: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-./:=@%+,#".contains(&b);
    !word.is_empty() && !word.starts_with(['#', '=']) && word.bytes().all(plain)
}

/// A text as one word of a shell command, in single quotes only where it needs them.
pub fn quote(text: &str) -> String {
    if is_plain_for_shells(text) { text.to_owned() } else { single_quote(text) }
}

/// A text in single quotes, which every POSIX shell reads alike.
pub fn single_quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

pub fn is_plain_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_word_for_a_shell() {
        for (text, word) in [
            ("recipes/ci.yaml", "recipes/ci.yaml"),
            ("ci/build#2", "ci/build#2"),
            ("a=b", "a=b"),
            ("a b", "'a b'"),
            ("it's $HOME", r"'it'\''s $HOME'"),
            ("#a", "'#a'"),
            ("~/a", "'~/a'"),
            ("é", "'é'"),
            ("", "''"),
        ] {
            assert_eq!(quote(text), word);
            assert_eq!(unquoted(word).as_deref(), Some(text));
        }
    }

    #[test]
    fn plain_text_and_hidden_expansions() {
        for (text, quoting, inert) in [
            ("a b*", Quoting::Bare, true),
            ("a\\$x", Quoting::Bare, true),
            ("a$x", Quoting::Bare, false),
            ("a'b", Quoting::Bare, false),
            ("a'b", Quoting::Double, true),
            ("a\"b", Quoting::Double, false),
            ("a\"b", Quoting::HereDoc, true),
            ("${x", Quoting::HereDoc, false),
            ("a`b", Quoting::Double, false),
            ("cost $", Quoting::Double, true),
            ("$x `y`", Quoting::Single, true),
            ("\\' $x", Quoting::Ansi, true),
        ] {
            assert_eq!(is_inert(text, quoting), inert, "{text} {quoting:?}");
        }
    }
}
