//! The options of a run that are stored with its plan, for a resume.

use crate::required_programs::MetRequirements;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use towpath_executor::Confinement;

/// What a run was started with and a resume continues with. Stored beside the plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Options {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// The scripted agent's file, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// Where calls are noted, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<String>,
    /// The environment variables whose values are masked. Their values are never stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// The agent's program, where the user named one: absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The recipe was found in the working tree, so that its text needs consent.
    #[serde(default)]
    pub found: bool,
    /// How long a command or an agent may print nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<Duration>,
    /// The git worktree that the run was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<Worktree>,
    /// The programs that meet what the plan requires.
    #[serde(default, skip_serializing_if = "MetRequirements::is_empty")]
    pub requirements: MetRequirements,
    /// How the sandboxed steps are confined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Confinement>,
}

/// A git worktree for one run, as it was when the run began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    pub path: String,
    pub branch: String,
    /// The commit that the branch was at.
    pub base: String,
    /// Where its repository can be asked about it.
    pub repository: String,
    /// Worktree and branch were made for this run.
    pub made: bool,
}
