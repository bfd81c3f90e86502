//! One correction rule: what it looks for, what it writes instead, and the key that makes it unique.

use crate::line::Flag;
use serde::{Deserialize, Serialize};

/// A rule as it is stored. Its number never changes, and is never given to another rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    pub number: u64,
    #[serde(flatten)]
    pub kind: RuleKind,
    /// Why, or what to do instead. It is written for the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(default = "enabled", skip_serializing_if = "is_true")]
    pub enabled: bool,
    /// The rule is for calls in this directory and below it only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    #[serde(default, skip_serializing_if = "Scope::is_user")]
    pub scope: Scope,
    /// Milliseconds since 1970; 0 where it is not known.
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub created_ms: i64,
    /// How often it has corrected or refused a call.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hits: u64,
}

fn enabled() -> bool {
    true
}

fn is_true(value: &bool) -> bool {
    *value
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

fn is_unknown(time: &i64) -> bool {
    *time == 0
}

/// Numbers that keep their text are not seen as numbers inside of an enum with a tag.
fn seconds<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let number = Option::<serde_json::Number>::deserialize(deserializer)?;
    let seconds = |number: serde_json::Number| {
        number
            .as_u64()
            .ok_or_else(|| serde::de::Error::custom(format!("{number} is no number of seconds")))
    };
    number.map(seconds).transpose()
}

/// Where a rule comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    #[default]
    User,
    Project,
}

impl Scope {
    fn is_user(&self) -> bool {
        *self == Scope::User
    }
}

/// What a rule looks for and writes instead. `Bash` as a tool means the shell tool of any host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum RuleKind {
    /// A call of a tool that does not exist is refused, and the right tool is named.
    ToolName { from: String, to: String, host: String },
    /// A call of a tool that does not exist is refused with a script to run instead.
    ToolRecipe { from: String, script: String, host: String },
    /// One option of a command becomes another one, or is dropped where `to` is empty.
    Flag {
        /// The words that the command begins with: `scp`, `git commit`.
        command: String,
        from: String,
        to: String,
        /// Letters of the command that take a value, beside those of the table.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        valued: String,
    },
    /// The words that a command begins with become others.
    Command { from: String, to: String },
    /// Text in the words of one command.
    Literal { command: String, from: String, to: String },
    /// Text in a parameter of a tool.
    ParameterLiteral { tool: String, parameter: String, from: String, to: String },
    /// A regular expression in a parameter of a tool; `$1` and `${1}` are its groups.
    Regex { tool: String, parameter: String, from: String, to: String },
    /// A whole command, found by the words it begins with, becomes a script.
    Recipe {
        from: String,
        to: String,
        /// `{{…}}` in the script is a template.
        #[serde(default = "enabled", skip_serializing_if = "is_true")]
        template: bool,
        /// Seconds, written into the timeout of the call.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "seconds")]
        timeout: Option<u64>,
    },
    /// A command that runs these words is refused with the rule's message.
    Refuse {
        from: String,
        /// Only with one of these options, commas between them.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        option: String,
    },
}

/// The name of a kind, as rules are listed and stored by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KindName {
    ToolName,
    ToolRecipe,
    Flag,
    Command,
    Literal,
    Regex,
    Recipe,
    Refuse,
}

impl KindName {
    pub fn as_str(self) -> &'static str {
        match self {
            KindName::ToolName => "tool-name",
            KindName::ToolRecipe => "tool-recipe",
            KindName::Flag => "flag",
            KindName::Command => "command",
            KindName::Literal => "literal",
            KindName::Regex => "regex",
            KindName::Recipe => "recipe",
            KindName::Refuse => "refuse",
        }
    }
}

/// Two rules with the same key are the same rule: the later one replaces the earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RuleKey {
    pub from: String,
    pub tool: String,
    pub parameter: String,
    pub command: String,
    pub kind: KindName,
    /// Empty but for rules on tool names.
    pub host: String,
}

/// The name that means the shell tool of every host, and the name of its parameter.
pub const SHELL_TOOL: &str = "Bash";
pub const SHELL_PARAMETER: &str = "command";

impl RuleKind {
    pub fn name(&self) -> KindName {
        match self {
            RuleKind::ToolName { .. } => KindName::ToolName,
            RuleKind::ToolRecipe { .. } => KindName::ToolRecipe,
            RuleKind::Flag { .. } => KindName::Flag,
            RuleKind::Command { .. } => KindName::Command,
            RuleKind::Literal { .. } | RuleKind::ParameterLiteral { .. } => KindName::Literal,
            RuleKind::Regex { .. } => KindName::Regex,
            RuleKind::Recipe { .. } => KindName::Recipe,
            RuleKind::Refuse { .. } => KindName::Refuse,
        }
    }

