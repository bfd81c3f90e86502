//! `@embed` and `@import`: other files.

use super::directive_line::DirectiveReader;
use crate::directive::{DirectiveKind, FileTarget, Import};
use crate::interpolated::Interpolated;
use crate::read_error::ReadError;
use std::ops::Range;
use towpath_core::Span;

impl DirectiveReader<'_> {
    pub fn embed_directive(&mut self) -> Result<DirectiveKind, ReadError> {
        if self.line.peek() == Some(b'{') {
            return Ok(DirectiveKind::EmbedValue(self.whole_reference()));
        }
        self.file_target().map(DirectiveKind::Embed)
    }

    /// The reference that is the rest of the line.
    pub fn whole_reference(&mut self) -> Interpolated {
        let span = self.line.span_to_end();
        self.line.at = span.end;
        Interpolated::of_block(self.text, span.range())
    }

    /// `[path]` or `[path # heading]`; the reader is at the bracket.
    pub fn file_target(&mut self) -> Result<FileTarget, ReadError> {
        let inside = self.inside_brackets()?;
        let written = &self.text[inside.clone()];
        let (path, heading) = match written.split_once('#') {
            Some((path, heading)) => (path, Some(heading)),
            None => (written, None),
        };
        let path = self.path(inside.start..inside.start + path.len())?;
        let Some(heading) = heading else { return Ok(FileTarget { path, heading: None }) };
        if heading.trim().is_empty() {
            return Err(ReadError::new(path.span, "the heading after # is empty"));
        }
        let start = inside.end - heading.trim_start().len();
        let heading = Interpolated::of_block(self.text, start..start + heading.trim().len());
        Ok(FileTarget { path, heading: Some(heading) })
    }

    fn path(&self, range: Range<usize>) -> Result<Interpolated, ReadError> {
        let written = &self.text[range.clone()];
        let mut start = range.start + written.len() - written.trim_start().len();
        let mut end = start + written.trim().len();
        // Quotes around the whole path, as Meld accepts them.
        let quoted =
            |quote: char| written.trim().starts_with(quote) && written.trim().ends_with(quote);
        if end - start > 2 && (quoted('"') || quoted('\'')) {
            (start, end) = (start + 1, end - 1);
        }
        if start == end {
            return Err(ReadError::new(Span::new(range), "the path is empty"));
        }
        Ok(Interpolated::of_block(self.text, start..end))
    }

    /// `[path]`, or `[names] from [path]`.
    pub fn import_directive(&mut self) -> Result<DirectiveKind, ReadError> {
        let line = self.line.rest();
        let from = line.split_once(']').filter(|(_, rest)| {
            let rest = rest.trim_start();
            rest.strip_prefix("from").is_some_and(|rest| rest.trim_start().starts_with('['))
        });
        let Some((list, rest)) = from else {
            let inside = self.inside_brackets()?;
            return Ok(DirectiveKind::Import(Import { names: None, path: self.path(inside)? }));
        };
        let start = self.line.at + 1;
        let names = self.imported_names(&list[1..], start)?;
        let skipped = rest.len() - rest.trim_start()["from".len()..].trim_start().len();
        self.line.at += list.len() + 1 + skipped;
        let inside = self.inside_brackets()?;
        Ok(DirectiveKind::Import(Import { names, path: self.path(inside)? }))
    }

    /// `*`, or `name`, `name as other`, with commas between them.
    fn imported_names(
        &self,
        list: &str,
        start: usize,
    ) -> Result<Option<Vec<(String, String)>>, ReadError> {
        if list.trim() == "*" {
            return Ok(None);
        }
        let mut names = Vec::new();
        let mut at = start;
        for written in list.split(',') {
            let words: Vec<&str> = written.split_whitespace().collect();
            let (name, here) = match words.as_slice() {
                [name] => (*name, *name),
                [name, "as", here] => (*name, *here),
                _ => ("", ""),
            };
            if !super::define::is_name(name) || !super::define::is_name(here) {
                let span = Span { start: at, end: at + written.len().max(1) };
                let help = "names are listed as [a, b as c], and all of them as [*]";
                return Err(ReadError::new(span, "expected a name to import").help(help));
            }
            names.push((name.to_owned(), here.to_owned()));
            at += written.len() + 1;
        }
        Ok(Some(names))
    }
}
