//! Paths as users read them.

use crate::environment::Environment;
use std::path::Path;
use towpath_view::foreign_text::escaped;

/// A path for people: escaped where it is no text, short where it is below what they know.
pub fn shown_path(path: &Path, env: &Environment) -> String {
    if let Ok(below) = path.strip_prefix(&env.current) {
        let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
        return escaped(below);
    }
    match env.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(below) if below.as_os_str().is_empty() => "~".to_owned(),
        Some(below) => format!("~/{}", escaped(below)),
        None => escaped(path),
    }
}
