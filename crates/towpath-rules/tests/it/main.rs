//! Corrections of tool calls: the cases, tables for every rule kind, and generated lines, with the
//! real bash.

#![allow(clippy::disallowed_methods, reason = "tests start bash and read files")]

mod agents_md;
mod any_line_any_rule;
mod arguments_after_rewrite;
mod classify_error_texts;
mod command_lines;
mod correction_cases;
mod dp_recipe_rules;
mod hosts;
mod masking;
mod new_rule;
mod other_commands_unchanged;
mod recipe_rules;
mod rule_scope;
mod rule_snapshot;
mod rules_as_json_and_toml;
mod rules_file;
mod seeded_random;
mod starter_rules;
mod suggest_rules;
mod support;
