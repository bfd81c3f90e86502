//! How a text with placeholders is understood: the parser's tree of it, with which the scanner agrees.
//!
//! The text itself comes first. If the parser cannot read it, or sees other quoting than the scanner
//! does, pieces without a placeholder are replaced by harmless ones, then whole command lines
//! without one.

use crate::bash::scanner::{self, Atom, Scan, ScannedWord};
use crate::bash::tree::Block;
use crate::bash::{NotBash, difference, parser_library};
use crate::mark::{MARK_LEN, Region};
use crate::refusal_messages::{self, Refusal};
use crate::simplified_text::SimplifiedText;
use std::ops::Range;

/// The most bytes that are given to the parser, without what is replaced.
const MOST: usize = 256 * 1024;

pub struct ParsedRegion {
    pub block: Block,
    /// The text that `block` is the tree of, as long as the one that was written.
    pub region: Region,
    /// Comments with a placeholder that `block` does not show.
    pub comments: Vec<Range<usize>>,
    /// Lines without a placeholder that the parser cannot read, and why.
    pub unread: Vec<NotBash>,
}

/// Why a text is not parsed.
pub enum ParseError {
    NotBash(NotBash),
    /// A value where none is possible.
    Refused {
        placeholder: usize,
        refusal: &'static Refusal,
    },
}

impl From<NotBash> for ParseError {
    fn from(error: NotBash) -> ParseError {
        ParseError::NotBash(error)
    }
}

pub fn parse(region: &Region) -> Result<ParsedRegion, ParseError> {
    let scan = scanner::scan(&region.text, &|r| region.has_mark(r))?;
    // Where the delimiter is a value, nothing after it can be read.
    if let Some(mark) = scan.here_doc_words.iter().find_map(|word| region.marks_in(word).first()) {
        let placeholder = mark.placeholder;
        return Err(ParseError::Refused { placeholder, refusal: &refusal_messages::DELIMITER });
    }
    if region.text.len() <= MOST
        && let Ok(block) = tree(region, region, &scan.atoms, &scan.words)
    {
        let (comments, unread) = (Vec::new(), Vec::new());
        return Ok(ParsedRegion { block, region: region.clone(), comments, unread });
    }
    Ok(without_unread(region, &scan)?)
}

/// Whether the text is bash, as far as can be known without running it.
pub fn check(region: &Region) -> Result<(), NotBash> {
    if region.text.len() > MOST {
        return Ok(());
    }
    let Err(error) = parser_library::parse(&region.text, &region.text) else { return Ok(()) };
    match scanner::scan(&region.text, &|r| region.has_mark(r)) {
        Ok(scan) => {
            parser_library::parse(&SimplifiedText::of(region, &scan).text, &region.text).map(|_| ())
        }
        Err(_) => Err(error),
    }
}

/// The tree of `region`, if the scanner agrees with it.
fn tree(
    region: &Region,
    written: &Region,
    atoms: &[Atom],
    words: &[ScannedWord],
) -> Result<Block, NotBash> {
    let block = parser_library::parse(&region.text, &written.text)?;
    match difference::difference(&region.text, &|r| region.has_mark(r), &block, atoms, words) {
        None => Ok(block),
        Some(range) => Err(NotBash::unsure(range)),
    }
}

fn without_unread(region: &Region, scan: &Scan) -> Result<ParsedRegion, NotBash> {
    let mut simplified = SimplifiedText::of(region, scan);
    let mut unread = Vec::new();
    let whole = region.with_text(simplified.text.clone());
    if whole.text.len() <= MOST
        && let Ok(block) = tree(&whole, region, &simplified.atoms, &scan.words)
    {
        let comments = simplified.comments;
        return Ok(ParsedRegion { block, region: whole, comments, unread });
    }
    let keep = whole.text.len() <= MOST;
    let mut dropped: Vec<Range<usize>> = Vec::new();
    for line in lines_without_marks(region, scan) {
        match line_tree(region, &simplified, &line) {
            Ok(_) if keep => continue,
            Ok(_) => {}
            Err(error) => unread.push(error),
        }
        match dropped.last_mut() {
            Some(last) if simplified.text[last.end..line.start].trim().is_empty() => {
                last.end = line.end;
            }
            _ => dropped.push(line),
        }
    }
    simplified.drop_lines(&dropped);
    let left = simplified.squeeze_blanks()
        - dropped.iter().map(std::iter::ExactSizeIterator::len).sum::<usize>();
    if left > MOST {
        let first = region.marks.first().map_or(0..0, |mark| mark.at..mark.at + MARK_LEN);
        return Err(NotBash::syntax(first, "commands with values are limited to 256 kB"));
    }
    let whole = region.with_text(simplified.text);
    let block = tree(&whole, region, &simplified.atoms, &scan.words)?;
    Ok(ParsedRegion { block, region: whole, comments: simplified.comments, unread })
}

/// The tree of one line alone; its ranges begin at the line.
fn line_tree(
    region: &Region,
    simplified: &SimplifiedText,
    line: &Range<usize>,
) -> Result<Block, NotBash> {
    let moved = |range: &Range<usize>| range.start - line.start..range.end - line.start;
    let from = simplified.atoms.partition_point(|a| a.range.start < line.start);
    let atoms: Vec<Atom> = simplified.atoms[from..]
        .iter()
        .take_while(|a| a.range.start < line.end)
        .map(|a| Atom { range: moved(&a.range), ..a.clone() })
        .collect();
    let alone = Region::without_marks(&simplified.text[line.clone()]);
    let written = Region::without_marks(&region.text[line.clone()]);
    tree(&alone, &written, &atoms, &[])
        .map_err(|e| NotBash { range: e.range.start + line.start..e.range.end + line.start, ..e })
}

/// The longest complete lines without a placeholder.
fn lines_without_marks(region: &Region, scan: &Scan) -> Vec<Range<usize>> {
    let mut lines: Vec<_> = scan.lines.iter().filter(|l| !region.has_mark(l)).cloned().collect();
    lines.sort_by_key(|line| (line.start, std::cmp::Reverse(line.end)));
    let mut inside = 0;
    lines.retain(|line| {
        let outer = line.start >= inside;
        inside = inside.max(line.end);
        outer
    });
    lines
}
