//! Bash text into the tree of `tree`: the only module that knows the parser library.
//!
//! Every range is checked against the text (inside it, on character borders, inside its parent,
//! quotes where quotes must be), so a drifting span is an error here and never a wrong edit later.
//! Text that the parser had to repair counts as not understood: nothing is guessed.

mod convert_commands;
mod convert_words;

use crate::bash::tree::Block;
use crate::bash::{NotBash, deep_stack};
use shuck_ast::Span;
use shuck_parser::Error;
use shuck_parser::parser::{ParseResult, Parser};
use std::ops::Range;

/// The most open braces. The parser's time grows with the square of their number.
const MAX_BRACES: usize = 500;
/// The most words `time` and `coproc`. Each may be a level of its own, and the parser does not bound
/// them.
const MAX_PREFIXES: usize = 500;

/// Parses a whole script. `written` is as long as `text`, and the same but for pieces that `text`
/// has in a form that the parser understands: what words mean is read from there.
pub fn parse(text: &str, written: &str) -> Result<Block, NotBash> {
    bounded(text)?;
    // The parser would put in what aliases expand to, and cut characters in doing so. A tree of the
    // text as it is written is wanted.
    let text = &text.replace("expand_aliases", "expand_aliasez");
    // It panics on some texts.
    let parsed = deep_stack::quietly(|| {
        let result = Parser::new(text).parse();
        match result.is_ok() {
            true => Converter { text, written }.block(&result.file.body),
            false => Err(refusal(text, &result)),
        }
    });
    parsed.unwrap_or_else(|| Err(NotBash::unsure(0..0)))
}

fn bounded(text: &str) -> Result<(), NotBash> {
    let mut open = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => open += 1,
            b'}' => open = open.saturating_sub(1),
            _ => continue,
        }
        if open > MAX_BRACES {
            let message = format!("more than {MAX_BRACES} braces are open");
            return Err(NotBash::syntax(at..at + 1, message));
        }
    }
    for word in deep_stack::PREFIXES {
        let alone = |at: &usize| is_word(text, *at..*at + word.len());
        let found = text.match_indices(word).map(|(at, _)| at).filter(alone).nth(MAX_PREFIXES);
        if let Some(at) = found {
            let message = format!("`{word}` is there more than {MAX_PREFIXES} times");
            return Err(NotBash::syntax(at..at + word.len(), message));
        }
    }
    Ok(())
}

fn is_word(text: &str, range: Range<usize>) -> bool {
    let in_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    !in_word(bytes[..range.start].last()) && !in_word(bytes.get(range.end))
}

fn refusal(text: &str, result: &ParseResult) -> NotBash {
    if let Some(diagnostic) = result.diagnostics.first() {
        let start = diagnostic.span.start.offset();
        let end = diagnostic.span.end.offset();
        return NotBash::syntax(sane(text, start, end), &diagnostic.message);
    }
    match &result.terminal_error {
        Some(Error::Parse { message, line, column }) => {
            let start = offset_of(text, *line, *column);
            NotBash::syntax(sane(text, start, start + 1), message)
        }
        None => NotBash::syntax(0..0, "the text could not be parsed"),
    }
}

/// The nearest range inside the text on character borders.
fn sane(text: &str, start: usize, end: usize) -> Range<usize> {
    let start = text.floor_char_boundary(start);
    start..text.floor_char_boundary(end).max(start)
}

fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    before + column.saturating_sub(1)
}

/// The conversion of one parsed text.
struct Converter<'a> {
    text: &'a str,
    written: &'a str,
}

impl Converter<'_> {
    fn range(&self, span: Span) -> Result<Range<usize>, NotBash> {
        let range = span.start.offset()..span.end.offset();
        match self.text.get(range.clone()) {
            Some(_) => Ok(range),
            None => Err(self.unsure(0..0)),
        }
    }

    fn inside(&self, span: Span, outer: &Range<usize>) -> Result<Range<usize>, NotBash> {
        let range = self.range(span)?;
        match outer.start <= range.start && range.end <= outer.end {
            true => Ok(range),
            false => Err(self.unsure(outer.clone())),
        }
    }

    fn unsure(&self, range: Range<usize>) -> NotBash {
        NotBash::unsure(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bash::tree::Command;

    #[test]
    fn words_have_exact_ranges() {
        let text = "é; FOO=1 grep  'a b' \"$x\" # c\n";
        let block = parse(text, text).unwrap();
        let Command::Simple(simple) = &block.statements[1].command else { panic!() };
        let words: Vec<&str> = simple.words.iter().map(|w| &text[w.range.clone()]).collect();
        assert_eq!(words, ["grep", "'a b'", "\"$x\""]);
        assert_eq!(simple.words[1].text.as_deref(), Some("a b"));
        assert_eq!(simple.words[2].text, None);
    }

    #[test]
    fn an_error_has_a_range() {
        let text = "echo é\necho 'open";
        let error = parse(text, text).unwrap_err();
        assert!(text.get(error.range.clone()).is_some(), "{error:?}");
        assert!(error.range.start >= 8, "{error:?}");
    }
}
