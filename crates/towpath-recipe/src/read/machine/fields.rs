//! The fields of a machine's maps, each with the file it is written in, and the texts in them.
//! Unknown fields are refused; `$schema` and whatever begins with `x-` is left to others.

use super::library::is_of_others;
use super::near;
use crate::field_table::{Section, fields_of, find_field};
use crate::other_words::{instead_in, instead_of};
use crate::read::Reader;
use crate::read::section::{FieldMap, Part};
use towpath_core::Span;
use towpath_core::fields::Fields;
use towpath_core::spanned_tree::Kind;

impl<'l> Reader<'l> {
    pub(super) fn machine_fields(
        &mut self,
        parts: impl Iterator<Item = Part<'l>>,
        section: Section,
        what: &str,
    ) -> FieldMap<'l> {
        let own = parts.filter(|part| !is_of_others(&part.entry.key));
        let (mut fields, unknown) = Fields::sort(own, |part| part.entry, fields_of(section));
        for part in unknown {
            let meant = instead_of(&part.entry.key, section).and_then(|instead| instead.field);
            let meant = meant.and_then(|name| find_field(section, name)).map(|field| field.name);
            if let Some(meant) = meant {
                fields.mean(meant);
            }
            self.within(part, |reader| reader.unknown(part, section, what, meant));
        }
        fields
    }

    /// Reports the required fields that are missing at a span of the file that is being read. What
    /// begins the message names the map.
    pub(super) fn missing_fields(&mut self, fields: &FieldMap<'l>, begin: &str, span: Span) {
        for (name, code) in fields.missing() {
            let message = format!("{begin}missing required field '{name}'");
            self.error(code, message, span, "");
        }
    }

    fn unknown(&mut self, part: Part<'l>, section: Section, what: &str, meant: Option<&str>) {
        let key = &part.entry.key;
        let elsewhere = Section::OF_MACHINES
            .into_iter()
            .find(|other| *other != section && find_field(*other, key).is_some());
        let belongs = match elsewhere {
            Some(Section::Machine) => Some("this belongs to the recipe itself"),
            Some(Section::Guardrails) => Some("this belongs under 'guardrails'"),
            Some(Section::MachineStep) => Some("this belongs to a step"),
            Some(Section::Transition) => Some("this belongs to a transition"),
            _ => None,
        };
        let own = match section {
            Section::Machine => instead_in("machine", key),
            Section::MachineStep => instead_in("machine step", key),
            _ => None,
        };
        let label = match (belongs, own, meant) {
            (Some(belongs), ..) => belongs.to_owned(),
            (None, Some(own), _) => own.label(),
            (None, None, Some(meant)) => format!("did you mean '{meant}'?"),
            (None, None, None) => near(key, fields_of(section).map(|field| field.name)),
        };
        let message = format!("Unknown field '{key}' in {what}");
        self.error("unknown-field", message, part.entry.key_defined, &label);
    }

    /// A string that must not be empty, with its span.
    pub(super) fn non_empty_text(
        &mut self,
        fields: &FieldMap<'l>,
        name: &str,
    ) -> Option<(String, Span)> {
        let node = &fields.get(name)?.entry.value;
        match &node.kind {
            Kind::Text(text) if text.trim().is_empty() => {
                let message = format!("'{name}' must not be empty");
                self.error("empty-field", message, node.defined, "");
                None
            }
            Kind::Text(text) => Some((text.clone(), node.defined)),
            _ => {
                let is = node.describe();
                let message = format!("'{name}' must be a string, this is {is}");
                self.error("wrong-type", message, node.defined, "");
                None
            }
        }
    }
}
