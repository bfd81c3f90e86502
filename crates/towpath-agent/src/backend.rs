//! What every backend is: three pure functions, of which one is a fold over output lines. A backend
//! decides nothing about retries, waiting or sessions; it only knows one program's language.

use crate::backend_row::BackendRow;
use crate::call::Call;
use crate::call_progress::CallProgress;
use crate::environment_filter;
use crate::invocation::Invocation;
use crate::program_exit::End;
use crate::reply::Reply;
use std::fmt::Debug;

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
