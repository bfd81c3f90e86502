//! Rules in a file, TOML or JSON, that a team shares and a user writes by hand.
//!
//! ```toml
//! [[rule]]
//! kind = "flag"
//! command = "git push"
//! from = "--force"
//! to = "--force-with-lease"
//! message = "keep what others pushed"
//!
//! [[rule]]
//! kind = "recipe"
//! from = "gt await-signal"
//! to = '''
//! while ! gt mol status | grep -q signaled; do
//!   sleep 5
//! done'''
//! ```
//!
//! Each kind has its own keys ([`RuleKind`] describes them); any rule may have `message`, `directory`
//! and `enabled`. A rule that could not be created is refused here too, with its location, and all
//! problems of a file are reported at once. Numbers, dates and hits are a user's own: a file has none.

mod dp_collection;
pub mod edit;
mod keys;
mod read;
mod write;

pub use read::read_rules;
pub use write::{write_dp_aliases, write_rules};

use crate::new_rule::NewRule;
use crate::rule::Rule;
use towpath_core::Span;

/// How a file of rules is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RulesFormat {
    Toml,
    Json,
}

impl RulesFormat {
    /// By the ending of a file's name; TOML where it is another one.
    pub fn of_name(name: &str) -> RulesFormat {
        let json = name.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case("json"));
        if json { RulesFormat::Json } else { RulesFormat::Toml }
    }
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RulesFile {
    pub about: AboutRules,
    pub rules: Vec<RuleInFile>,
}

/// What a file describes of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct AboutRules {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
}

/// One rule of a file. It has passed the checks of [`NewRule::check`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleInFile {
    pub rule: NewRule,
    pub enabled: bool,
    /// The script is accepted although it is not understood as bash.
    pub force: bool,
    /// Where the rule is written.
    pub span: Span,
}

impl RuleInFile {
    /// The rule without what only its owner can give it.
    pub fn into_rule(self) -> Rule {
        Rule { enabled: self.enabled, ..self.rule.unchecked(0) }
    }
}
