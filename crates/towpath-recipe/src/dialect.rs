//! Whose rules a recipe is read by. Recipes of `recipe-runner-rs` have fields that its program never
//! looks at, modes that are only words, and agents without a file: under its name all three are
//! warnings, under our own they are errors. What a recipe that has none of them does is the same.

use crate::field_table::Section;
use serde::{Deserialize, Serialize};
use towpath_core::{Diagnostic, Severity};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    #[default]
    Towpath,
    RecipeRunner,
}

/// A field without an effect in `recipe-runner-rs`.
struct DeadField {
    section: Section,
    name: &'static str,
    /// The field that its author probably meant.
    meant: Option<&'static str>,
}

const fn dead(section: Section, name: &'static str, meant: Option<&'static str>) -> DeadField {
    DeadField { section, name, meant }
}

const DEAD_FIELDS: &[DeadField] = &[
    dead(Section::Recipe, "output", None),
    dead(Section::Recipe, "metadata", None),
    dead(Section::Recipe, "parameters", Some("context")),
    dead(Section::Step, "sub_context", Some("context")),
    dead(Section::Step, "name", None),
    dead(Section::Step, "description", None),
];

impl Dialect {
    pub fn is_towpath(&self) -> bool {
        *self == Dialect::Towpath
    }

    /// The severity of what only our own rules refuse.
    pub fn severity(self) -> Severity {
        match self {
            Dialect::Towpath => Severity::Error,
            Dialect::RecipeRunner => Severity::Warning,
        }
    }

    /// The problem of an unknown field, as this dialect sees it.
    pub(crate) fn unknown_field(
        self,
        section: Section,
        name: &str,
        problem: Diagnostic,
    ) -> Diagnostic {
        match (self, dead_field(section, name)) {
            (Dialect::RecipeRunner, Some(_)) => Diagnostic {
                severity: Severity::Warning,
                message: format!("`{name}` has no effect"),
                ..problem
            },
            _ => problem,
        }
    }
}

/// What to write instead of a field that never had an effect.
pub(crate) fn meant_field(section: Section, name: &str) -> Option<String> {
    let meant = dead_field(section, name)?.meant?;
    Some(format!("did you mean `{meant}`?"))
}

fn dead_field(section: Section, name: &str) -> Option<&'static DeadField> {
    DEAD_FIELDS.iter().find(|field| field.section == section && field.name == name)
}
