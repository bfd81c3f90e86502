//! Corrections of tool calls: the cases, tables for every rule kind, and generated lines, with the
//! real bash.

#![allow(clippy::disallowed_methods, reason = "tests start bash and read files")]

mod agents_md;
mod any_line_any_rule;
mod arguments_after_rewrite;
mod classify_error_texts;
mod correction_cases;
mod dp_recipe_rules;
mod other_commands_unchanged;
mod payloads_and_answers_by_host;
mod recipe_rules;
mod refused_and_warned_new_rules;
mod refused_commands;
mod rule_kinds_on_command_lines;
mod rule_scope;
mod rule_snapshot;
mod rules_as_json_and_toml;
mod rules_file;
mod secrets_masked_in_recorded_calls;
mod seeded_random;
mod starter_rules;
mod suggest_rules;
mod support;
