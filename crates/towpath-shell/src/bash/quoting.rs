//! Quote removal, and whether a stretch of text in one quoting is plain text. It looks at the text
//! itself and not at the parser's tree: a second opinion on what the parser called plain.

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

pub fn is_plain_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

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
