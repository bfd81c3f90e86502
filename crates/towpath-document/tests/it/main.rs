//! Documents, evaluated with real bash.

mod any_bytes_are_read;
mod arguments_arrive_unchanged;
mod check_agrees_with_evaluation;
mod document_cases;
mod long_documents_in_one_pass;
mod meld_command_references;
mod prose_unchanged;
mod render_with_real_bash;

/// What fuzzing checks of any bytes.
#[path = "../../../../fuzz/src/document.rs"]
mod fuzz_check;
