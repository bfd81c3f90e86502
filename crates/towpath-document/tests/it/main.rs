//! Documents, evaluated with real bash.

mod any_text;
mod arguments_arrive_unchanged;
mod check_agrees_with_evaluation;
mod document_cases;
mod long_texts;
mod meld_command_references;
mod prose_unchanged;
mod support;

/// What fuzzing checks of any bytes.
#[path = "../../../../fuzz/src/document.rs"]
mod fuzz_check;
