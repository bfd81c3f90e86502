//! The fields of a machine's maps, each with the file it is written in, and the texts in them.
//! Unknown fields are refused; `$schema` and whatever begins with `x-` is left to others.

use super::compose::Part;
use super::library::is_of_others;
use super::{MachineReader, near};
use crate::field_table::{Field, Section, fields_of, find_field};
use crate::fields_of_other_tools::instead_of;
use crate::read::section::FieldMap;
use towpath_core::Span;
use towpath_core::fields::Fields;
use towpath_core::spanned_tree::Kind;

/// The known fields of one map, each with its file.
pub(super) type MachineFields<'l> = Fields<Field, Part<'l>>;

/// The same fields for what reads values of step recipes too.
pub(super) fn plain<'l>(fields: &MachineFields<'l>) -> FieldMap<'l> {
    fields.map(|part| part.entry)
}

/// Fields of a step recipe that choose which steps run.
const NOT_IN_MACHINES: [&str; 7] =
    ["condition", "if", "when", "unless", "parallel_group", "goto", "next"];

/// Fields of other tools that try a step again.
const TRIED_AGAIN: [&str; 5] = ["retry", "retries", "max_retries", "attempts", "max_attempts"];

/// The field of a machine's step that does what a field of another tool does.
fn foreign(name: &str, section: Section) -> Option<&'static str> {
    let meant = instead_of(name, section)?.field()?;
    find_field(section, meant).map(|field| field.name)
}

impl<'l> MachineReader<'_, 'l> {
    pub(super) fn fields(
        &mut self,
        parts: impl Iterator<Item = Part<'l>>,
        section: Section,
        what: &str,
    ) -> MachineFields<'l> {
        let own = parts.filter(|part| !is_of_others(&part.entry.key));
        let (mut fields, unknown) = Fields::sort(own, |part| part.entry, fields_of(section));
        for part in unknown {
            if let Some(meant) = foreign(&part.entry.key, section) {
                fields.mean(meant);
            }
            self.within(part, |read| read.unknown(part, section, what));
        }
        fields
    }

    /// Reports the required fields that are missing at a span of the file that is being read. What
    /// begins the message names the map.
    pub(super) fn missing(&mut self, fields: &MachineFields<'l>, begin: &str, span: Span) {
        for (name, code) in fields.missing() {
            let message = format!("{begin}missing required field '{name}'");
            self.error(code, message, span, "");
        }
    }

    fn unknown(&mut self, part: Part<'l>, section: Section, what: &str) {
        let key = &part.entry.key;
        let elsewhere = Section::OF_MACHINES
            .into_iter()
            .find(|other| *other != section && find_field(*other, key).is_some());
        let label = match (near(key, fields_of(section).map(|f| f.name)), elsewhere) {
            (_, Some(Section::Machine)) => "this belongs to the recipe itself".to_owned(),
            (_, Some(Section::Guardrails)) => "this belongs under 'guardrails'".to_owned(),
            (_, Some(Section::MachineStep)) => "this belongs to a step".to_owned(),
            (_, Some(Section::Transition)) => "this belongs to a transition".to_owned(),
            _ if section == Section::Machine && key == "name" => {
                "steps as a map make a machine, which has an 'id'; a step recipe has a list"
                    .to_owned()
            }
            _ if section == Section::MachineStep && NOT_IN_MACHINES.contains(&key.as_str()) => {
                "a state machine has none: the outcome of a step chooses the next one, under 'onOutcome'"
                    .to_owned()
            }
            _ if section == Section::MachineStep && TRIED_AGAIN.contains(&key.as_str()) => {
                "let an outcome lead back to the step: `nextStep`; `maxStepVisits` bounds how often"
                    .to_owned()
            }
            (near, _) => match foreign(key, section) {
                Some(meant) => format!("did you mean '{meant}'?"),
                None => near,
            },
        };
        let message = format!("Unknown field '{key}' in {what}");
        self.error("unknown-field", message, part.entry.key_defined, &label);
    }

    /// A string that must not be empty, with its span.
    pub(super) fn non_empty_text(
        &mut self,
        fields: &MachineFields<'l>,
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
