//! A document that has been read: its text as a list of nodes. Each node has its bytes; together they
//! are the whole document.

use crate::directive::{Directive, DirectiveKind};
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use towpath_core::{Diagnostic, Source, Span, VarPath};

#[derive(Debug)]
pub struct Document {
    /// For messages. Bytes that are not UTF-8 are `?` here, so that offsets are the file's.
    pub source: Arc<Source>,
    pub(crate) kind: FileKind,
    /// The file's bytes, where they are not UTF-8.
    raw: Option<Vec<u8>>,
    /// Where each line ends, once it was asked for.
    newlines: OnceLock<Vec<usize>>,
    pub nodes: Vec<Node>,
    /// What was found while it was read.
    pub problems: Vec<Diagnostic>,
}

/// Which language a file is in, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    Markdown,
    /// `>>` at the beginning of a line is a comment there.
    Meld,
}

impl FileKind {
    pub fn of(name: &str) -> FileKind {
        let is = |ending: &str| name.len() > ending.len() && name.ends_with(ending);
        if is(".mld") || is(".meld") { FileKind::Meld } else { FileKind::Markdown }
    }
}

#[derive(Debug)]
pub struct Node {
    pub range: Range<usize>,
    pub kind: NodeKind,
}

#[derive(Debug)]
pub enum NodeKind {
    /// Copied: prose without references, fenced code, comment blocks.
    Text,
    /// `{{name}}` in prose, with the backslashes before it.
    Reference { path: VarPath, backslashes: usize },
    /// A backslash that keeps its line from being a directive: left out.
    Escape,
    /// A comment line of a Meld file: left out.
    Comment,
    /// Replaced by what it gives, or left out.
    Directive(Box<Directive>),
    /// A marked region of a file, whose body is replaced.
    Region(Box<Region>),
}

/// A region of a file: from the line of its `towpath:begin` to that of its `towpath:end`.
#[derive(Debug)]
pub struct Region {
    /// The line that it begins on.
    pub line: usize,
    /// Its content, as its marker names it.
    pub head: Span,
    pub shows: RegionText,
    pub body: Range<usize>,
    /// The blanks before its marker, which each of its lines begins with.
    pub indentation: Range<usize>,
}

/// The content of a region.
#[derive(Debug)]
pub enum RegionText {
    /// A variable, or what a command prints that is called without arguments.
    Name(String),
    /// `@run` or `@embed`.
    Directive(DirectiveKind),
}

impl Document {
    /// A document of which nothing is read yet.
    pub(crate) fn of_bytes(name: &str, bytes: Vec<u8>, kind: FileKind) -> Document {
        let (text, raw) = match String::from_utf8(bytes) {
            Ok(text) => (text, None),
            Err(error) => {
                let bytes = error.into_bytes();
                (with_question_marks(&bytes), Some(bytes))
            }
        };
        let source = Source::new(name, text);
        let newlines = OnceLock::new();
        Document { source, kind, raw, newlines, nodes: Vec::new(), problems: Vec::new() }
    }

    /// Whether it was written to be rendered: ordinary Markdown is not, whatever braces it has.
    pub(crate) fn is_rendered(&self) -> bool {
        let more = |node: &Node| !matches!(node.kind, NodeKind::Text | NodeKind::Reference { .. });
        self.kind == FileKind::Meld || self.nodes.iter().any(more)
    }

    /// The file's own bytes.
    pub fn bytes(&self) -> &[u8] {
        self.raw.as_deref().unwrap_or_else(|| self.source.text.as_bytes())
    }

    pub(crate) fn is_utf8(&self, range: Range<usize>) -> bool {
        self.raw.as_ref().is_none_or(|raw| std::str::from_utf8(&raw[range]).is_ok())
    }

    /// The line of an offset, from 1.
    pub fn line(&self, offset: usize) -> usize {
        let text = self.source.text.as_bytes();
        let newlines = self.newlines.get_or_init(|| memchr::memchr_iter(b'\n', text).collect());
        newlines.partition_point(|newline| *newline < offset) + 1
    }

    /// How many lines it has.
    pub fn lines(&self) -> usize {
        self.line(usize::MAX)
    }

    pub fn directives(&self) -> impl Iterator<Item = &Directive> {
        self.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Directive(directive) => Some(directive.as_ref()),
            _ => None,
        })
    }
}

/// Text of the same length, with `?` for each byte that is not part of a character.
fn with_question_marks(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(std::iter::repeat_n('%', chunk.invalid().len()));
    }
    text
}
