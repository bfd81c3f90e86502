//! Corrections of what coding agents call: the rules, the hooks that apply them, what was recorded, and
//! what can be learned from it.
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
//! | `rules_file`, `dp_alias` | rules in a file that is shared; those of `dp` |
//! | `agents_md`, `starter_rule` | rules as instructions for an agent; rules to begin with |
//! | `host` | the agent programs: what their hooks are given, and what they understand as an answer |
//! | `snapshot` | the rules in one flat file, of which a hook reads only what a call may need |
//! | `command_prefix`, `escape_for_nesting`, `text_matches` | words, quoting and searching |
//! | `mask_secrets` | recorded calls without secrets |
//! | `failure` | what failed calls have in common, and the rules that would have prevented them |
//! | `user` | what must be known of the user, whose environment the binary reads |
//! | `hook` | one call of a hook: answered, recorded, compared with what ran |
//! | `hook_rules`, `stamped_file` | the rules for a call, from the snapshot where it is current |
//! | `hook_log`, `session_lines`, `host_state`, `hooks_directory` | the files that hooks keep |
//! | `rule_book`, `project_rules`, `active_rules`, `imported_rules` | rules in the journal and in files |
//! | `install` | our hooks in the settings of the agent programs |
//!
//! Nothing here prints or reads the environment. What decides a correction reads no file and asks no
//! time: `clippy.toml` refuses that to all but the modules that are excepted below.

mod active_rules;
mod agents_md;
mod command_prefix;
mod correct_tool_call;
mod correction;
mod dp_alias;
mod error;
mod escape_for_nesting;
pub mod failure;
pub mod hook;
#[allow(clippy::disallowed_methods)]
pub mod hook_log;
#[allow(clippy::disallowed_methods)]
pub mod hook_rules;
pub mod hooks_directory;
pub mod host;
#[allow(clippy::disallowed_methods)]
pub mod host_state;
mod imported_rules;
pub mod install;
mod line;
pub mod masking;
mod new_rule;
mod project_rules;
mod recipe;
mod resolved;
mod rule;
mod rule_book;
mod rule_index;
mod rule_warning;
mod rules_file;
mod same_outside_edits;
#[allow(clippy::disallowed_methods)]
mod session_lines;
pub mod snapshot;
#[allow(clippy::disallowed_methods)]
pub mod stamped_file;
mod starter_rule;
mod text_matches;
mod tool_call;
mod user;

pub use active_rules::{ActiveRules, pause};
pub use agents_md::{BrokenMarkers, agents_md, agents_md_lines, with_agents_md};
pub use correct_tool_call::correct;
pub use correction::{Applied, Correction, Denial, Edit, Rewrite};
pub use dp_alias::{DpAlias, UnknownAlias};
pub use error::Error;
pub use imported_rules::ImportedRules;
pub use line::{Unapplied, unapplied};
pub use new_rule::{NewRule, RuleError};
pub use project_rules::{FileTrust, ProjectRules, RULES_FILE};
pub use recipe::template::TemplateError;
pub use resolved::{resolved, with_resolved_directories};
pub use rule::{KindName, Rule, RuleKey, RuleKind, SHELL_PARAMETER, SHELL_TOOL, Scope, merge};
pub use rule_book::{RuleBook, key_text, user_rules};
pub use rule_index::RuleIndex;
pub use rule_warning::{RuleWarning, warnings};
pub use rules_file::edit::{EditError, with_rule};
pub use rules_file::{
    AboutRules, RuleInFile, RulesFile, RulesFormat, read_rules, write_dp_aliases, write_rules,
};
pub use starter_rule::{STARTER, StarterRule};
pub use tool_call::{DEFAULT_HOST, ShellTool, TimeoutParameter, ToolCall};
pub use user::{HookSettings, User};

/// Milliseconds since 1970.
fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
