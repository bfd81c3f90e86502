//! What every backend is: three pure functions, of which one is a fold over output lines. A backend
//! decides nothing about retries, waiting or sessions; it only knows one program's language.

use crate::call_and_reply::{Call, CallProgress, End, Invocation, Reply};
use crate::capabilities::Capabilities;
use crate::environment_filter;
use jiff::tz::TimeZone;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

pub trait Backend: Debug + Send + Sync {
    /// What is known of it without a call: its name, its program, what it can do.
    fn row(&self) -> &'static BackendRow;

    /// The name by which users choose it.
    fn id(&self) -> &'static str {
        self.row().id
    }

    /// How to start the program for a call. A field of the call that the row's capabilities rule
    /// out is passed over: whoever makes the call refuses it beforehand.
    fn invocation(&self, call: &Call) -> Invocation;

    /// Whether the program gets this variable of our own environment.
    fn keeps(&self, variable: &str) -> bool {
        environment_filter::keeps(variable)
    }

    /// A fresh fold for one call's standard output, live or recorded.
    fn reader(&self) -> Box<dyn Reader>;
}

pub trait Reader: Send {
    /// The next line of standard output, with or without its newline.
    fn line(&mut self, line: &[u8]) -> Vec<CallProgress>;

    /// The process is gone and every line was read.
    fn end(self: Box<Self>, end: &End<'_>) -> Reply;
}

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
