//! `towpath tool run`: a program of an installed tool, in the version of the project.

use super::{CommandError, Execute, Exit, Invocation, no_program};
use crate::session::tools_meeting_requirement::ProgramHere;
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Run a program of an installed tool.
///
/// In a project whose lock file has the tool, that version is run, else the one that you use, else the
/// newest. Programs that are not linked can be run, too.
///
/// Example: towpath tool run prettier --check .
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name of the program.
    program: String,
    /// Its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let program = &self.program;
        let found = ProgramHere::find(env, program).and_then(|here| here.file(program));
        let file = found.ok_or_else(|| no_program(program))?;
        let error = Command::new(&file).arg0(program).args(&self.arguments).exec();
        Err(CommandError::setup(format!("{}: {error}", file.display())))
    }
}
