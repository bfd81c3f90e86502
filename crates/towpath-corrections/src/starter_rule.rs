//! Rules to begin with, read from `starter_rules.toml`.

use crate::new_rule::NewRule;
use crate::rule::RuleKind;
use crate::tool_call::DEFAULT_HOST;
use serde::Deserialize;
use std::sync::LazyLock;

/// A rule that a user may choose.
#[derive(Debug, Deserialize)]
pub struct StarterRule {
    /// What it is chosen by.
    pub name: String,
    /// The mistake, and its near spellings.
    rules: Vec<Starter>,
    /// Written for the agent.
    pub message: String,
    /// Lines that the rules change, before and after; of a rule that refuses, before only.
    pub changed: Vec<(String, String)>,
    /// Lines that look alike and must stay.
    pub unchanged: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Starter {
    ToolName(String, String),
    Command(String, String),
    /// The command, the option and what it becomes.
    Flag(String, String, String),
    Refuse(String),
}

/// The set, in the order in which it is shown.
pub static STARTER: LazyLock<Vec<StarterRule>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct File {
        rule: Vec<StarterRule>,
    }
    let file: File =
        toml::from_str(include_str!("starter_rules.toml")).expect("a test reads the file");
    file.rule
});

impl StarterRule {
    /// The rule and those for near spellings, which can be created as they are.
    pub fn rules(&self) -> Vec<NewRule> {
        let rule = |starter: &Starter| NewRule {
            kind: starter.clone().kind(),
            message: Some(self.message.clone()),
            directory: None,
        };
        self.rules.iter().map(rule).collect()
    }
}

impl Starter {
    fn kind(self) -> RuleKind {
        match self {
            Starter::ToolName(from, to) => {
                RuleKind::ToolName { from, to, host: DEFAULT_HOST.to_owned() }
            }
            Starter::Command(from, to) => RuleKind::Command { from, to },
            Starter::Flag(command, from, to) => {
                RuleKind::Flag { command, from, to, valued: String::new() }
            }
            Starter::Refuse(from) => RuleKind::Refuse { from, option: String::new() },
        }
    }
}
