//! Values in shell text: each arrives as one piece and none of it runs. With the real bash.

mod bash_spans;
mod evaluated_twice;
mod filled_scripts_in_real_bash;
mod find_bash_commands;
mod nested_contexts;
mod nested_shells;
mod quoting_contexts;
mod random_text;
mod run_filled_text_in_bash;
mod seeded_random;
mod shell_value_cases;
mod value_as_code_warnings;
