//! The backends: a folder and a row each. A new one is named below and nowhere else.

mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod opencode;
mod scripted;

use crate::backend_row::BackendRow;
use towpath_core::nearest;

pub use scripted::{Script, ScriptError, ScriptLine};

/// One row per backend.
macro_rules! backends {
    ($($module:ident::$backend:ident),+ $(,)?) => {
        $(pub use $module::$backend;)+
        pub const BACKENDS: &[BackendRow] = &[$($module::ROW),+];
    };
}

backends! {
    claude_code::ClaudeCode,
    copilot::Copilot,
    cursor::Cursor,
    opencode::OpenCode,
    codex::Codex,
    gemini::Gemini,
    scripted::Scripted,
}

/// The backend of this id, or the one whose program has this name.
pub fn backend_row(name: &str) -> Option<&'static BackendRow> {
    let by_id = BACKENDS.iter().find(|row| row.id == name);
    by_id.or_else(|| BACKENDS.iter().find(|row| row.programs.contains(&name)))
}

/// The backend that was probably meant, or all of them.
pub fn backend_hint(name: &str) -> String {
    let known: Vec<&str> = BACKENDS.iter().map(|row| row.id).collect();
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("one of {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::TimeZone;

    #[test]
    fn a_row_makes_the_backend_of_its_name() {
        for row in BACKENDS {
            assert_eq!(backend_row(row.id).map(|r| r.title), Some(row.title));
            assert!(!row.programs.is_empty() && !row.install.is_empty(), "{}", row.id);
            if let Some(make) = row.make {
                assert_eq!(make("/bin/agent".into(), TimeZone::UTC).id(), row.id);
            }
        }
        assert!(backend_row("nobody").is_none());
        for (name, id) in [("claude", "claude-code"), ("copilot", "github-copilot")] {
            assert_eq!(backend_row(name).map(|row| row.id), Some(id));
        }
    }
}
