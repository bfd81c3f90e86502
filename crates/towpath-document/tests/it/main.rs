//! Documents, evaluated with real bash.

mod any_text;
mod argument_values;
mod cases;
mod check_before_running;
mod long_texts;
mod plan_of_meld;
mod prose_unchanged;
mod support;

/// What fuzzing checks of any bytes.
#[path = "../../../../fuzz/src/document.rs"]
mod fuzz_check;
