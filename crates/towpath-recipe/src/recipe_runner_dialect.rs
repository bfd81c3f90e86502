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

/// Fields without an effect in `recipe-runner-rs`.
const DEAD_FIELDS: &[(Section, &str)] = &[
    (Section::Recipe, "output"),
    (Section::Recipe, "metadata"),
    (Section::Recipe, "parameters"),
    (Section::Step, "sub_context"),
    (Section::Step, "name"),
    (Section::Step, "description"),
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
        match self == Dialect::RecipeRunner && DEAD_FIELDS.contains(&(section, name)) {
            true => Diagnostic {
                severity: Severity::Warning,
                message: format!("`{name}` has no effect"),
                ..problem
            },
            false => problem,
        }
    }
}
