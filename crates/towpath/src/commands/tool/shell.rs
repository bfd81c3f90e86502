//! `towpath tool shell`: a shell, or one command, with the tools of the project first on PATH.

use super::{CommandError, Execute, Exit};
use crate::environment::{Environment, Invocation, path_of};
use crate::session::tools_meeting_requirement::{InstalledVersion, locked_tools};
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use towpath_tool::project_tools::LockedTool;

/// Start a shell with the tools of the project.
///
/// The versions of the project's lock file come first on PATH, as in its runs. With a command, that is run
/// instead of your shell.
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

/// Where the programs of the project's tools are.
fn directories(env: &Environment) -> Result<Vec<PathBuf>, CommandError> {
    let directory = |(tool, install): (LockedTool, Option<InstalledVersion>)| {
        let program = install.and_then(|install| install.program(&tool.name));
        program.as_deref().and_then(Path::parent).map(Path::to_owned).ok_or_else(|| {
            CommandError::setup(format!("{} is not installed: towpath tool install", tool.name))
        })
    };
    locked_tools(env).into_iter().map(directory).collect()
}
