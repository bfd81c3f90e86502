//! An alias of `dp`, as its database and its exported collections have it.

use crate::new_rule::NewRule;
use crate::recipe::template::Template;
use crate::rule::{Rule, RuleKind};
use crate::tool_call::DEFAULT_HOST;
use serde::Serialize;

/// One row. An empty string is a field that is not set.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct DpAlias {
    pub from: String,
    pub to: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tool: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub param: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub command: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub match_kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// The alias is none that we know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown kind of alias `{match_kind}`")]
pub struct UnknownAlias {
    pub match_kind: String,
}

impl DpAlias {
    /// The alias that means the same, if `dp` has one.
    pub(crate) fn of(rule: &Rule) -> Option<DpAlias> {
        let key = rule.key();
        let match_kind = match &rule.kind {
            RuleKind::ToolName { host, .. } if host == DEFAULT_HOST => "",
            RuleKind::ToolName { .. } | RuleKind::ToolRecipe { .. } | RuleKind::Refuse { .. } => {
                return None;
            }
            kind => kind.name().as_str(),
        };
        (rule.enabled && rule.directory.is_none()).then(|| DpAlias {
            from: rule.kind.from().to_owned(),
            to: rule.kind.to().to_owned(),
            tool: key.tool,
            param: key.parameter,
            command: key.command,
            match_kind: match_kind.to_owned(),
            message: rule.message.clone().unwrap_or_default(),
        })
    }

    /// The rule that means the same. It is not checked yet.
    pub fn into_rule(self) -> Result<NewRule, UnknownAlias> {
        let DpAlias { from, to, tool, param, command, match_kind, message } = self;
        let kind = match match_kind.as_str() {
            "" => RuleKind::ToolName { from, to, host: DEFAULT_HOST.to_owned() },
            "flag" => RuleKind::Flag { command, from, to, valued: String::new() },
            "command" => RuleKind::Command { from, to },
            "literal" if command.is_empty() => {
                RuleKind::ParameterLiteral { tool, parameter: param, from, to }
            }
            "literal" => RuleKind::Literal { command, from, to },
            "regex" => RuleKind::Regex { tool, parameter: param, from, to },
            // `dp` expands no template: braces that are none of ours were meant as they are.
            "recipe" => {
                let template = Template::parse(&to).is_ok();
                RuleKind::Recipe { from, to, template, timeout: None }
            }
            _ => return Err(UnknownAlias { match_kind }),
        };
        let message = (!message.is_empty()).then_some(message);
        Ok(NewRule { kind, message, directory: None })
    }
}
