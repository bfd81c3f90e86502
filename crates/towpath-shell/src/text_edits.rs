//! Edits of a text, and the pieces that result.

use crate::unfilled_script_types::Piece;
use std::ops::Range;

/// Replaces a range of the text; an empty range inserts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub range: Range<usize>,
    pub with: Vec<Piece>,
}

impl Edit {
    pub fn text(range: Range<usize>, with: impl Into<String>) -> Edit {
        Edit { range, with: vec![Piece::Text(with.into())] }
    }
}

/// The edited text. `None` if two edits touch the same bytes.
pub fn apply(text: &str, mut edits: Vec<Edit>) -> Option<Vec<Piece>> {
    edits.sort_by_key(|e| (e.range.start, e.range.end));
    let mut out = Pieces(Vec::new());
    let mut at = 0;
    for edit in edits {
        out.push(Piece::Text(text.get(at..edit.range.start)?.to_owned()));
        at = edit.range.end;
        edit.with.into_iter().for_each(|p| out.push(p));
    }
    out.push(Piece::Text(text.get(at..)?.to_owned()));
    Some(out.0)
}

struct Pieces(Vec<Piece>);

impl Pieces {
    fn push(&mut self, piece: Piece) {
        match (self.0.last_mut(), piece) {
            (_, Piece::Text(text)) if text.is_empty() => {}
            (Some(Piece::Text(last)), Piece::Text(text)) => last.push_str(&text),
            (_, piece) => self.0.push(piece),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_apply_in_text_order() {
        let edits = vec![Edit::text(4..5, "E"), Edit::text(1..1, "+"), Edit::text(1..2, "B")];
        assert_eq!(apply("abcde", edits), Some(vec![Piece::Text("a+BcdE".into())]));
        assert_eq!(apply("abc", vec![Edit::text(0..2, ""), Edit::text(1..3, "")]), None);
    }
}
