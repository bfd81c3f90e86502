//! `towpath tool which`: the file behind a program of an installed tool, and what shadows it on PATH.

use super::{CommandError, Execute, Exit, Invocation, json, no_program, out};
use crate::tools::bin_directory::shadowing;
use crate::tools::tool_session::{directories, setup};
use towpath_tool::install::{BinEntry, BinLinks};

/// Show the file of an installed tool's program.
///
/// A program that comes earlier on PATH, and would run instead, is named on standard error.
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
        let directories = directories(env);
        let links = BinLinks::new(&directories);
        let program = &self.program;
        let entry = if program.contains('/') { BinEntry::Free } else { links.entry(program) };
        let BinEntry::Tool { tool, version } = entry else {
            return Err(no_program(program));
        };
        let link = links.path(program);
        let file = link.canonicalize();
        let file = file.map_err(|error| setup(format_args!("{}: {error}", link.display())))?;
        let shadowed_by = shadowing(env, &directories.bin(), program);
        if self.json {
            out::json(&json!({
                "schema": 1,
                "program": program,
                "tool": tool,
                "version": version,
                "link": link.display().to_string(),
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
