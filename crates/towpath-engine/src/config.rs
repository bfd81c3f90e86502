//! What the engine is given from outside, since it looks at nothing by itself.

use crate::agents::Agents;
use crate::models::Models;
use crate::substitutes::Substitutes;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use towpath_core::Secrets;
use towpath_executor::{Adapter, DirectoryVariables, Script, TerminalText, WardenStart};
use towpath_run::Limits;

/// How long processes have between TERM and KILL.
pub const GRACE: Duration = Duration::from_secs(5);

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
    /// How long a child may take to end after TERM: [`GRACE`], unless an embedder chooses otherwise.
    pub grace: Duration,
    pub warden: WardenStart,
    /// What the warden writes to a terminal if this process is killed.
    pub text_if_killed: Option<TerminalText>,
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
