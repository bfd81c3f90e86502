//! A failure in words.

use towpath_run::Failure;

/// Why a step failed, with all that is known of it.
pub fn failure_text(failure: &Failure) -> String {
    match failure.detail.is_empty() {
        true => failure.message.clone(),
        false => format!("{}: {}", failure.message, failure.detail),
    }
}
