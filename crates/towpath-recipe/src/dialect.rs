//! Whose rules a recipe is read by. Recipes of `recipe-runner-rs` have fields that its program never
//! looks at, modes that are only words, agents without a file, and names that nothing sets: under its
//! name all four are warnings, under our own they are errors. Under the other names a command's last
//! line decides, under our own its first failing one.

use crate::field_table::Section;
use crate::recipe::FailFast;
use serde::{Deserialize, Serialize};
use towpath_core::{Diagnostic, Severity};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    #[default]
    Towpath,
    RecipeRunner,
    AgentRecipes,
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
            Dialect::Towpath | Dialect::AgentRecipes => Severity::Error,
            Dialect::RecipeRunner => Severity::Warning,
        }
    }

    /// Which failures end a command where the recipe does not state it.
    pub(crate) fn fail_fast(self) -> FailFast {
        match self {
            Dialect::Towpath => FailFast::On,
            Dialect::RecipeRunner | Dialect::AgentRecipes => FailFast::Off,
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
