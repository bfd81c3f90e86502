//! The row of a backend: what is known about it before one of its calls is made.

use crate::backend::Backend;
use crate::capabilities::Capabilities;
use jiff::tz::TimeZone;
use std::path::PathBuf;
use std::sync::Arc;

/// Makes a backend from its program. The time zone is the one the program runs in: some report
/// a time of day only.
pub type Make = fn(program: PathBuf, zone: TimeZone) -> Arc<dyn Backend>;

/// What is known about a backend before one of its calls is made.
#[derive(Debug, Clone, Copy)]
pub struct BackendRow {
    /// The name by which users choose it.
    pub id: &'static str,
    /// As users know it: `Claude Code`.
    pub title: &'static str,
    /// Names looked for on `PATH`, best first.
    pub programs: &'static [&'static str],
    /// The environment variable that names the program.
    pub variable: Option<&'static str>,
    /// Where installers put it when it is not on `PATH`; `~/` is the home directory.
    pub known: &'static [&'static str],
    /// The variable by which a user names the program's own model.
    pub model_variable: Option<&'static str>,
    /// The command that installs it.
    pub install: &'static str,
    /// What a user types before a session's id to continue its conversation by hand.
    pub by_hand: Option<&'static str>,
    pub can: Capabilities,
    /// `None` for a backend that is made for each call.
    pub make: Option<Make>,
}

impl BackendRow {
    /// The command that continues a session by hand: `claude --resume ID`.
    pub fn by_hand(&self, session: &str) -> Option<String> {
        Some(format!("{}{session}", self.by_hand?))
    }
}
