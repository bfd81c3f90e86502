//! What every backend is: three pure functions and a fold over output lines. A backend decides
//! nothing about retries, waiting or sessions; it only speaks one program's language.

use crate::call::{Call, Exit, Invocation, Reply, Sign};
use std::fmt::Debug;

pub trait Backend: Debug + Send {
    /// The name in `--backend`.
    fn id(&self) -> &'static str;

    fn invocation(&self, call: &Call) -> Invocation;

    /// Is a variable of our own environment handed to the program?
    fn keeps(&self, variable: &str) -> bool;

    /// A fresh fold for one call's standard output, live or recorded.
    fn reader(&self) -> Box<dyn Reader>;
}

pub trait Reader: Send {
    /// The next line of standard output, with or without its newline.
    fn line(&mut self, line: &[u8]) -> Vec<Sign>;

    /// The process is gone and every line was read.
    fn end(self: Box<Self>, exit: Exit, stderr_tail: &str) -> Reply;
}
