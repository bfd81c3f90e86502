//! A rule before it is stored, and what is refused.

use crate::command_prefix;
use crate::line::Flag;
use crate::recipe::template::{Template, TemplateError};
use crate::recipe::{has_certain_positions, variants};
use crate::rule::{Rule, RuleKind, Scope};
use serde::{Deserialize, Serialize};
use towpath_shell::bash;

/// What a user asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewRule {
    #[serde(flatten)]
    pub kind: RuleKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
}

/// Why a rule is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "error", rename_all = "kebab-case")]
pub enum RuleError {
    #[error("{what} is empty")]
    Empty { what: String },
    #[error("{from:?} is already what it would become")]
    SelfAlias { from: String },
    #[error("{pattern:?} is no regular expression: {reason}")]
    BadRegex { pattern: String, reason: String },
    #[error("the expression has no group {group:?}; write ${{1}}x for group 1 before an x")]
    NoGroup { group: String },
    #[error("the recipe's template is wrong: {template}")]
    BadTemplate { template: TemplateError },
    #[error("a value of the template is in a position where it has no certain spelling")]
    BadPosition,
    #[error("{text:?} must be plain words of one command, without variables or patterns")]
    NotWords { text: String },
    #[error("{text:?} is no option")]
    NotAFlag { text: String },
    #[error("{letters:?} must be letters")]
    NotLetters { letters: String },
    #[error("the script is no bash: {reason}")]
    NotBash { reason: String },
}

impl RuleError {
    /// Whether the user may create the rule in spite of it: bash may know more than we do.
    pub fn can_be_forced(&self) -> bool {
        matches!(self, RuleError::NotBash { .. })
    }
}

impl NewRule {
    /// The rule, if nothing is wrong with it. `force` accepts a recipe that is not understood.
    pub fn check(self, number: u64, created_at: String, force: bool) -> Result<Rule, RuleError> {
        self.check_kind(force)?;
        Ok(self.unchecked(number, created_at))
    }

    pub(crate) fn check_kind(&self, force: bool) -> Result<(), RuleError> {
        match check(&self.kind, self.message.as_deref()) {
            Err(error) if !(force && error.can_be_forced()) => Err(error),
            _ => Ok(()),
        }
    }

    /// The rule, which has been checked.
    pub(crate) fn unchecked(self, number: u64, created_at: String) -> Rule {
        Rule {
            number,
            kind: self.kind,
            message: self.message,
            enabled: true,
            directory: self.directory,
            scope: Scope::User,
            created_at,
            hits: 0,
        }
    }
}

fn check(kind: &RuleKind, message: Option<&str>) -> Result<(), RuleError> {
    filled("the text to look for", kind.from())?;
    match kind {
        RuleKind::ToolName { from, to, .. } => {
            filled("the tool to use instead", to)?;
            differs(from, to)
        }
        RuleKind::ToolRecipe { script, .. } => filled("the script", script),
        RuleKind::Flag { command, from, to, valued } => {
            words(command)?;
            let parsed = flag(from)?;
            if !valued.bytes().all(|b| b.is_ascii_alphabetic()) {
                return Err(RuleError::NotLetters { letters: valued.clone() });
            }
            match to.is_empty() {
                true => Ok(()),
                false if flag(to)? == parsed => Err(RuleError::SelfAlias { from: from.clone() }),
                false => Ok(()),
            }
        }
        RuleKind::Command { from, to } => {
            let from_words = words(from)?;
            filled("the command to use instead", to)?;
            bash::tokenize(to).map_err(|_| RuleError::NotWords { text: to.clone() })?;
            match command_prefix::static_words(to) == Some(from_words) {
                true => Err(RuleError::SelfAlias { from: from.clone() }),
                false => Ok(()),
            }
        }
        RuleKind::Literal { command, from, to } => {
            words(command)?;
            differs(from, to)
        }
        RuleKind::ParameterLiteral { tool, parameter, from, to } => {
            filled("the tool", tool)?;
            filled("the parameter", parameter)?;
            differs(from, to)
        }
        RuleKind::Regex { tool, parameter, from, to } => {
            filled("the tool", tool)?;
            filled("the parameter", parameter)?;
            let pattern = regex::Regex::new(from).map_err(|error| RuleError::BadRegex {
                pattern: from.clone(),
                reason: error.to_string(),
            })?;
            groups_exist(&pattern, to)
        }
        RuleKind::Recipe { from, to, template, .. } => {
            words(from)?;
            filled("the script", to)?;
            if from.trim() == to.trim() {
                return Err(RuleError::SelfAlias { from: from.clone() });
            }
            recipe(to, *template)
        }
        RuleKind::Refuse { from } => {
            words(from)?;
            filled("the message", message.unwrap_or_default())
        }
    }
}

fn filled(what: &str, text: &str) -> Result<(), RuleError> {
    match text.trim().is_empty() {
        true => Err(RuleError::Empty { what: what.to_owned() }),
        false => Ok(()),
    }
}

fn differs(from: &str, to: &str) -> Result<(), RuleError> {
    match from == to {
        true => Err(RuleError::SelfAlias { from: from.to_owned() }),
        false => Ok(()),
    }
}

fn words(text: &str) -> Result<Vec<String>, RuleError> {
    filled("the command", text)?;
    let plain = bash::tokenize(text).is_ok().then(|| command_prefix::static_words(text)).flatten();
    plain.ok_or_else(|| RuleError::NotWords { text: text.to_owned() })
}

fn flag(text: &str) -> Result<Flag, RuleError> {
    Flag::parse(text).ok_or_else(|| RuleError::NotAFlag { text: text.to_owned() })
}

fn recipe(to: &str, template: bool) -> Result<(), RuleError> {
    let template = match template {
        true => Template::parse(to).map_err(|template| RuleError::BadTemplate { template })?,
        false => Template::plain(to),
    };
    for pieces in variants(&template) {
        let certain =
            has_certain_positions(&pieces).map_err(|reason| RuleError::NotBash { reason })?;
        if !certain {
            return Err(RuleError::BadPosition);
        }
    }
    Ok(())
}

/// Whether every `$1`, `$name` and `${1}` of the replacement is a group: another one would become
/// nothing.
fn groups_exist(pattern: &regex::Regex, to: &str) -> Result<(), RuleError> {
    let mut rest = to;
    while let Some(at) = rest.find('$') {
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            rest = after;
            continue;
        }
        let inside = rest.strip_prefix('{').and_then(|text| text.split_once('}'));
        let plain = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let group = match inside {
            Some((group, _)) => group,
            None => &rest[..rest.find(plain).unwrap_or(rest.len())],
        };
        let exists = match group.parse::<usize>() {
            Ok(number) => number < pattern.captures_len(),
            Err(_) => group.is_empty() || pattern.capture_names().flatten().any(|n| n == group),
        };
        if !exists {
            return Err(RuleError::NoGroup { group: group.to_owned() });
        }
    }
    Ok(())
}
