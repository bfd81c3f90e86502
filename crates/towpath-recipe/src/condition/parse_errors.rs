//! What is wrong with a condition where the parser cannot continue, in words for the user. The
//! parser decides that something is wrong; this only describes it.

use super::ConditionError;
use super::excerpt::excerpt;
use super::functions::{self, FUNCTIONS, METHODS};
use super::other_language_hints;
use super::parser::Parser;
use super::tokens::{Bracket, Token, TokenKind};
use super::tree::Node;
use crate::other_words::how;
use std::ops::Range;

pub(super) fn no_function(range: Range<usize>, name: &str) -> ConditionError {
    let is_method = functions::find(&METHODS, name).is_some();
    let meant = how("function", name);
    let near = functions::near(&FUNCTIONS, name);
    let help = match (meant, near) {
        _ if is_method => format!("`{name}` is a method: write `value.{name}(…)`"),
        (Some(meant), _) => meant.to_owned(),
        (None, Some(near)) => format!("did you mean `{near}`?"),
        (None, None) => format!("the functions are {}", functions::listed(&FUNCTIONS)),
    };
    ConditionError::new(range, format!("there is no function `{}`", excerpt(name))).help(help)
}

pub(super) fn no_method(range: Range<usize>, name: &str, receiver: &str) -> ConditionError {
    let receiver = excerpt(receiver);
    let meant = how("method", name).map(|how| how.replace("VALUE", &receiver));
    let help = meant.unwrap_or_else(|| {
        if functions::find(&FUNCTIONS, name).is_some() {
            return format!("`{name}` is a function: write `{name}({receiver})`");
        }
        match functions::near(&METHODS, name) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the methods are {}", functions::listed(&METHODS)),
        }
    });
    ConditionError::new(range, format!("there is no method `{}`", excerpt(name))).help(help)
}

/// The error for an index that no element has: `-1`, `1.5`, `true`.
pub(super) fn no_index(text: &str, index: &Node) -> ConditionError {
    let written = excerpt(&text[index.range.clone()]);
    let error = ConditionError::new(
        index.range.clone(),
        format!("`{written}` is never the index of an element: the first one is 0"),
    );
    match written.starts_with('-') {
        true => {
            error.help("let an earlier step take the element from the end, and test its output")
        }
        false => error.help("write a whole number, or a key in quotes"),
    }
}

impl Parser<'_> {
    fn written(&self, token: &Token) -> String {
        excerpt(&self.text[token.range.clone()])
    }

    /// The error of the piece where reading stopped, if that is where the parser is.
    pub fn unreadable(&self) -> Option<ConditionError> {
        match self.kind() {
            TokenKind::Bad(error) => Some(error.clone()),
            _ => None,
        }
    }

    /// A value is expected here.
    pub fn no_operand(&self) -> ConditionError {
        if let Some(error) = self.unreadable() {
            return error;
        }
        let token = self.token();
        let found = match token.kind {
            TokenKind::End => "the end".to_owned(),
            _ => format!("`{}`", self.written(token)),
        };
        let message = match self.previous() {
            Some(previous) => {
                format!("a value is expected after `{}`, not {found}", self.written(previous))
            }
            None => format!("a condition begins with a value, not {found}"),
        };
        let error = ConditionError::new(token.range.clone(), message);
        match token.kind {
            TokenKind::Not => error.help("put it in parentheses: `(not …)`"),
            TokenKind::Dot => error.help("numbers are written like `0.5`"),
            _ => error,
        }
    }

    /// The expression was complete, and this token neither continues it nor closes its bracket.
    pub fn surplus(&self, open: Option<(&Range<usize>, Bracket)>) -> ConditionError {
        if let Some(error) = self.unreadable() {
            return error;
        }
        if let Some(error) = self.operator_in_capitals().or_else(|| self.introduced()) {
            return error;
        }
        let token = self.token();
        let written = self.written(token);
        let range = token.range.clone();
        match (&token.kind, open) {
            (TokenKind::End, Some((open, _))) => {
                let message = format!("this `{}` is never closed", &self.text[open.clone()]);
                ConditionError::new(open.clone(), message)
            }
            (TokenKind::Close(_), Some((_, bracket))) => {
                let message = format!("`{}` is expected here, not `{written}`", bracket.closing());
                ConditionError::new(range, message)
            }
            (TokenKind::Close(_), None) => {
                ConditionError::new(range, format!("this `{written}` closes nothing"))
            }
            (TokenKind::Not, _) => {
                ConditionError::new(range, "`not` cannot follow a value").help("write `not in`")
            }
            (TokenKind::Open(_), _) => ConditionError::new(range, "this cannot be called"),
            (TokenKind::Number(_), _) if written.starts_with('-') => {
                ConditionError::new(range, other_language_hints::ARITHMETIC)
                    .help(other_language_hints::ARITHMETIC_HELP)
            }
            _ => self.no_operator(range, &written),
        }
    }

    fn no_operator(&self, range: Range<usize>, written: &str) -> ConditionError {
        let message = format!("an operator is expected here, not `{written}`");
        if written == "is"
            && let Some(help) = self.test_for_a_value(&range)
        {
            return ConditionError::new(range, message).help(help);
        }
        let negated = self.kind_after(1) == Some(&TokenKind::Not);
        let help = match how("operator", &written.to_lowercase()) {
            Some("write `==`") if negated => "write `!=`",
            Some(help) => help,
            None => "join conditions with `and` or `or`",
        };
        ConditionError::new(range, message).help(help)
    }

    /// `a is defined`.
    fn test_for_a_value(&self, is: &Range<usize>) -> Option<String> {
        let previous = self.previous().filter(|token| token.kind == TokenKind::Name)?;
        let start =
            self.text[..previous.range.end].rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let words: Vec<&str> = self.text[is.end..].split_whitespace().take(2).collect();
        let operand = self.text[start..previous.range.end].trim_start_matches('(');
        other_language_hints::test_for_a_value(&words, operand)
    }

    /// `NOT a` reads as the variable `NOT` with something after it: the word itself is at fault.
    fn operator_in_capitals(&self) -> Option<ConditionError> {
        let previous = self.previous().filter(|token| token.kind == TokenKind::Name)?;
        let written = &self.text[previous.range.clone()];
        let starts_operand = matches!(
            self.kind(),
            TokenKind::Name | TokenKind::Text(_) | TokenKind::True | TokenKind::False
        );
        (starts_operand && written.eq_ignore_ascii_case("not")).then(|| {
            ConditionError::new(previous.range.clone(), format!("`{written}` is not an operator"))
                .help("write `not`")
        })
    }

    /// `when a == 1` reads as the variable `when` with something after it.
    fn introduced(&self) -> Option<ConditionError> {
        let previous = self.previous().filter(|token| token.kind == TokenKind::Name)?;
        let word = &self.text[previous.range.clone()];
        let first = self.text[..previous.range.start].trim().is_empty();
        (first && matches!(word, "when" | "if" | "unless")).then(|| {
            let help = match word {
                "unless" => "write `not (…)`",
                _ => "leave it out: a condition is the expression alone",
            };
            ConditionError::new(previous.range.clone(), format!("`{word}` is not an operator"))
                .help(help)
        })
    }

    pub fn chained(
        &self,
        first: Range<usize>,
        middle: usize,
        sign: Range<usize>,
    ) -> ConditionError {
        let help = format!(
            "write `{} and {} {} …`",
            excerpt(&self.text[first.clone()]),
            excerpt(&self.text[middle..first.end]),
            &self.text[sign.clone()],
        );
        ConditionError::new(sign, "a comparison cannot be compared again").help(help)
    }
}
