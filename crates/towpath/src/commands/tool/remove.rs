//! `towpath tool remove`: an installed tool, its links first.

use super::results::Results;
use super::{CommandError, Execute, Exit, Invocation, json, out};
use crate::tools::tool_session::setup;
use towpath_tool::check_tool_name;
use towpath_tool::install::{InstalledTools, version_directory_name};
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
        let directories = env.tools();
        let mut results = Results::new(self.json);
        for text in &self.tools {
            let (name, version) = SourceRef::split_version(text);
            check_tool_name(name).map_err(CommandError::bad_input)?;
            let waiting = || out::note(format!("waiting for an install of {name}"));
            let _lock = directories.lock(name, waiting).map_err(setup)?;
            let found = InstalledTools::of(&directories, name).map_err(setup)?;
            let is_meant = |(_, found): &(&str, &str)| {
                let same =
                    |version| version_directory_name(version) == version_directory_name(found);
                version.is_none_or(same)
            };
            let found: Vec<&str> = found.names().filter(is_meant).map(|(_, found)| found).collect();
            let Some(first) = found.first() else {
                let version = version.map_or(String::new(), |version| format!(" {version}"));
                return Err(CommandError::not_found(format!("{name}{version} is not installed")));
            };
            if found.len() > 1 && !self.all {
                let listed = found.join(", ");
                return Err(CommandError::bad_input(format!(
                    "{name} has the versions {listed}: name one as {name}@{first}, or use --all"
                )));
            }
            for version in found {
                let next = directories.remove(name, version).map_err(setup)?;
                let next = next.map(|next| next.record.version);
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