    /// What the rule looks for.
    pub fn from(&self) -> &str {
        match self {
            RuleKind::ToolName { from, .. }
            | RuleKind::ToolRecipe { from, .. }
            | RuleKind::Flag { from, .. }
            | RuleKind::Command { from, .. }
            | RuleKind::Literal { from, .. }
            | RuleKind::ParameterLiteral { from, .. }
            | RuleKind::Regex { from, .. }
            | RuleKind::Recipe { from, .. }
            | RuleKind::Refuse { from, .. } => from,
        }
    }

    /// What the rule writes instead. A rule that refuses a command writes nothing.
    pub fn to(&self) -> &str {
        match self {
            RuleKind::ToolName { to, .. }
            | RuleKind::Flag { to, .. }
            | RuleKind::Command { to, .. }
            | RuleKind::Literal { to, .. }
            | RuleKind::ParameterLiteral { to, .. }
            | RuleKind::Regex { to, .. }
            | RuleKind::Recipe { to, .. } => to,
            RuleKind::ToolRecipe { script, .. } => script,
            RuleKind::Refuse { .. } => "",
        }
    }

    /// The words that a command must begin with, for the kinds that look at one command.
    pub fn command(&self) -> Option<&str> {
        match self {
            RuleKind::Flag { command, .. } | RuleKind::Literal { command, .. } => Some(command),
            RuleKind::Command { from, .. }
            | RuleKind::Recipe { from, .. }
            | RuleKind::Refuse { from, .. } => Some(from),
            RuleKind::ToolName { .. }
            | RuleKind::ToolRecipe { .. }
            | RuleKind::ParameterLiteral { .. }
            | RuleKind::Regex { .. } => None,
        }
    }

    pub fn key(&self) -> RuleKey {
        let (tool, parameter) = match self {
            RuleKind::ParameterLiteral { tool, parameter, .. }
            | RuleKind::Regex { tool, parameter, .. } => (tool.as_str(), parameter.as_str()),
            RuleKind::ToolName { .. } | RuleKind::ToolRecipe { .. } => ("", ""),
            _ => (SHELL_TOOL, SHELL_PARAMETER),
        };
        let command = match self {
            // As in the seed: the first word only, the rest is in `from`.
            RuleKind::Recipe { from, .. } | RuleKind::Refuse { from, .. } => {
                from.split_whitespace().next().unwrap_or_default()
            }
            _ => self.command().unwrap_or_default(),
        };
        let host = match self {
            RuleKind::ToolName { host, .. } | RuleKind::ToolRecipe { host, .. } => host.as_str(),
            _ => "",
        };
        RuleKey {
            from: self.one_spelling(),
            tool: tool.to_owned(),
            parameter: parameter.to_owned(),
            command: command.to_owned(),
            kind: self.name(),
            host: host.to_owned(),
        }
    }
}

impl RuleKind {
    /// What the rule looks for in one of its spellings: `r` and `-r` are the same option, and blanks
    /// between words count once.
    fn one_spelling(&self) -> String {
        let from = self.from();
        match self {
            RuleKind::Flag { .. } => Flag::parse(from).map(|flag| flag.text()),
            RuleKind::Command { .. } | RuleKind::Recipe { .. } | RuleKind::Refuse { .. } => {
                let plain = !from.contains(['\'', '"', '\\']);
                plain.then(|| from.split_whitespace().collect::<Vec<_>>().join(" "))
            }
            _ => None,
        }
        .unwrap_or_else(|| from.to_owned())
            + &self.option().map_or(String::new(), |option| format!(" {option}"))
    }

    /// The options that a refusal is limited to.
    pub fn option(&self) -> Option<&str> {
        match self {
            RuleKind::Refuse { option, .. } if !option.is_empty() => Some(option),
            _ => None,
        }
    }
}

/// The text of a recipe in a description.
pub(crate) const RECIPE: &str = "[recipe]";

impl Rule {
    pub fn key(&self) -> RuleKey {
        self.kind.key()
    }

    /// One line for the agent: what became what.
    pub fn description(&self) -> String {
        match &self.kind {
            RuleKind::Recipe { from, .. } => format!("{from} → {RECIPE}"),
            RuleKind::Flag { command, from, to, .. } => {
                let flag = |text: &str| Flag::parse(text).map_or(text.to_owned(), |f| f.text());
                let to = if to.is_empty() { "[dropped]".to_owned() } else { flag(to) };
                format!("{command} {} → {to}", flag(from))
            }
            kind => format!("{} → {}", kind.from(), kind.to()),
        }
    }
}

/// The rules of a user and of a project: a project's rule wins over the user's with the same key,
/// unless it is disabled.
pub fn merge(user: Vec<Rule>, mut project: Vec<Rule>) -> Vec<Rule> {
    project.retain(|rule| rule.enabled);
    let keys: std::collections::HashSet<RuleKey> = project.iter().map(Rule::key).collect();
    let own = user.into_iter().filter(|rule| !keys.contains(&rule.key()));
    own.chain(project).collect()
}
