//! Reads a file of which only marked regions are rendered, such as a README. Definitions are in comments
//! that begin with `<!-- towpath`; a region is between `<!-- towpath:begin NAME -->` and
//! `<!-- towpath:end -->`. Everything else is text, directives and references included.

use super::define::is_name;
use super::directive_line::{DirectiveReader, UnclosedBlocks, begins_directive};
use super::lines_and_indentation::{BOM, Line, line_at};
use crate::directive::{Directive, DirectiveKind};
use crate::document::{Document, Node, NodeKind};
use crate::literal_blocks::LiteralBlocks;
use crate::read_error::ReadError;
use std::sync::Arc;
use towpath_core::{Source, Span};

/// Reads a file whose regions are to be rendered.
pub fn read_regions(name: &str, bytes: Vec<u8>) -> Document {
    let mut document = Document::of_bytes(name, bytes);
    let source = Arc::clone(&document.source);
    let unclosed = UnclosedBlocks::default();
    let mut reader = RegionReader { document: &mut document, source: &source, copied: 0, unclosed };
    reader.lines();
    document
}

struct RegionReader<'a> {
    document: &'a mut Document,
    source: &'a Arc<Source>,
    copied: usize,
    unclosed: UnclosedBlocks,
}

/// What a line is for a file with regions.
enum Marker<'a> {
    Definitions,
    Begin(&'a str),
    End,
}

fn marker(line: &str) -> Option<Marker<'_>> {
    let inside = line.trim().strip_prefix("<!--")?;
    if inside.trim() == "towpath" {
        return Some(Marker::Definitions);
    }
    let inside = inside.strip_suffix("-->")?.trim();
    if inside == "towpath:end" {
        return Some(Marker::End);
    }
    inside.strip_prefix("towpath:begin").map(|name| Marker::Begin(name.trim()))
}

/// Whether a line would begin or end a region.
pub(crate) fn delimits_region(line: &str) -> bool {
    matches!(marker(line), Some(Marker::Begin(_) | Marker::End))
}

impl RegionReader<'_> {
    fn lines(&mut self) {
        let text = self.source.text.as_str();
        let mut blocks = LiteralBlocks::default();
        let mut at = if text.starts_with(BOM) { BOM.len() } else { 0 };
        while at < text.len() {
            let line = line_at(text, at);
            let content = &text[line.start..line.text_end];
            let found = if blocks.is_open() { None } else { marker(content) };
            at = match found {
                None => {
                    blocks.contains(content.as_bytes());
                    line.end
                }
                Some(Marker::Definitions) => self.definitions(&line),
                Some(Marker::Begin(name)) => self.region(&line, name),
                Some(Marker::End) => {
                    self.problem(&line, "towpath:end without a towpath:begin before it");
                    line.end
                }
            };
        }
        self.copy_to(text.len());
    }

    /// The lines of a comment with definitions; returns where the line after it begins.
    fn definitions(&mut self, begin: &Line) -> usize {
        let text = self.source.text.as_str();
        let mut at = begin.end;
        while at < text.len() {
            let line = line_at(text, at);
            let content = &text[line.start..line.text_end];
            at = match begins_directive(content) {
                true => self.directive(&line),
                false => line.end,
            };
            if content.contains("-->") {
                return at;
            }
        }
        self.problem(begin, "this comment is not closed: --> is missing");
        at
    }

    fn directive(&mut self, line: &Line) -> usize {
        let text = self.source.text.as_str();
        let mut reader =
            DirectiveReader::new(text, line, line.start, self.document, &mut self.unclosed);
        let read = reader.read();
        let last = reader.last_line();
        let head = self.source.first_line(Span { start: line.start, end: line.text_end });
        let kind = match read {
            Ok(kind @ (DirectiveKind::Run(_) | DirectiveKind::Embed(_))) => {
                self.problem(
                    line,
                    "only definitions belong here: what they give goes into a region",
                );
                kind
            }
            Ok(kind) => kind,
            Err((error, defines)) => {
                self.document.problems.push(error.diagnostic(self.source));
                DirectiveKind::Broken(defines)
            }
        };
        // The directive stays in the file, and has an effect behind it.
        self.copy_to(last.end);
        let (line, _) = self.source.line_column(line.start);
        let directive = Directive { line, head, ending: last.end..last.end, kind };
        let kind = NodeKind::Directive(Box::new(directive));
        self.document.nodes.push(Node { range: last.end..last.end, kind });
        last.end
    }

    fn region(&mut self, begin: &Line, name: &str) -> usize {
        if !is_name(name) {
            self.problem(begin, "expected the name of a variable or a command after towpath:begin");
            return begin.end;
        }
        let text = self.source.text.as_str();
        let mut at = begin.end;
        while at < text.len() {
            let line = line_at(text, at);
            match marker(&text[line.start..line.text_end]) {
                Some(Marker::End) => {
                    self.copy_to(begin.start);
                    let kind =
                        NodeKind::Region { name: name.to_owned(), body: begin.end..line.start };
                    self.document.nodes.push(Node { range: begin.start..line.end, kind });
                    self.copied = line.end;
                    return line.end;
                }
                Some(Marker::Begin(_)) => break,
                _ => at = line.end,
            }
        }
        self.problem(begin, "this region is not closed: <!-- towpath:end --> is missing");
        at
    }

    fn problem(&mut self, line: &Line, message: &str) {
        let span = self.source.first_line(Span { start: line.start, end: line.text_end });
        self.document.problems.push(ReadError::new(span, message).diagnostic(self.source));
    }

    fn copy_to(&mut self, end: usize) {
        if self.copied < end {
            let range = self.copied..end;
            self.document.nodes.push(Node { range, kind: NodeKind::Text });
            self.copied = end;
        }
    }
}
