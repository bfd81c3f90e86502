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
//! | `rule`, `new_rule`, `rule_warnings` | a rule and its key; the checks when one is created |
//! | `rule_index` | rules by tool and program |
//! | `tool_call`, `correction` | what comes in and what comes out |
//! | `correct_tool_call` | tool names, parameters of any tool, and the dispatch to `line` |
//! | `line` | a shell command line: which edits there are, which of them win, whether the result is right |
//! | `recipe` | a command that becomes a script: templates, positions, grouping |
//! | `same_outside_edits` | whether two scripts are the same outside of the edits |
//! | `rules_file`, `rule_from_dp_alias` | rules in a file that is shared; those of `dp` |
//! | `agents_md`, `starter_rules` | rules as instructions for an agent; rules to begin with |
//! | `host` | the agent programs: what their hooks are given, and what they understand as an answer |
//! | `snapshot` | the rules in one flat file, of which a hook reads only what a call may need |
//! | `hook_record` | what a hook appends to the log of calls |
//! | `command_prefix`, `escape_for_nesting`, `text_and_regex_matches` | words, quoting and searching |
//! | `mask_secrets` | recorded calls without secrets |
//! | `failure` | what failed calls have in common, and the rules that would have prevented them |
//!
//! Nothing here prints, reads a file or the environment, or asks the time.

mod agents_md;
mod check_new_rule;
mod command_prefix;
mod correct_tool_call;
mod correction;
mod escape_for_nesting;
pub mod failure;
pub mod hook_record;
pub mod host;
mod line;
pub mod mask_secrets;
mod recipe;
mod rule;
mod rule_from_dp_alias;
mod rule_index;
mod rule_warnings;
mod rules_file;
mod same_outside_edits;
pub mod snapshot;
mod starter_rules;
mod text_and_regex_matches;
mod tool_call;

pub use agents_md::{BrokenMarkers, agents_md, agents_md_lines, with_agents_md};
pub use check_new_rule::{NewRule, RuleError};
pub use correct_tool_call::correct;
pub use correction::{Applied, Correction, Denial, Edit, Rewrite};
pub use line::{Unapplied, unapplied};
pub use recipe::template::TemplateError;
pub use rule::{KindName, Rule, RuleKey, RuleKind, SHELL_PARAMETER, SHELL_TOOL, Scope, merge};
pub use rule_from_dp_alias::{DpAlias, UnknownAlias};
pub use rule_index::RuleIndex;
pub use rule_warnings::{RuleWarning, warnings};
pub use rules_file::{
    AboutRules, RuleInFile, RulesFile, RulesFormat, read_rules, write_dp_aliases, write_rules,
};
pub use starter_rules::{STARTER, StarterRule};
pub use tool_call::{DEFAULT_HOST, ShellTool, TimeoutParameter, ToolCall};
