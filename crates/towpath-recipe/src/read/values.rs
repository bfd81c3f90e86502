//! Reading one value of a field as the type that the field table gives it. Every refusal says what
//! was expected, what came instead and where.

use super::Reader;
use crate::fields::{
    Field, FieldType, LONGEST_TIME, Section, StepType, Support, fields_of, find_field,
};
use crate::node::{Entry, Kind, Node};
use crate::text_map::TextMap;
use std::time::Duration;
use towpath_core::{Diagnostic, Span, Template, nearest};

/// The known fields of one map.
pub(super) struct FieldMap<'n> {
    section: Section,
    entries: Vec<(&'static Field, &'n Entry)>,
    /// The known fields that unknown ones are probably meant to be.
    meant: Vec<&'static str>,
}

impl<'n> FieldMap<'n> {
    pub fn new(section: Section, entries: Vec<(&'static Field, &'n Entry)>) -> FieldMap<'n> {
        FieldMap { section, entries, meant: Vec::new() }
    }

    pub fn get(&self, name: &str) -> Option<&'n Entry> {
        self.entries.iter().find(|(field, _)| field.name == name).map(|(_, entry)| *entry)
    }

    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub fn field(&self, name: &str) -> &'static Field {
        find_field(self.section, name).expect("only names of the field table are asked for")
    }

    /// Whether the field is there under a misspelt name.
    pub fn has_misspelt(&self, name: &str) -> bool {
        self.meant.contains(&name)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'static Field, &'n Entry)> {
        self.entries.iter().copied()
    }
}

/// A scalar as text, with the way back to the file.
pub(super) struct Text {
    pub text: String,
    pub span: Span,
    pub map: TextMap,
}

