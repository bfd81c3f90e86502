//! Text in a directive whose references are found, but have no value yet.

use std::ops::Range;
use towpath_core::{PlaceholderSyntax, Span, VarPath};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Interpolated {
    pub pieces: Vec<Piece>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    Reference { path: VarPath, span: Span },
}

impl Interpolated {
    pub fn plain(text: &str, span: Span) -> Interpolated {
        let mut plain = Interpolated { pieces: Vec::new(), span };
        plain.push_text(text);
        plain
    }

    pub fn push_text(&mut self, text: &str) {
        if let Some(Piece::Text(last)) = self.pieces.last_mut() {
            last.push_str(text);
        } else if !text.is_empty() {
            self.pieces.push(Piece::Text(text.to_owned()));
        }
    }

    pub fn push_reference(&mut self, path: VarPath, span: Span) {
        self.pieces.push(Piece::Reference { path, span });
    }

    pub fn append(&mut self, other: Interpolated) {
        for piece in other.pieces {
            match piece {
                Piece::Text(text) => self.push_text(&text),
                Piece::Reference { path, span } => self.push_reference(path, span),
            }
        }
        self.span.end = other.span.end;
    }

    pub fn references(&self) -> impl Iterator<Item = &VarPath> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Reference { path, .. } => Some(path),
            Piece::Text(_) => None,
        })
    }

    /// The text of a block or a path: references are replaced, and `\{{` is a literal `{{`.
    pub fn of_block(text: &str, range: Range<usize>) -> Interpolated {
        let mut block = Interpolated { pieces: Vec::new(), span: Span::new(range.clone()) };
        let mut at = range.start;
        while let Some(found) = text[at..range.end].find("{{").map(|found| at + found) {
            let escaped = text[at..found].ends_with('\\');
            let reference = reference_at(&text[..range.end], found);
            match reference {
                Some((_, end)) if escaped => {
                    block.push_text(&text[at..found - 1]);
                    block.push_text(&text[found..end]);
                    at = end;
                }
                Some((path, end)) => {
                    block.push_text(&text[at..found]);
                    block.push_reference(path, Span { start: found, end });
                    at = end;
                }
                None => {
                    block.push_text(&text[at..found + 1]);
                    at = found + 1;
                }
            }
        }
        block.push_text(&text[at..range.end]);
        block
    }
}

/// The reference whose `{{` is at `start`, and its end.
pub(crate) fn reference_at(text: &str, start: usize) -> Option<(VarPath, usize)> {
    PlaceholderSyntax::Document.placeholder_at(text, start)
}
