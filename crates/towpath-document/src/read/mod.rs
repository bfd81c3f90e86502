//! Reads a document into nodes, in one pass. A line is a directive only at the document's left edge
//! and only with its fixed shape; every other line is prose, whatever it looks like.

mod command_or_call;
mod data_template;
mod define;
mod directive_line;
mod embed_and_import;
mod lines_and_indentation;
mod prose_like_directives;
mod regions;
mod value_directive;

pub(crate) use regions::delimits_region;
pub use regions::{has_regions, read_regions};

use crate::directive::{Defines, Directive, DirectiveKind};
use crate::document::{Document, FileKind, Node, NodeKind};
use crate::interpolated::reference_at;
use crate::literal_blocks::LiteralBlocks;
use crate::read_error::ReadError;
use crate::shell_variables::name_at;
use directive_line::{DirectiveReader, UnclosedBlocks, begins_directive};
use lines_and_indentation::{BOM, Line, common_indentation, line_at};
use regions::Marker;
use std::collections::HashSet;
use std::ops::Range;
use towpath_core::{Diagnostic, Span};

/// Reads a file. `name` is the one that the user knows it by.
pub fn read(name: &str, bytes: Vec<u8>, kind: FileKind) -> Document {
    let mut document = Document::of_bytes(name, bytes, kind);
    let source = std::sync::Arc::clone(&document.source);
    let text = source.text.as_str();
    let mut reader = Reader {
        document: &mut document,
        text,
        kind,
        base: common_indentation(text),
        copied: 0,
        line: 1,
        counted: 0,
        near_misses: Vec::new(),
        dollars: Vec::new(),
        unclosed: UnclosedBlocks::default(),
        unclosed_region: false,
        next_braces: 0,
    };
    reader.lines();
    let near_misses = std::mem::take(&mut reader.near_misses);
    let dollars = std::mem::take(&mut reader.dollars);
    // A line that only looks like a directive is reported only where there are directives.
    let all = document.is_rendered();
    let near = near_misses.into_iter().filter(|near| all || near.always);
    document.problems.extend(near.map(|near| near.warning(&source)));
    let names: HashSet<&str> = document.directives().filter_map(|d| d.kind.variable()).collect();
    let meant = dollars
        .into_iter()
        .filter(|span| names.contains(source.text[span.range()].trim_matches(['$', '{', '}'])));
    let meant: Vec<Diagnostic> = meant.map(|span| dollar_in_prose(&source, span)).collect();
    document.problems.extend(meant);
    document
}

struct Reader<'a> {
    document: &'a mut Document,
    text: &'a str,
    kind: FileKind,
    /// What every line begins with.
    base: &'a str,
    /// Nodes have been made up to here.
    copied: usize,
    /// The line of the offset up to which lines were counted.
    line: usize,
    counted: usize,
    near_misses: Vec<prose_like_directives::NearMiss>,
    /// `$name` in the prose of a Meld file.
    dollars: Vec<Span>,
    unclosed: UnclosedBlocks,
    /// No region from here on has an end.
    unclosed_region: bool,
    /// The next `{{`, wherever it is, so that most lines are not searched by themselves.
    next_braces: usize,
}

