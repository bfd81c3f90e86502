//! A rule before it is stored, and what is refused.

use crate::command_prefix;
use crate::host::Host;
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
    #[error("{host} runs no hook for a tool that does not exist, so the rule could never work")]
    NoHook { host: String },
}

impl RuleError {
    /// Whether the user may create the rule in spite of it: bash may know more than we do.
    pub fn can_be_forced(&self) -> bool {
        matches!(self, RuleError::NotBash { .. })
    }
}

impl NewRule {
    /// The rule, if nothing is wrong with it. `force` accepts a recipe that is not understood.
    pub fn check(self, number: u64, force: bool) -> Result<Rule, RuleError> {
        match self.problems(force).into_iter().next() {
            Some(error) => Err(error),
            None => Ok(self.unchecked(number)),
        }
    }

    /// Everything that is wrong with it, the worst first.
    pub(crate) fn problems(&self, force: bool) -> Vec<RuleError> {
        let mut found = check(&self.kind, self.message.as_deref());
        found.retain(|error| !(force && error.can_be_forced()));
        found
    }

    /// The rule, which has been checked.
    pub(crate) fn unchecked(self, number: u64) -> Rule {
        Rule {
            number,
            kind: self.kind,
            message: self.message,
            enabled: true,
            directory: self.directory,
            scope: Scope::User,
            created_ms: 0,
            hits: 0,
        }
    }
}

fn check(kind: &RuleKind, message: Option<&str>) -> Vec<RuleError> {
    let looked_for = filled("the text to look for", kind.from());
    let given = looked_for.is_ok();
    let mut checks = vec![looked_for];
    match kind {
        RuleKind::ToolName { from, to, host } => {
            checks.extend([filled("the tool to use instead", to), differs(from, to)]);
            checks.push(sees_unknown_tools(host));
        }
        RuleKind::ToolRecipe { script, host, .. } => {
            checks.extend([filled("the script", script), sees_unknown_tools(host)]);
        }
        RuleKind::Flag { command, from, to, valued } => {
            checks.push(words(command).map(drop));
            checks.extend(given.then(|| differing_flags(from, to)).into_iter().flatten());
            checks.push(match valued.bytes().all(|b| b.is_ascii_alphabetic()) {
                true => Ok(()),
                false => Err(RuleError::NotLetters { letters: valued.clone() }),
            });
        }
        RuleKind::Command { from, to } => checks.extend(command(from, to)),
        RuleKind::Literal { command, from, to } => {
            checks.extend([words(command).map(drop), differs(from, to)]);
        }
        RuleKind::ParameterLiteral { tool, parameter, from, to } => {
            checks.extend([filled("the tool", tool), filled("the parameter", parameter)]);
            checks.push(differs(from, to));
        }
        RuleKind::Regex { tool, parameter, from, to } => {
            checks.extend([filled("the tool", tool), filled("the parameter", parameter)]);
            checks.push(regex(from, to));
        }
        RuleKind::Recipe { from, to, template, .. } => {
            checks.extend(given.then(|| words(from).map(drop)));
            checks.push(match filled("the script", to) {
                Ok(()) if from.trim() == to.trim() => {
                    Err(RuleError::SelfAlias { from: from.clone() })
                }
                Ok(()) => recipe(to, *template),
                empty => empty,
            });
        }
        RuleKind::Refuse { from, option } => {
            checks.extend(given.then(|| words(from).map(drop)));
            let options = option.split(',').filter(|_| !option.is_empty());
            checks.extend(options.map(|option| flag(option.trim()).map(drop)));
            checks.push(filled("the message", message.unwrap_or_default()));
        }
    }
    checks.into_iter().filter_map(Result::err).collect()
}

fn differing_flags(from: &str, to: &str) -> Vec<Result<(), RuleError>> {
    let parsed = flag(from);
    let new = if to.is_empty() { None } else { Some(flag(to)) };
    let same = matches!((&parsed, &new), (Ok(old), Some(Ok(new))) if old == new);
    let mut checks = vec![parsed.map(drop)];
    checks.extend(new.map(|new| new.map(drop)));
    checks.extend(same.then(|| Err(RuleError::SelfAlias { from: from.to_owned() })));
    checks
}

fn command(from: &str, to: &str) -> Vec<Result<(), RuleError>> {
    let from_words = (!from.trim().is_empty()).then(|| words(from));
    let instead = filled("the command to use instead", to).and_then(|()| {
        let parsed = bash::tokenize(to).map(drop);
        parsed.map_err(|_| RuleError::NotWords { text: to.to_owned() })
    });
    let same = match (&from_words, &instead) {
        (Some(Ok(from)), Ok(())) => command_prefix::static_words(to).as_ref() == Some(from),
        _ => false,
    };
    let mut checks: Vec<Result<(), RuleError>> =
        from_words.map(|words| words.map(drop)).into_iter().collect();
    checks.push(instead);
    checks.extend(same.then(|| Err(RuleError::SelfAlias { from: from.to_owned() })));
    checks
}

fn regex(from: &str, to: &str) -> Result<(), RuleError> {
    let pattern = regex::Regex::new(from).map_err(|error| RuleError::BadRegex {
        pattern: from.to_owned(),
        // The lines before show where it is, for a terminal.
        reason: error.to_string().lines().last().unwrap_or_default().to_owned(),
    })?;
    groups_exist(&pattern, to)
}

fn filled(what: &str, text: &str) -> Result<(), RuleError> {
    match text.trim().is_empty() {
        true => Err(RuleError::Empty { what: what.to_owned() }),
        false => Ok(()),
    }
}

fn sees_unknown_tools(host: &str) -> Result<(), RuleError> {
    let known = Host::from_name(host).map(|host| host.capabilities().unknown_tools.is_some());
    match known {
        Some(false) => Err(RuleError::NoHook { host: host.to_owned() }),
        _ => Ok(()),
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