impl Reader<'_> {
    /// The fields of a map; unknown ones are reported.
    pub fn section<'n>(
        &mut self,
        node: &'n Node,
        section: Section,
        what: &str,
    ) -> Option<FieldMap<'n>> {
        let Kind::Map(entries) = &node.kind else {
            let is = node.describe();
            let json = self.source.text.trim_start().starts_with(['[', '"']);
            let map = if json { "an object" } else { "a map of fields" };
            let message = format!("{what} must be {map}, this is {is}");
            let span = super::first_line(self.source, node);
            self.error("wrong-type", message, span, "not a map");
            return None;
        };
        let mut known = Vec::new();
        let mut meant = Vec::new();
        for entry in entries {
            match find_field(section, &entry.key) {
                Some(field) => known.push((field, entry)),
                None => {
                    meant.extend(nearest(&entry.key, fields_of(section).map(|f| f.name)));
                    self.unknown_field(entry, section, what);
                }
            }
        }
        Some(FieldMap { section, entries: known, meant })
    }

    fn unknown_field(&mut self, entry: &Entry, section: Section, what: &str) {
        let name = &entry.key;
        let known = || fields_of(section).map(|f| f.name);
        let elsewhere = [Section::Step, Section::Recipe, Section::Hooks, Section::Recursion]
            .into_iter()
            .find(|other| *other != section && find_field(*other, name).is_some());
        let label = match (nearest(name, known()), elsewhere) {
            (_, Some(Section::Step)) => "this belongs to a step".to_owned(),
            (_, Some(Section::Recipe)) => "this belongs to the recipe itself".to_owned(),
            (_, Some(Section::Hooks)) => "this belongs under `hooks`".to_owned(),
            (_, Some(Section::Recursion)) => "this belongs under `recursion`".to_owned(),
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, _) => format!("{what} has no such field"),
        };
        let problem = Diagnostic::error("unknown-field", format!("unknown field `{name}`")).at(
            self.source,
            entry.key_defined,
            label,
        );
        let list = known().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
        let short = matches!(section, Section::Hooks | Section::Recursion);
        self.problem(if short { problem.help(format!("{what} has {list}")) } else { problem });
    }

    /// The fields of a map that stands in a field of another; nothing there is an empty map.
    pub fn subsection<'n>(
        &mut self,
        fields: &FieldMap<'n>,
        name: &str,
        section: Section,
        what: &str,
    ) -> Option<FieldMap<'n>> {
        let entry = fields.get(name)?;
        if matches!(entry.value.kind, Kind::Null) {
            return None;
        }
        self.section(&entry.value, section, what)
    }

    pub fn wrong_type(&mut self, entry: &Entry, kind: FieldType) {
        let expected = kind.describe();
        let (name, node) = (&entry.key, &entry.value);
        if matches!(node.kind, Kind::Null) {
            let message = format!("`{name}` has no value");
            let label = format!("give it {expected}, or take it out");
            self.error("empty-field", message, entry.key_defined, &label);
            return;
        }
        let message = match self.written(node) {
            Some(written) => format!("`{name}` must be {expected}, not `{written}`"),
            None => format!("`{name}` must be {expected}, this is {}", node.describe()),
        };
        let problem = Diagnostic::error("wrong-type", message).at(
            self.source,
            super::first_line_of(self.source, node.defined),
            "",
        );
        self.problem(match help_for(kind, node) {
            Some(help) => problem.help(help),
            None => problem,
        });
    }

    /// A short scalar as its author wrote it.
    fn written(&self, node: &Node) -> Option<&str> {
        let written = self.source.text.get(node.defined.range())?;
        let short = written.len() <= 40 && !written.contains('\n');
        (short && !matches!(node.kind, Kind::List(_) | Kind::Map(_))).then_some(written)
    }

    /// Text; a number or a boolean is the text it is written with.
    pub fn text(&mut self, entry: &Entry) -> Option<Text> {
        let node = &entry.value;
        let text = match &node.kind {
            Kind::Text(text) => text.clone(),
            Kind::Bool(_) | Kind::Number(_) => {
                let written = self.source.text.get(node.defined.range()).unwrap_or("");
                written.to_owned()
            }
            _ => {
                self.wrong_type(entry, FieldType::Text);
                return None;
            }
        };
        let map = node.map_of(self.source, &text);
        self.without_nul(Text { text, span: node.defined, map }, &format!("`{}`", entry.key))
    }

    /// A text that a command line, a prompt and a path can take.
    pub fn without_nul(&mut self, text: Text, what: &str) -> Option<Text> {
        let Some(at) = text.text.find('\0') else { return Some(text) };
        let span = text.map.locate(at..at + 1);
        self.error("nul-byte", format!("{what} holds a NUL byte"), span, "no program can take it");
        None
    }

    /// A text that may be left out or left empty.
    pub fn optional_text(&mut self, fields: &FieldMap<'_>, name: &str) -> Option<String> {
        let entry = fields.get(name)?;
        if matches!(entry.value.kind, Kind::Null) {
            return None;
        }
        self.text(entry).map(|t| t.text)
    }

    /// A text that is taken as it is: places in it would never be filled.
    pub fn fixed_text(&mut self, fields: &FieldMap<'_>, name: &str) -> Option<Text> {
        let text = self.text(fields.get(name)?)?;
        if let Some(place) = Template::parse(&text.text).places().next() {
            let span = text.map.locate(place.range.clone());
            let message = format!("`{name}` takes no `{{{{…}}}}`");
            self.error("not-a-template", message, span, "write the value itself");
            return None;
        }
        if text.text.trim().is_empty() {
            self.error("empty-field", format!("`{name}` is empty"), text.span, "");
            return None;
        }
        Some(text)
    }

    pub fn bool(&mut self, fields: &FieldMap<'_>, name: &str) -> Option<bool> {
        let entry = fields.get(name)?;
        match entry.value.kind {
            Kind::Bool(value) => Some(value),
            _ => {
                self.wrong_type(entry, fields.field(name).kind);
                None
            }
        }
    }

    pub fn count(&mut self, fields: &FieldMap<'_>, name: &str) -> Option<u32> {
        let entry = fields.get(name)?;
        let number = match &entry.value.kind {
            Kind::Number(number) => number.to_string().parse::<u32>().ok().filter(|n| *n > 0),
            _ => None,
        };
        if number.is_none() && !self.too_great(&entry.value, &format!("`{name}`"), u32::MAX.into())
        {
            self.wrong_type(entry, fields.field(name).kind);
        }
        number
    }

    /// Tells of a number that is too great, and whether it is.
    pub fn too_great(&mut self, node: &Node, what: &str, greatest: u64) -> bool {
        let Kind::Number(number) = &node.kind else { return false };
        let written = number.to_string();
        let great = written.parse::<f64>().is_ok_and(|number| number > greatest as f64);
        if great {
            let message = format!("{what} can be {greatest} at most");
            self.error("too-great", message, node.defined, "");
        }
        great
    }

    pub fn seconds(&mut self, fields: &FieldMap<'_>, name: &str) -> Option<Duration> {
        let entry = fields.get(name)?;
        let seconds = match &entry.value.kind {
            Kind::Number(number) => number.to_string().parse::<f64>().ok(),
            _ => None,
        };
        let duration = seconds
            .and_then(|s| Duration::try_from_secs_f64(s).ok())
            .filter(|duration| !duration.is_zero() && *duration <= LONGEST_TIME);
        let what = format!("`{name}`");
        if duration.is_none() && !self.too_great(&entry.value, &what, LONGEST_TIME.as_secs()) {
            self.wrong_type(entry, fields.field(name).kind);
        }
        duration
    }

    pub fn text_list(&mut self, fields: &FieldMap<'_>, name: &str) -> Option<Vec<String>> {
        let entry = fields.get(name)?;
        let items = match &entry.value.kind {
            Kind::List(items) => items,
            Kind::Null => return Some(Vec::new()),
            _ => {
                self.wrong_type(entry, fields.field(name).kind);
                return None;
            }
        };
        let mut texts = Vec::new();
        for item in items {
            match &item.kind {
                Kind::Text(text) => texts.push(text.clone()),
                Kind::Bool(_) | Kind::Number(_) => texts.push(item.value().to_string()),
                _ => {
                    let message =
                        format!("`{name}` must be a list of texts, this is {}", item.describe());
                    let span = super::first_line_of(self.source, item.defined);
                    self.error("wrong-type", message, span, "not text");
                }
            }
        }
        Some(texts)
    }

    pub fn map<'n>(&mut self, entry: &'n Entry) -> Option<&'n [Entry]> {
        match &entry.value.kind {
            Kind::Map(entries) => Some(entries),
            Kind::Null => None,
            _ => {
                self.wrong_type(entry, FieldType::Map);
                None
            }
        }
    }

    pub fn choice(&mut self, fields: &FieldMap<'_>, name: &str) -> Option<&'static str> {
        let entry = fields.get(name)?;
        let field = fields.field(name);
        let FieldType::Choice(words) = field.kind else { return None };
        let Kind::Text(text) = &entry.value.kind else {
            self.wrong_type(entry, field.kind);
            return None;
        };
        let word = words.iter().find(|w| **w == text.as_str()).copied();
        if word.is_none() {
            let message = format!("`{name}` must be {}, not `{text}`", field.kind.describe());
            let label = nearest(text, words.iter().copied())
                .map_or(String::new(), |near| format!("did you mean `{near}`?"));
            self.error("bad-choice", message, entry.value.defined, &label);
        }
        word
    }

    /// Fields that are understood but not acted upon must not look as if they were.
    pub fn refuse_unsupported(&mut self, fields: &FieldMap<'_>, step: Option<StepType>) {
        for (field, entry) in fields.iter() {
            let used = step.is_none_or(|step| field.is_used_by(step));
            if field.support == Support::Works || !used || !self.has_sound_type(fields, field) {
                continue;
            }
            let off = match &entry.value.kind {
                Kind::Bool(value) => !value,
                Kind::List(items) => items.is_empty(),
                Kind::Null => true,
                _ => false,
            };
            if !off {
                let message = format!("`{}` is not supported yet", field.name);
                self.error("not-supported", message, entry.key_defined, "");
            }
        }
    }

    fn has_sound_type(&mut self, fields: &FieldMap<'_>, field: &Field) -> bool {
        let before = self.problems.len();
        match field.kind {
            FieldType::Bool => drop(self.bool(fields, field.name)),
            FieldType::TextList => drop(self.text_list(fields, field.name)),
            FieldType::Text => drop(self.optional_text(fields, field.name)),
            _ => {}
        }
        self.problems.len() == before
    }
}

/// What to write instead, where the slip is a common one.
fn help_for(expected: FieldType, node: &Node) -> Option<String> {
    let Kind::Text(text) = &node.kind else { return None };
    match expected {
        FieldType::Bool => match text.to_lowercase().as_str() {
            "yes" | "on" | "true" | "y" => Some("write `true`, without quotes".to_owned()),
            "no" | "off" | "false" | "n" => Some("write `false`, without quotes".to_owned()),
            _ => None,
        },
        FieldType::Count | FieldType::Seconds if towpath_core::number(text).is_some() => {
            Some(format!("write `{text}`, without quotes"))
        }
        FieldType::TextList => Some(format!("write `[{text}]`")),
        _ => None,
    }
}
