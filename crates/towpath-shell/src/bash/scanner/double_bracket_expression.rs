//! `[[ … ]]`: its words, and whether they are an expression by bash's own grammar.

use super::words::Subscripts;
use super::{ScannedWord, Scanner, Step, Within};
use crate::bash::NotBash;

/// The deepest parentheses of one expression.
const MAX_DEPTH: usize = 100;

const UNARY: &str = "abcdefghknoprstuvwxzGLNORS";
const BINARY: [&str; 9] = ["-nt", "-ot", "-ef", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
/// What is right of these is a pattern.
const MATCHING: [&str; 3] = ["=", "==", "!="];

#[derive(Debug, PartialEq, Eq)]
enum ConditionToken {
    Word {
        plain: Option<String>,
        /// It has `@(…)` or the like in it.
        pattern: bool,
    },
    /// `&&` and `||`.
    Join,
    /// `<` and `>`.
    Compare,
    Open,
    Close,
    Newline,
    Other,
}

impl Scanner<'_> {
    /// From the word after `[[` to the `]]`. What is no expression is left to be refused by whoever
    /// needs to be sure: where the condition ends is certain all the same.
    pub fn condition(&mut self, start: usize) -> Step {
        let mut tokens = Vec::new();
        loop {
            if self.gap()? {
                tokens.push(ConditionToken::Newline);
            }
            let Some(byte) = self.peek() else { return Err(self.unclosed(start, "this `[[`")) };
            match byte {
                b';' => return Err(self.unsure(self.at)),
                b'(' | b')' | b'|' | b'&' => tokens.push(self.condition_operator(byte)),
                b'<' | b'>' if self.second() != Some(b'(') => {
                    tokens.push(self.condition_operator(byte));
                }
                _ if self.condition_word(&mut tokens)? => break,
                _ => {}
            }
        }
        if !(Expression { tokens: &tokens, depth: 0 }).is_whole() {
            self.doubt(start..self.at);
        }
        Ok(())
    }

    /// A word, and the regular expression after `=~`. Whether it was the closing `]]`.
    fn condition_word(&mut self, tokens: &mut Vec<ConditionToken>) -> Result<bool, NotBash> {
        let token = self.any_word(Subscripts::No)?;
        if token.plain.as_deref() == Some("]]") {
            return Ok(true);
        }
        let regex = token.plain.as_deref() == Some("=~");
        let refused = token.array || self.names_descriptor(&token);
        let word = ConditionToken::Word { plain: token.plain, pattern: token.pattern };
        tokens.push(if refused { ConditionToken::Other } else { word });
        if regex && self.regex()? {
            tokens.push(ConditionToken::Word { plain: None, pattern: false });
        }
        Ok(false)
    }

    fn condition_operator(&mut self, byte: u8) -> ConditionToken {
        self.at += 1;
        let doubled = self.here() == Some(byte);
        match byte {
            b'(' => ConditionToken::Open,
            b')' => ConditionToken::Close,
            b'&' | b'|' if doubled => {
                self.at += 1;
                ConditionToken::Join
            }
            b'<' | b'>' if !doubled && !matches!(self.here(), Some(b'&' | b'|' | b'>')) => {
                ConditionToken::Compare
            }
            _ => ConditionToken::Other,
        }
    }

    /// A word in which parentheses and bars are text. Whether there is one.
    fn regex(&mut self) -> Result<bool, NotBash> {
        self.blanks();
        let start = self.at;
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b')' => break,
                b'<' | b'>' if self.second() != Some(b'(') => break,
                b'(' => self.pair(b'(', b')', Within::Bare)?,
                _ => self.piece(byte, Within::Bare)?,
            }
        }
        self.found.words.push(ScannedWord { range: start..self.at, argument: false });
        Ok(self.at > start)
    }
}

/// What is left to read of a condition.
struct Expression<'a> {
    tokens: &'a [ConditionToken],
    depth: usize,
}

impl<'a> Expression<'a> {
    fn is_whole(&mut self) -> bool {
        self.terms() && self.tokens.is_empty()
    }

    fn next(&mut self) -> Option<&'a ConditionToken> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    fn next_if(&mut self, wanted: &ConditionToken) -> bool {
        let found = self.tokens.first() == Some(wanted);
        self.tokens = &self.tokens[usize::from(found)..];
        found
    }

    /// Newlines are passed over before a term and after a complete one, nowhere else.
    fn newlines(&mut self) -> bool {
        while self.next_if(&ConditionToken::Newline) {}
        true
    }

    fn terms(&mut self) -> bool {
        loop {
            if !self.term() {
                return false;
            }
            if !self.next_if(&ConditionToken::Join) {
                return true;
            }
        }
    }

    fn term(&mut self) -> bool {
        loop {
            self.newlines();
            return match self.next() {
                Some(ConditionToken::Open) => self.parenthesized(),
                Some(ConditionToken::Word { plain: Some(word), .. }) if word == "!" => continue,
                Some(ConditionToken::Word { plain: Some(word), .. }) if is_unary(word) => {
                    self.operand(false) && self.newlines()
                }
                Some(ConditionToken::Word { pattern: false, .. }) => self.after_word(),
                _ => false,
            };
        }
    }

    fn parenthesized(&mut self) -> bool {
        self.depth += 1;
        let closed =
            self.depth <= MAX_DEPTH && self.terms() && self.next_if(&ConditionToken::Close);
        self.depth -= 1;
        closed && self.newlines()
    }

    /// A word alone, or the left side of an operator.
    fn after_word(&mut self) -> bool {
        match self.tokens.first() {
            None | Some(ConditionToken::Join | ConditionToken::Close) => true,
            Some(ConditionToken::Compare) => {
                self.next().is_some() && self.operand(false) && self.newlines()
            }
            Some(ConditionToken::Word { plain: Some(word), .. }) => {
                let matching = MATCHING.contains(&word.as_str());
                let operator = matching || word == "=~" || BINARY.contains(&word.as_str());
                operator && self.next().is_some() && self.operand(matching) && self.newlines()
            }
            _ => false,
        }
    }

    fn operand(&mut self, matching: bool) -> bool {
        matches!(self.next(), Some(ConditionToken::Word { pattern, .. }) if matching || !pattern)
    }
}

fn is_unary(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|letter| letter.len() == 1 && UNARY.contains(letter))
}
