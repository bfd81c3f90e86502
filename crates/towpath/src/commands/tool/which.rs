//! `towpath tool which`: the file behind a program of a tool, and what shadows its link on PATH.

use super::{CommandError, Execute, Exit, Invocation, json, no_program, out};
use crate::session::tools_meeting_requirement::ProgramHere;
use crate::tools::bin_directory::shadowing;
use crate::tools::tool_session::setup;
use towpath_tool::install::{InstallRecord, version_directory_name};

/// Show the file of an installed tool's program.
///
/// In a project whose lock file has the tool, that is the project's version. A program that comes earlier on
/// PATH, and would run instead, is named on standard error.
///
/// Example: towpath tool which kibi
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name of the program.
    program: String,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let (program, directories) = (&self.program, env.tools());
        let here = ProgramHere::find(env, program).ok_or_else(|| no_program(program))?;
        let link = here.file(program).ok_or_else(|| no_program(program))?;
        let file = link.canonicalize();
        let file = file.map_err(|error| setup(format_args!("{}: {error}", link.display())))?;
        let record = match &here {
            ProgramHere::Installed(tool) => Some(&tool.record),
            ProgramHere::System(_) => None,
        };
        let is_linked = |record: &&InstallRecord| {
            let own = (record.tool.clone(), version_directory_name(&record.version));
            directories.linked(program) == Some(own)
        };
        let bin = directories.bin();
        let link = record.filter(is_linked).map(|_| bin.join(program));
        let shadowed_by = link.as_ref().and_then(|_| shadowing(env, &bin, program));
        if self.json {
            out::json(&json!({
                "schema": 1,
                "program": program,
                "tool": record.map_or(program, |record| &record.tool),
                "version": record.map(|record| &record.version),
                "link": link.map(|path| path.display().to_string()),
                "file": file.display().to_string(),
                "shadowed_by": shadowed_by.map(|path| path.display().to_string()),
            }));
            return Ok(Exit::Done);
        }
        out::line(file.display().to_string());
        if let Some(other) = shadowed_by {
            out::note(format!("{} comes first on PATH", other.display()));
        }
        Ok(Exit::Done)
    }
}
