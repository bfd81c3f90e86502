//! Reads a file of which only marked regions are rendered, such as a README. Definitions are in comments
//! that begin with `<!-- towpath`; a region is between `<!-- towpath:begin WHAT -->` and
//! `<!-- towpath:end -->`, or in other comments. Everything else is text, directives and references
//! included.

use super::define::is_name;
use super::directive_line::{DirectiveReader, UnclosedBlocks, begins_directive};
use super::lines_and_indentation::{BOM, Line, line_at};
use super::{prose_like_directives, read};
use crate::directive::{Call, Defines, Directive, DirectiveKind, Invocation};
use crate::document::{Document, FileKind, Node, NodeKind, Region, RegionText};
use crate::interpolated::Interpolated;
use crate::literal_blocks::LiteralBlocks;
use crate::read_error::ReadError;
use std::ops::Range;
use std::sync::Arc;
use towpath_core::{Source, Span};

/// How comments begin and end. Those that end with their line have no end of their own.
const COMMENTS: [(&str, &str); 6] =
    [("<!--", "-->"), ("/*", "*/"), ("#", ""), ("//", ""), ("--", ""), ("..", "")];

/// A command that every file with regions has: a session in a terminal, as fenced code.
const CONSOLE: &str = "@define console(command) = @run [[
printf '```console\\n$ %s\\n' {{command}}
bash -eo pipefail -c {{command}} 2>&1
printf '```\\n'
]]
";

/// Reads a file whose regions are to be rendered.
pub fn read_regions(name: &str, bytes: Vec<u8>) -> Document {
    let mut document = Document::of_bytes(name, bytes, FileKind::Markdown);
    let source = Arc::clone(&document.source);
    let markdown = is_markdown(name);
    let mut reader = RegionReader {
        document: &mut document,
        source: &source,
        markdown,
        own_console: false,
        copied: 0,
        unclosed: UnclosedBlocks::default(),
    };
    reader.define_console();
    reader.lines();
    document
}

/// Whether a file has regions.
pub fn has_regions(name: &str, bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, b"towpath:begin").is_some()
        && read_regions(name, bytes.to_vec())
            .nodes
            .iter()
            .any(|node| matches!(node.kind, NodeKind::Region(_)))
}

/// Whether a file is Markdown: there `#` begins a heading, and fences are code.
fn is_markdown(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    ["md", "markdown", "mdown", "mdx", "mld", "meld"]
        .iter()
        .any(|known| ending.eq_ignore_ascii_case(known))
}

struct RegionReader<'a> {
    document: &'a mut Document,
    source: &'a Arc<Source>,
    markdown: bool,
    /// `$console` is the program's own.
    own_console: bool,
    copied: usize,
    unclosed: UnclosedBlocks,
}

/// What a line is for a file with regions.
pub(super) enum Marker {
    /// With the end of the comment.
    Definitions(&'static str),
    /// With what it shows, as a range of the line.
    Begin(Range<usize>),
    End,
}

pub(super) fn marker(line: &str, markdown: bool) -> Option<Marker> {
    let text = line.trim();
    let comments = if markdown { &COMMENTS[..1] } else { &COMMENTS[..] };
    let (comment, end) = comments.iter().find(|(begin, _)| text.starts_with(begin))?;
    let inside = &text[comment.len()..];
    if inside.trim() == "towpath" && !end.is_empty() {
        return Some(Marker::Definitions(end));
    }
    let inside = inside.strip_suffix(end)?.trim();
    if inside == "towpath:end" {
        return Some(Marker::End);
    }
    let shows = inside.strip_prefix("towpath:begin")?;
    if !shows.is_empty() && !shows.starts_with([' ', '\t']) {
        return None;
    }
    let stop = line[..line.trim_end().len() - end.len()].trim_end().len();
    Some(Marker::Begin(stop - shows.trim().len()..stop))
}

/// Whether a line would begin or end a region.
pub(crate) fn delimits_region(line: &str) -> bool {
    matches!(marker(line, false), Some(Marker::Begin(_) | Marker::End))
}

impl RegionReader<'_> {
    /// Defines `$console`, where something calls it and nothing defines another.
    fn define_console(&mut self) {
        let text = self.source.text.as_str();
        self.own_console = text.contains("$console(") && !text.contains("@define console");
        if !self.own_console {
            return;
        }
        let own = read("$console", CONSOLE.into(), FileKind::Markdown);
        let defined =
            own.nodes.into_iter().filter(|node| matches!(node.kind, NodeKind::Directive(_)));
        self.document.nodes.extend(defined.map(|node| Node { range: 0..0, ..node }));
    }

    fn lines(&mut self) {
        let text = self.source.text.as_str();
        let mut blocks = LiteralBlocks::new(text.as_bytes());
        let mut at = if text.starts_with(BOM) { BOM.len() } else { 0 };
        while at < text.len() {
            let line = line_at(text, at);
            let found = if blocks.is_open() { None } else { self.marker(&line) };
            at = match found {
                None => {
                    if self.markdown {
                        blocks.literal_to(line.start..line.text_end);
                    }
                    line.end
                }
                Some(Marker::Definitions(end)) => self.definitions(&line, end),
                Some(Marker::Begin(shows)) => {
                    self.region(&line, line.start + shows.start..line.start + shows.end)
                }
                Some(Marker::End) => {
                    self.problem(&line, "towpath:end without a towpath:begin before it");
                    line.end
                }
            };
        }
        self.copy_to(text.len());
    }

