//! What the engine is given from outside, since it looks at nothing by itself.

use crate::chosen_agents::Agents;
use crate::model_names::Models;
use crate::substitute_commands::Substitutes;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use towpath_core::Secrets;
use towpath_executor::{Adapter, DirectoryVariables, Script, WardenStart};
use towpath_run::Limits;

/// What a run on this machine needs.
#[derive(Debug)]
pub struct Config {
    /// Where steps run: absolute.
    pub directory: PathBuf,
    /// The complete environment of the children.
    pub environment: Vec<(OsString, OsString)>,
    pub bash: PathBuf,
    pub agents: Agents,
    /// What models' names mean to the backend.
    pub models: Models,
    /// What agents get beside `environment`.
    pub directory_variables: DirectoryVariables,
    /// Asked before `agents` and bash.
    pub adapter: Option<Arc<dyn Adapter>>,
    pub limits: Limits,
    /// Masked in all that comes out of the children, before it is stored, shown or a value.
    pub secrets: Secrets,
    /// How long a command or an agent may print nothing.
    pub idle_timeout: Option<Duration>,
    /// How long a child may take to end after TERM.
    pub grace: Duration,
    pub warden: WardenStart,
    pub substitutes: Substitutes,
}

/// What the loop itself needs, whoever runs the jobs.
#[derive(Debug, Default)]
pub struct DriverConfig {
    /// Where steps run: absolute.
    pub directory: PathBuf,
    /// What answers agent steps, where that is a script.
    pub script: Option<Script>,
    /// It replaces another script that the run began with.
    pub script_replaced: bool,
    /// What models' names mean to the backend.
    pub models: Models,
    /// Masked in everything that is recorded.
    pub secrets: Secrets,
    /// How long a command or an agent may print nothing.
    pub idle_timeout: Option<Duration>,
    pub substitutes: Substitutes,
}

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
