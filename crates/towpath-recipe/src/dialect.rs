//! Whose rules a recipe is read by. Recipes of `recipe-runner-rs` have fields that its program never
//! looks at, modes that are only words, agents without a file, and names that nothing sets: under its
//! name all four are warnings, under our own they are errors. Under the other names a command's last
//! line decides, under our own its first failing one.

use crate::field_table::Section;
use crate::other_words::instead_in;
use serde::{Deserialize, Serialize};
use towpath_core::Severity;
use towpath_shell::FailFast;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    #[default]
    Towpath,
    RecipeRunner,
    AgentRecipes,
}

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
    pub(crate) fn fails_on(self) -> FailFast {
        match self {
            Dialect::Towpath => FailFast::On,
            Dialect::RecipeRunner | Dialect::AgentRecipes => FailFast::Off,
        }
    }

    /// Whether a field that recipes do not have is without an effect, where others refuse it.
    pub(crate) fn never_looks_at(self, section: Section, name: &str) -> bool {
        let unread = match section {
            Section::Recipe => "unread in recipe",
            Section::Step => "unread in step",
            _ => return false,
        };
        self == Dialect::RecipeRunner && instead_in(unread, name).is_some()
    }
}