    fn marker(&self, line: &Line) -> Option<Marker> {
        marker(&self.source.text[line.start..line.text_end], self.markdown)
    }

    /// The lines of a comment with definitions; returns where the line after it begins.
    fn definitions(&mut self, begin: &Line, end: &str) -> usize {
        let text = self.source.text.as_str();
        let mut at = begin.end;
        while at < text.len() {
            let line = line_at(text, at);
            let content = &text[line.start..line.text_end];
            // The comment may be indented, in a list for example.
            let start = indentation(content).len();
            let content = &content[start..];
            at = match begins_directive(content) {
                true => self.directive(&line, line.start + start),
                false => {
                    let near =
                        prose_like_directives::find(content, line.start + start, FileKind::Meld);
                    let near = near.map(|near| near.warning(self.source));
                    self.document.problems.extend(near);
                    line.end
                }
            };
            if content.contains(end) {
                return at;
            }
        }
        self.problem(begin, &format!("this comment is not closed: {end} is missing"));
        at
    }

    fn directive(&mut self, line: &Line, start: usize) -> usize {
        let text = self.source.text.as_str();
        let mut reader = DirectiveReader::new(text, line, start, self.source, &mut self.unclosed);
        let read = reader.read();
        let last = reader.last_line();
        let warnings = reader.warnings;
        self.document.problems.extend(warnings);
        let head = self.source.first_line(Span { start, end: line.text_end });
        let kind = match read {
            Ok(
                kind @ (DirectiveKind::Run(_)
                | DirectiveKind::Embed(_)
                | DirectiveKind::EmbedValue(_)),
            ) => {
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
        let line = self.document.line(line.start);
        let directive = Directive { line, head, ending: last.end..last.end, kind };
        let kind = NodeKind::Directive(Box::new(directive));
        self.document.nodes.push(Node { range: last.end..last.end, kind });
        last.end
    }

    fn region(&mut self, begin: &Line, shows: Range<usize>) -> usize {
        let Some(shown) = self.shown(begin, &shows) else { return begin.end };
        let text = self.source.text.as_str();
        let mut at = begin.end;
        while at < text.len() {
            let line = line_at(text, at);
            match self.marker(&line) {
                Some(Marker::End) => {
                    self.copy_to(begin.start);
                    let blanks = indentation(&text[begin.start..begin.text_end]).len();
                    let region = Region {
                        line: self.document.line(begin.start),
                        head: Span::new(shows),
                        shows: shown,
                        body: begin.end..line.start,
                        indentation: begin.start..begin.start + blanks,
                    };
                    let kind = NodeKind::Region(Box::new(region));
                    self.document.nodes.push(Node { range: begin.start..line.end, kind });
                    self.copied = line.end;
                    return line.end;
                }
                Some(Marker::Begin(_)) => break,
                _ => at = line.end,
            }
        }
        self.problem(begin, "this region is not closed: towpath:end is missing");
        at
    }

    /// The content of a region: a name, a call, `@run` or `@embed`.
    fn shown(&mut self, begin: &Line, shows: &Range<usize>) -> Option<RegionText> {
        let text = self.source.text.as_str();
        let written = &text[shows.clone()];
        if is_name(written) {
            return Some(RegionText::Name(written.to_owned()));
        }
        if self.own_console
            && let Some(call) = console_call(written, shows.start)
        {
            return Some(RegionText::Directive(DirectiveKind::Run(Invocation::Call(call))));
        }
        let line = Line { start: shows.start, text_end: shows.end, end: begin.end };
        let mut reader =
            DirectiveReader::new(text, &line, shows.start, self.source, &mut self.unclosed);
        let block = written.ends_with("[[");
        let read = match written.as_bytes().first() {
            Some(b'$') => {
                let run = reader.invocation().map(DirectiveKind::Run);
                run.map_err(|error| (error, Defines::Nothing))
            }
            Some(b'@') if begins_directive(written) && !block => reader.read(),
            _ => Err((ReadError::new(Span::new(shows.clone()), ""), Defines::Nothing)),
        };
        let warnings = reader.warnings;
        self.document.problems.extend(warnings);
        match read {
            Ok(
                kind @ (DirectiveKind::Run(_)
                | DirectiveKind::Embed(_)
                | DirectiveKind::EmbedValue(_)),
            ) => return Some(RegionText::Directive(kind)),
            Err((error, _)) if !error.message.is_empty() => {
                self.document.problems.push(error.diagnostic(self.source));
            }
            _ => self.problem(
                begin,
                "expected the name of a variable or a command after towpath:begin, a call as \
                 $name(…), @run […] or @embed […]",
            ),
        }
        None
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

/// `$console(command)`: a command that is not quoted as a whole is taken as it is written, commas and
/// quotes included.
fn console_call(written: &str, start: usize) -> Option<Call> {
    let command = written.strip_prefix("$console(")?.strip_suffix(')')?.trim();
    let quoted = |quote| {
        let inside = command.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        inside.is_some_and(|inside| !inside.contains(quote))
    };
    let verbatim = !command.is_empty() && !quoted('"') && !quoted('\'') && !quoted('`');
    let span = Span { start, end: start + written.len() };
    verbatim.then(|| Call {
        name: "console".to_owned(),
        arguments: vec![Interpolated::plain(command, span)],
        span,
    })
}

fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
