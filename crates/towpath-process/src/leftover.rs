//! A process that outlived its job or its run, described for the user.

use serde::{Deserialize, Serialize};

/// A process that lives, or lived, beside the job it came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftover {
    pub pid: u32,
    /// The command line, cut, on one line, without control characters.
    pub command: String,
    /// The text of the job it came from, where its environment has it.
    pub job: Option<String>,
}
