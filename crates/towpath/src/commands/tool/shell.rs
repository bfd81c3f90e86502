//! `towpath tool shell`: a shell, or one command, with the tools of the project first on PATH.

use super::{CommandError, Execute, Exit};
use crate::environment::{Environment, Invocation, path_of};
use crate::session::tools_meeting_requirement::{install_of, system_program};
use crate::tools::project_tools::ProjectTools;
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use towpath_tool::project_tools::LockedTool;

/// Start a shell with the tools of the project.
///
/// The versions of the project's lock file come first on PATH, as in its runs, once you have trusted it. With
/// a command, that is run instead of your shell.
///
/// Example: towpath tool shell make test
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The command [default: your shell]
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let path = [directories(env)?, env.paths("PATH")].concat();
        let path = path_of(&path).ok_or_else(|| CommandError::setup("a directory has a colon"))?;
        let shell = env.get("SHELL").cloned().unwrap_or_else(|| "bash".into());
        let (program, arguments) = match self.command.split_first() {
            Some((program, arguments)) => (program.clone(), arguments),
            None => (shell, &[][..]),
        };
        let error = Command::new(&program).args(arguments).env("PATH", path).exec();
        Err(CommandError::setup(format!("{}: {error}", program.display())))
    }
}

/// Where the programs of the project's tools are. Those of the system are where they were.
fn directories(env: &Environment) -> Result<Vec<PathBuf>, CommandError> {
    let Some(project) = ProjectTools::find(env)? else { return Ok(Vec::new()) };
    let directory = |tool: &LockedTool| {
        let program = install_of(env, tool).and_then(|install| install.program(&tool.name));
        program.as_deref().and_then(Path::parent).map(Path::to_owned).ok_or_else(|| {
            CommandError::setup(format!("{} is not installed: towpath tool install", tool.name))
        })
    };
    let is_there = |tool: &&LockedTool| tool.is_of_system() && system_program(&tool.name).is_some();
    project.lock.tools.iter().filter(|tool| !is_there(tool)).map(directory).collect()
}
