//! An alias of `dp`, as its database and its exported collections have it.

use crate::check_new_rule::NewRule;
use crate::rule::RuleKind;
use crate::tool_call::DEFAULT_HOST;

/// One row. An empty string is a field that is not set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DpAlias {
    pub from: String,
    pub to: String,
    pub tool: String,
    pub param: String,
    pub command: String,
    pub match_kind: String,
    pub message: String,
}

/// The alias is none that we know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown kind of alias `{match_kind}`")]
pub struct UnknownAlias {
    pub match_kind: String,
}

impl DpAlias {
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
            "recipe" => RuleKind::Recipe { from, to, template: true, timeout: None },
            _ => return Err(UnknownAlias { match_kind }),
        };
        let message = (!message.is_empty()).then_some(message);
        Ok(NewRule { kind, message, directory: None })
    }
}
