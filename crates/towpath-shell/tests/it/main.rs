//! Values in shell text: each arrives as one piece and none of it runs. With the real bash.

mod bash_spans;
mod bash_tree;
mod evaluated_twice;
mod filled_scripts_in_real_bash;
mod nested_contexts;
mod nested_shells;
mod quoting_contexts;
mod random_text;
mod support;
mod value_cases;
mod warnings;
