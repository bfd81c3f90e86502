//! Jobs: the effects a run wants. A job is plain data and carries its filled script or prompt, so
//! that whoever executes it needs nothing else.

use serde::{Deserialize, Serialize};
use std::time::Duration;
use towpath_core::JobKey;
use towpath_shell::Filled;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    pub key: JobKey,
    pub work: JobWork,
    /// Relative to the run's directory, or absolute.
    pub directory: String,
    pub timeout: Option<Duration>,
    /// Variables for this job only.
    pub environment: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum JobWork {
    Bash(Filled),
    Agent { prompt: String, model: Option<String> },
}

/// What every agent prompt ends with: nobody is there to answer a question.
pub const NON_INTERACTIVE_FOOTER: &str = "Proceed autonomously. Do not ask questions.";

/// Hooks that hang must not hang the run.
pub const HOOK_TIMEOUT: Duration = Duration::from_secs(30);
