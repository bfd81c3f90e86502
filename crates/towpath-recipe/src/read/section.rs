//! What the fields of a recipe need beyond the field reader: where an unknown field belongs, texts
//! with the way back to the file, required programs.

use super::Reader;
use crate::field_table::{Field, FieldType, Section, fields_of, find_field};
use crate::other_words::{Instead, instead_of};
use crate::recipe::RequiredProgram;
use crate::text_map::TextMap;
use std::sync::Arc;
use towpath_core::fields::{Fields, Subject, known_fields};
use towpath_core::spanned_tree::{Entry, Kind, Node};
use towpath_core::{Diagnostic, RequirementError, Severity, Source, Span, Template};

/// The known fields of one map.
pub(super) type FieldMap<'n> = Fields<Field, Part<'n>>;

/// A field, or a name with its value, in the file it is written in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'n> {
    /// The index of the file among those of a machine.
    pub file: usize,
    pub source: &'n Arc<Source>,
    pub entry: &'n Entry,
}

/// A scalar as text, with the way back to the file.
pub(super) struct Text {
    pub text: String,
    pub span: Span,
    pub map: TextMap,
}

impl<'a> Reader<'a> {
    /// The fields of a map; unknown ones are reported, and required ones that are missing.
    pub fn section(
        &mut self,
        node: &'a Node,
        section: Section,
        subject: Subject<'_>,
    ) -> Option<FieldMap<'a>> {
        let source = self.source;
        let parts = self.entries(node, subject)?.iter();
        let parts = parts.map(|entry| Part { file: 0, source, entry });
        let (mut fields, unknown) = Fields::sort(parts, |part| part.entry, fields_of(section));
        let names: Vec<&str> = fields_of(section).map(|field| field.name).collect();
        let lists_all = matches!(section, Section::Hooks | Section::Recursion);
        // As in machines: a home for merge keys, and for what other programs read.
        let of_others = |entry: &Entry| section == Section::Recipe && entry.key.starts_with("x-");
        for Part { entry, .. } in unknown.into_iter().filter(|part| !of_others(part.entry)) {
            let instead = instead_of(&entry.key, section);
            let meant = instead.and_then(|instead| find_field(section, instead.field?));
            // A field that nothing looks at is not a misspelt one that must be there.
            let is_dead = self.dialect.never_looks_at(section, &entry.key);
            if let Some(meant) = meant.filter(|meant| !is_dead || meant.required.is_none()) {
                fields.mean(meant.name);
            }
            let elsewhere = instead
                .map(Instead::label)
                .or_else(|| elsewhere(&entry.key, section).map(str::to_owned));
            let problem = self.unknown_field(entry, subject, &names, elsewhere);
            let problem = match is_dead {
                true => Diagnostic {
                    severity: Severity::Warning,
                    message: format!("`{}` has no effect", entry.key),
                    ..problem
                },
                false => problem,
            };
            self.problem(match lists_all {
                true => problem.help(known_fields(subject, &names)),
                false => problem,
            });
        }
        self.missing(&fields, subject, node);
        Some(fields)
    }

    /// The fields of a map that is the value of a field; null is no map.
    pub fn subsection(
        &mut self,
        fields: &FieldMap<'a>,
        name: &str,
        section: Section,
    ) -> Option<FieldMap<'a>> {
        let part = fields.get(name).filter(|part| !part.entry.is_null())?;
        self.section(&part.entry.value, section, Subject::Key(name))
    }

    /// Text with its spans; a number or a boolean is the text it is written with.
    pub fn located_text(&mut self, entry: &Entry) -> Option<Text> {
        let quote = if self.step.is_some() { '\'' } else { '`' };
        let text = if self.step.is_some() { self.own_text(entry) } else { self.text(entry) };
        let text = self.located(&entry.value, text?);
        self.without_nul(text, &format!("{quote}{}{quote}", entry.key))
    }

    pub fn located(&self, node: &Node, text: String) -> Text {
        let map = TextMap::of(node, self.source, &text);
        Text { text, span: node.defined, map }
    }

    /// The text of a field in a machine's step, which must be a string and not empty.
    fn own_text(&mut self, entry: &Entry) -> Option<String> {
        let (name, node) = (&entry.key, &entry.value);
        match &node.kind {
            Kind::Text(text) if text.trim().is_empty() => {
                let message = format!("'{name}' must not be empty");
                self.error("empty-field", message, node.defined, "");
                None
            }
            Kind::Text(text) => Some(text.clone()),
            _ => {
                let (label, span) = (node.describe(), self.source.first_line(node.defined));
                let message = format!("'{name}' must be a string");
                self.error("wrong-type", message, span, format!("this is {label}"));
                None
            }
        }
    }

    /// A text that a command line, a prompt and a path can take.
    pub fn without_nul(&mut self, text: Text, what: &str) -> Option<Text> {
        let Some(at) = text.text.find('\0') else { return Some(text) };
        let span = text.map.locate(at..at + 1);
        self.error(
            "nul-byte",
            format!("{what} contains a NUL byte"),
            span,
            "no program can take it",
        );
        None
    }

    /// Reports what was written after a text that is not quoted, as far as it looks like more of it: YAML
    /// ends the text at ` #`.
    pub fn warn_cut(&mut self, text: &Text, field: &str) {
        let Some(comment) = comment_after(&self.source.text, text.span) else { return };
        let first = self.source.text[comment.start + 1..comment.end].chars().next();
        if first.is_some_and(|first| !first.is_whitespace() && first != '#') {
            let message = format!("`{field}` ends before this `#`: YAML reads a comment here");
            let problem = Diagnostic::warning("cut-text", message).at(self.source, comment, "");
            self.problem(problem.help(format!(
                "put quotes around the whole `{field}`; a comment is written `# …`, with a space"
            )));
        }
    }

    /// How to keep the whole of a text that a comment follows.
    pub fn how_cut(&self, text: &Text, field: &str) -> Option<String> {
        comment_after(&self.source.text, text.span)?;
        Some(format!("YAML ends a text at ` #`: put quotes around the whole `{field}`"))
    }

    /// A text that may be left out or left empty.
    pub fn optional_text(&mut self, part: Option<Part<'a>>) -> Option<String> {
        let part = part.filter(|part| !part.entry.is_null());
        self.value(part, |reader, entry| reader.located_text(entry).map(|text| text.text))
    }

    /// A text that is taken as it is: placeholders in it would never be filled.
    pub fn fixed_text(&mut self, part: Option<Part<'a>>) -> Option<Text> {
        self.value(part, |reader, entry| {
            let text = reader.located_text(entry)?;
            if let Some(placeholder) = Template::parse(&text.text).placeholders().next() {
                let span = text.map.locate(placeholder.range.clone());
                let message = format!("`{}` takes no `{{{{…}}}}`", entry.key);
                reader.error("not-a-template", message, span, "write the value itself");
                return None;
            }
            if text.text.trim().is_empty() {
                reader.error("empty-field", format!("`{}` is empty", entry.key), text.span, "");
                return None;
            }
            Some(text)
        })
    }

    /// A list of texts; null is an empty one.
    pub fn text_list(&mut self, part: Option<Part<'a>>) -> Option<Vec<String>> {
        self.value(part, |reader, entry| {
            if entry.is_null() {
                return Some(Vec::new());
            }
            let texts = reader.texts(entry, FieldType::TextList)?;
            Some(texts.into_iter().map(|(text, _)| text).collect())
        })
    }

    /// Programs that must be there, each with its location.
    pub fn requirements(&mut self, part: Option<Part<'a>>) -> Vec<RequiredProgram> {
        let programs = self.value(part, |reader, entry| {
            let items = reader.list(entry, FieldType::Requirements)?;
            Some(items.iter().filter_map(|item| reader.requirement(item)).collect())
        });
        programs.unwrap_or_default()
    }

    fn requirement(&mut self, item: &Node) -> Option<RequiredProgram> {
        let Kind::Text(text) = &item.kind else {
            let message = format!("a requirement must be a string, this is {}", item.describe());
            let span = self.source.first_line(item.defined);
            self.error("wrong-type", message, span, "write a program's name");
            return None;
        };
        let map = TextMap::of(item, self.source, text);
        if let Some(placeholder) = Template::parse(text).placeholders().next() {
            let span = map.locate(placeholder.range.clone());
            let message = "`requires` takes no `{{…}}`";
            self.error("not-a-template", message, span, "write the program itself");
            return None;
        }
        match text.parse() {
            Ok(requirement) => {
                let (source, span) = (Arc::clone(self.source), item.defined);
                Some(RequiredProgram { requirement, source, span })
            }
            Err(RequirementError { message, range, help }) => {
                let span = map.locate(range);
                let problem = Diagnostic::error("bad-requirement", message);
                self.problem(problem.at(self.source, span, "").help(help));
                None
            }
        }
    }
}

/// Where a field of another map of the recipe belongs.
fn elsewhere(name: &str, section: Section) -> Option<&'static str> {
    let sections = [
        (Section::Step, "this belongs to a step"),
        (Section::Recipe, "this belongs to the recipe itself"),
        (Section::Hooks, "this belongs under `hooks`"),
        (Section::Recursion, "this belongs under `recursion`"),
    ];
    let found = sections
        .into_iter()
        .find(|(other, _)| *other != section && find_field(*other, name).is_some());
    found.map(|(_, label)| label)
}

/// The comment that follows a plain scalar on its last line.
fn comment_after(text: &str, scalar: Span) -> Option<Span> {
    let written = text.get(scalar.range())?.trim_end();
    if written.starts_with(['"', '\'', '|', '>']) {
        return None;
    }
    let end = scalar.start + written.len();
    let line = text[end..].lines().next()?;
    let comment = line.trim_start();
    let start = end + line.len() - comment.len();
    let follows = start > end && comment.starts_with('#');
    follows.then(|| Span { start, end: start + comment.trim_end().len() })
}
