//! Correction rules, applied to one call of a coding agent's tool before it runs.
//!
//! An agent types commands, flags and tool names that do not exist. A [`Rule`] knows one such mistake
//! and what to write instead. [`correct`] compares a [`ToolCall`] with the rules of a [`RuleIndex`]
//! and answers with a [`Correction`]: unchanged, another input, or a refusal.
//!
//! A correction that changes what the agent did not get wrong is worse than none. So every change is
//! a list of byte ranges on the original text ([`Edit`]); no rule sees what another one wrote; the
//! result is parsed again and must be the same outside of the edits; and what is not understood for
//! sure stays as it is.
//!
//! | module | what it has |
//! |---|---|
//! | `rule`, `new_rule`, `warnings` | a rule and its key; the checks when one is created |
//! | `index` | rules by tool and program |
//! | `call`, `correction` | what comes in and what comes out |
//! | `correct` | tool names, parameters of any tool, and the dispatch to `line` |
//! | `line` | a shell command line: which edits there are, which of them win, whether the result is right |
//! | `recipe` | a command that becomes a script: templates, positions, grouping |
//! | `outline` | whether two scripts are the same outside of the edits |
//! | `prefix`, `requote`, `text_search` | words, quoting and searching |
//!
//! Nothing here prints, reads a file or the environment, or asks the time.

mod call;
mod correct;
mod correction;
mod index;
mod line;
mod new_rule;
mod outline;
mod prefix;
mod recipe;
mod requote;
mod rule;
mod text_search;
mod warnings;

pub use call::{DEFAULT_HOST, ShellTool, TimeoutParameter, ToolCall};
pub use correct::correct;
pub use correction::{Applied, Correction, Denial, Edit, Rewrite};
pub use index::RuleIndex;
pub use new_rule::{NewRule, RuleError};
pub use recipe::template::TemplateError;
pub use rule::{KindName, Rule, RuleKey, RuleKind, SHELL_PARAMETER, SHELL_TOOL, Scope, merge};
pub use warnings::{RuleWarning, warnings};
