//! `towpath tool remove`: an installed tool, its links first.

use super::results::{Results, versions};
use super::{CommandError, Execute, Exit, Invocation, json, out};
use crate::tools::tool_session::{directories, installed_tools, setup};
use towpath_tool::check_tool_name;
use towpath_tool::install::{InstallLock, InstalledTools};
use towpath_tool::sources::SourceRef;

/// Remove an installed tool.
///
/// Its recipe and what was downloaded for it stay. If another version is left, it is used from then on.
///
/// Example: towpath tool remove kibi@0.2.2
#[derive(Debug, clap::Args)]
pub struct Args {
    /// NAME, or NAME@VERSION for one of several versions.
    #[arg(required = true)]
    tools: Vec<String>,
    /// Remove all versions.
    #[arg(long)]
    all: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let directories = directories(env);
        let mut results = Results::new(self.json);
        for text in &self.tools {
            let (name, version) = SourceRef::split_version(text);
            check_tool_name(name).map_err(CommandError::bad_input)?;
            let mut waiting = || out::note(format!("waiting for an install of {name}"));
            let _lock = InstallLock::take(&directories, name, &mut waiting).map_err(setup)?;
            let found = versions(&installed_tools(&directories)?, name, version)?;
            if found.len() > 1 && !self.all {
                let found: Vec<&str> = found.iter().map(|tool| &*tool.record.version).collect();
                let (listed, first) = (found.join(", "), found[0]);
                return Err(CommandError::bad_input(format!(
                    "{name} has the versions {listed}: name one as {name}@{first}, or use --all"
                )));
            }
            for tool in found {
                let next = InstalledTools::new(&directories).remove(&tool).map_err(setup)?;
                let next = next.map(|next| next.record.version);
                let version = &tool.record.version;
                let row = json!({ "tool": name, "version": version, "now_in_use": next });
                results.add(row, Exit::Done, || {
                    let next = next.map_or(String::new(), |v| format!("; {v} is used now"));
                    out::line(format!("removed {name} {version}{next}"));
                });
            }
        }
        Ok(results.end("removed"))
    }
}