impl Reader<'_> {
    fn lines(&mut self) {
        let mut blocks = LiteralBlocks::new(self.text.as_bytes());
        let mut at = if self.text.starts_with(BOM) { BOM.len() } else { 0 };
        while at < self.text.len() {
            let line = line_at(self.text, at);
            at = self.line(&line, &mut blocks);
        }
        self.copy_to(self.text.len());
    }

    /// Reads the line, and as many more as it takes; returns where the next one begins.
    fn line(&mut self, line: &Line, blocks: &mut LiteralBlocks) -> usize {
        let (text, base) = (self.text, self.base);
        let content = &text[line.start..line.text_end];
        let content = if base.is_empty() { Some(content) } else { content.strip_prefix(base) };
        let Some(content) = content else { return line.end };
        let start = line.start + base.len();
        if !blocks.is_open()
            && let Some(end) = self.region(line)
        {
            return end;
        }
        let literal = blocks.literal_to(start..line.text_end);
        if literal > start {
            self.prose(literal..line.text_end);
            return line.end;
        }
        match content.as_bytes().first() {
            Some(b'>') if self.is_comment(content) => {
                self.push(line.start..line.end, NodeKind::Comment);
                return line.end;
            }
            Some(b'@') if begins_directive(content) => return self.directive(line, start),
            Some(b'\\') if begins_directive(&content[1..]) => {
                self.push(start..start + 1, NodeKind::Escape);
            }
            Some(b'@' | b' ' | b'\t') => {
                let near = prose_like_directives::find(content, start, self.kind);
                self.near_misses.extend(near);
            }
            _ => {}
        }
        self.prose(start.max(self.copied)..line.text_end);
        line.end
    }

    /// The line after a region that begins here. What is in it was printed by a command, and is text.
    fn region(&mut self, begin: &Line) -> Option<usize> {
        let marker = |line: &Line| regions::marker(&self.text[line.start..line.text_end], true);
        if self.unclosed_region || !matches!(marker(begin), Some(Marker::Begin(_))) {
            return None;
        }
        let mut at = begin.end;
        while at < self.text.len() {
            let line = line_at(self.text, at);
            match marker(&line) {
                Some(Marker::End) => return Some(line.end),
                Some(Marker::Begin(_)) => return None,
                _ => at = line.end,
            }
        }
        self.unclosed_region = true;
        None
    }

    fn is_comment(&self, content: &str) -> bool {
        let rest = content.strip_prefix(">>");
        self.kind == FileKind::Meld
            && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
    }

    fn directive(&mut self, line: &Line, start: usize) -> usize {
        let source = std::sync::Arc::clone(&self.document.source);
        let mut reader = DirectiveReader::new(self.text, line, start, &source, &mut self.unclosed);
        let read = reader.read();
        let last = reader.last_line();
        let warnings = reader.warnings;
        self.document.problems.extend(warnings);
        let formatted = memchr::memmem::find_iter(&self.text.as_bytes()[start..last.end], b"{{")
            .filter_map(|at| prose_like_directives::formatted_reference(self.text, start + at));
        self.near_misses.extend(formatted);
        let head = Span { start, end: start + self.text[start..line.text_end].trim_end().len() };
        let kind = match read {
            Ok(kind) => self.valid_utf8(line.start..last.end, head).unwrap_or(kind),
            Err((error, defines)) => {
                self.problem(error);
                DirectiveKind::Broken(defines)
            }
        };
        let line_number = self.line_of(line.start);
        let directive =
            Directive { line: line_number, head, ending: last.text_end..last.end, kind };
        self.push(line.start..last.end, NodeKind::Directive(Box::new(directive)));
        last.end
    }

    /// The line of an offset that is behind the one before.
    fn line_of(&mut self, offset: usize) -> usize {
        let between = &self.text.as_bytes()[self.counted..offset];
        self.line += memchr::memchr_iter(b'\n', between).count();
        self.counted = offset;
        self.line
    }

    /// A directive must be text.
    fn valid_utf8(&mut self, range: Range<usize>, head: Span) -> Option<DirectiveKind> {
        if self.document.is_utf8(range) {
            return None;
        }
        self.problem(ReadError::new(head, "this directive is not valid UTF-8"));
        Some(DirectiveKind::Broken(Defines::Nothing))
    }

    fn problem(&mut self, error: ReadError) {
        let problem = error.diagnostic(&self.document.source);
        self.document.problems.push(problem);
    }

    /// Finds the references of a line.
    fn prose(&mut self, range: Range<usize>) {
        if self.kind == FileKind::Meld {
            let text = &self.text[..range.end];
            for at in memchr::memchr_iter(b'$', text[range.clone()].as_bytes()) {
                let start = range.start + at;
                let braces = usize::from(text[start + 1..].starts_with('{'));
                let name = start + 1 + braces;
                let end = name + name_at(text, name).len();
                let closed = braces == 0 || text[end..].starts_with('}');
                self.dollars.extend(closed.then_some(Span { start, end: end + braces }));
            }
        }
        if self.next_braces < range.start {
            let found = memchr::memmem::find(&self.text.as_bytes()[range.start..], b"{{");
            self.next_braces = found.map_or(usize::MAX, |found| range.start + found);
        }
        if self.next_braces >= range.end {
            return;
        }
        let text = &self.text[..range.end];
        let mut from = range.start;
        let mut closed: Option<Option<usize>> = None;
        while let Some(found) = memchr::memmem::find(&text.as_bytes()[from..], b"{{") {
            let braces = text.as_bytes()[from + found..].iter().take_while(|b| **b == b'{').count();
            // Of `{{{x}}}` the inner braces are the reference.
            let at = from + found + braces - 2;
            let Some((path, end)) = reference_at(text, at) else {
                self.near_misses.extend(prose_like_directives::formatted_reference(text, at));
                let last = closed.get_or_insert_with(|| text[range.start..].rfind("}}"));
                let open = last.is_none_or(|last| range.start + last < at);
                if open && !name_at(text, at + 2).is_empty() {
                    let span = Span { start: at, end: range.end };
                    self.near_misses.push(prose_like_directives::unclosed_reference(span));
                }
                from = at + 2;
                continue;
            };
            let before = &text.as_bytes()[from..at];
            let backslashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
            self.push(at - backslashes..end, NodeKind::Reference { path, backslashes });
            from = end;
        }
    }

    /// Adds a node, and what is before it as text.
    fn push(&mut self, range: Range<usize>, kind: NodeKind) {
        self.copy_to(range.start);
        self.copied = range.end;
        self.document.nodes.push(Node { range, kind });
    }

    fn copy_to(&mut self, end: usize) {
        if self.copied < end {
            let range = self.copied..end;
            self.document.nodes.push(Node { range, kind: NodeKind::Text });
            self.copied = end;
        }
    }
}

/// Meld puts the value of a path into prose where `$name` is.
fn dollar_in_prose(source: &std::sync::Arc<towpath_core::Source>, span: Span) -> Diagnostic {
    let name = source.text[span.range()].trim_matches(['$', '{', '}']);
    warning(source, span, format!("`${name}` is text in prose"))
        .help(format!("the document's variable is {{{{{name}}}}}"))
}

/// A problem that is no error.
pub(crate) fn warning(
    source: &std::sync::Arc<towpath_core::Source>,
    span: Span,
    message: impl Into<String>,
) -> Diagnostic {
    Diagnostic::warning(crate::problem_codes::VALIDATION_FAILED, message).at(source, span, "")
}
