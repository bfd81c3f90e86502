//! Cuts a condition into tokens with their byte ranges. Reading stops at the first piece that
//! belongs to no token; the piece becomes a last token that carries its error, so that the parser
//! still reports whatever is wrong before it.

use super::tree::Comparison;
use super::{ConditionError, numbers, other_language_hints};
use std::ops::Range;
use towpath_core::Number;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub range: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    Text(String),
    Number(Number),
    True,
    False,
    Name,
    And,
    Or,
    Not,
    In,
    Compare(Comparison),
    Dot,
    Comma,
    Open(Bracket),
    Close(Bracket),
    Bad(ConditionError),
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bracket {
    Round,
    Square,
}

impl Bracket {
    pub fn closing(self) -> char {
        match self {
            Bracket::Round => ')',
            Bracket::Square => ']',
        }
    }
}

/// Longer ones first.
static SYMBOLS: [(&str, TokenKind); 14] = [
    ("==", TokenKind::Compare(Comparison::Equal)),
    ("!=", TokenKind::Compare(Comparison::NotEqual)),
    ("<=", TokenKind::Compare(Comparison::LessEqual)),
    (">=", TokenKind::Compare(Comparison::GreaterEqual)),
    ("&&", TokenKind::And),
    ("||", TokenKind::Or),
    ("<", TokenKind::Compare(Comparison::Less)),
    (">", TokenKind::Compare(Comparison::Greater)),
    ("(", TokenKind::Open(Bracket::Round)),
    (")", TokenKind::Close(Bracket::Round)),
    ("[", TokenKind::Open(Bracket::Square)),
    ("]", TokenKind::Close(Bracket::Square)),
    (",", TokenKind::Comma),
    (".", TokenKind::Dot),
];

/// All tokens; the last one is `End` or `Bad`.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new(), escaped_quote: false };
    while lexer.push_next() {}
    lexer.tokens
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
    /// A quote was escaped somewhere: the likely cause of whatever goes wrong after it.
    escaped_quote: bool,
}

pub(super) fn in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Whether there is more to read.
    fn push_next(&mut self) -> bool {
        self.at = self.text.len() - self.rest().trim_start().len();
        let start = self.at;
        let kind = match self.rest().chars().next() {
            None => TokenKind::End,
            Some(first) => self.token(first).unwrap_or_else(|error| self.bad(error)),
        };
        let more = !matches!(kind, TokenKind::End | TokenKind::Bad(_));
        // The end is drawn right after the last token, not after the blanks that follow it.
        let start = match (&kind, self.tokens.last()) {
            (TokenKind::End, Some(last)) => last.range.end,
            _ => start,
        };
        let end = if kind == TokenKind::End { start } else { self.at };
        self.tokens.push(Token { kind, range: start..end });
        more
    }

    fn bad(&self, error: ConditionError) -> TokenKind {
        let slash = r"`\'` is a quote inside the string; a backslash is written `\\`";
        TokenKind::Bad(if self.escaped_quote { error.help(slash) } else { error })
    }

    fn token(&mut self, first: char) -> Result<TokenKind, ConditionError> {
        let after_dot = self.tokens.last().is_some_and(|t| t.kind == TokenKind::Dot);
        let digit = |c: char| c.is_ascii_digit();
        if in_name(first) && (after_dot || !digit(first)) {
            return Ok(self.word(after_dot));
        }
        if digit(first) || (first == '-' && self.rest()[1..].starts_with(digit)) {
            return self.number();
        }
        if matches!(first, '\'' | '"') {
            return self.string(first);
        }
        self.symbol()
    }

    /// A name, hyphens inside included. After a dot every word is a name.
    fn word(&mut self, after_dot: bool) -> TokenKind {
        let start = self.at;
        loop {
            let rest = self.rest();
            let next = rest.trim_start_matches(in_name);
            self.at += rest.len() - next.len();
            let beyond = next.trim_start_matches('-');
            if beyond.len() == next.len() || !beyond.starts_with(in_name) {
                break;
            }
            self.at += next.len() - beyond.len();
        }
        if after_dot {
            return TokenKind::Name;
        }
        match &self.text[start..self.at] {
            "and" => TokenKind::And,
            "or" => TokenKind::Or,
            "not" => TokenKind::Not,
            "in" => TokenKind::In,
            "true" | "True" => TokenKind::True,
            "false" | "False" => TokenKind::False,
            _ => TokenKind::Name,
        }
    }

    fn number(&mut self) -> Result<TokenKind, ConditionError> {
        let start = self.at;
        let rest = self.rest();
        let sign = usize::from(rest.starts_with('-'));
        let length = rest[sign..].find(|c| !(in_name(c) || c == '.'));
        self.at = start + length.map_or(rest.len(), |length| sign + length);
        let written = &self.text[start..self.at];
        let (whole, fraction) = written[sign..].split_once('.').unwrap_or((&written[sign..], "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(fraction) {
            return Err(other_language_hints::no_number(start..self.at, written));
        }
        let value = numbers::float(written).and_then(numbers::from_float);
        value.map(TokenKind::Number).ok_or_else(|| {
            ConditionError::new(start..self.at, "this number is too large for the language")
        })
    }

    fn string(&mut self, quote: char) -> Result<TokenKind, ConditionError> {
        let start = self.at;
        let mut value = String::new();
        let mut chars = self.rest().char_indices().skip(1).peekable();
        while let Some((offset, c)) = chars.next() {
            if c == quote {
                self.at = start + offset + 1;
                return Ok(TokenKind::Text(value));
            }
            let escaped = match (c, chars.peek()) {
                ('\\', Some((_, next))) => unescaped(*next),
                _ => None,
            };
            self.escaped_quote |= escaped == Some(quote);
            value.push(escaped.unwrap_or(c));
            if escaped.is_some() {
                chars.next();
            }
        }
        self.at = self.text.len();
        Err(ConditionError::new(
            start..self.at,
            format!("this string is never closed with `{quote}`"),
        ))
    }

    fn symbol(&mut self) -> Result<TokenKind, ConditionError> {
        let rest = self.rest();
        let start = self.at;
        let Some((symbol, kind)) = SYMBOLS.iter().find(|(symbol, _)| rest.starts_with(symbol))
        else {
            self.at += rest.chars().next().map_or(0, char::len_utf8);
            return Err(other_language_hints::no_symbol(self.text, start..self.at));
        };
        self.at += symbol.len();
        if matches!(kind, TokenKind::Compare(_)) && self.rest().starts_with('=') {
            self.at += 1;
            return Err(other_language_hints::doubled(start..self.at, symbol));
        }
        Ok(kind.clone())
    }
}

/// What a backslash and this character mean; nothing if the backslash stays as it is.
fn unescaped(c: char) -> Option<char> {
    match c {
        '\\' | '\'' | '"' => Some(c),
        'n' => Some('\n'),
        't' => Some('\t'),
        _ => None,
    }
}
