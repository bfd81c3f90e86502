//! A test file of recipes, read for the commands that run it or only check it.

use crate::environment::Environment;
use crate::exit::CommandError;
use crate::terminal::shown_path::shown_path;
use std::path::Path;
use towpath_core::files;
use towpath_core::{Diagnostic, Source};
use towpath_testing::{Suite, read};

/// What it contains, and what is wrong with it.
pub fn suite(
    env: &Environment,
    path: &Path,
) -> Result<(Option<Suite>, Vec<Diagnostic>), CommandError> {
    let shown = shown_path(path, env);
    let bytes = files::read_bytes(path, files::MOST_TEXT)
        .map_err(|e| CommandError::bad_input(format!("cannot read {shown}: {e}")))?;
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(CommandError::bad_input(format!("{shown} is not UTF-8 text")));
    };
    let source = Source::new(shown, text.trim_start_matches('\u{feff}'));
    Ok(read(&source, path))
}
