//! `towpath tool remove`: an installed tool, its links first.

use super::super::Execute;
use crate::environment::Invocation;
use crate::exit_codes_and_errors::{CommandError, ErrorKind, Exit};
use crate::terminal::out;
use crate::tools::tool_session::directories;
use serde_json::json;
use towpath_tool::install::{InstallLock, InstalledTool, InstalledTools, version_directory_name};
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
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let directories = directories(env);
        let tools = InstalledTools::new(&directories);
        let mut removed = Vec::new();
        for text in &self.tools {
            let (name, version) = SourceRef::split_version(text);
            let mut waiting = || out::note(format!("waiting for an install of {name}"));
            let _lock = InstallLock::take(&directories, name, &mut waiting)
                .map_err(|error| CommandError::setup(error.to_string()))?;
            for tool in self.chosen(&tools, name, version)? {
                let next = tools.remove(&tool).map_err(file_error)?;
                let next = next.map(|next| next.record.version);
                let version = tool.record.version;
                if !self.json {
                    let next =
                        next.as_ref().map_or(String::new(), |v| format!("; {v} is used now"));
                    out::line(format!("removed {name} {version}{next}"));
                }
                removed.push(json!({ "tool": name, "version": version, "now_in_use": next }));
            }
        }
        if self.json {
            out::json(&json!({ "schema": 1, "removed": removed }));
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}

fn file_error(error: std::io::Error) -> CommandError {
    CommandError::setup(error.to_string())
}

impl Args {
    fn chosen(
        &self,
        tools: &InstalledTools<'_>,
        name: &str,
        version: Option<&str>,
    ) -> Result<Vec<InstalledTool>, CommandError> {
        let mut found = tools.versions(name).map_err(file_error)?;
        if let Some(version) = version {
            let wanted = version_directory_name(version);
            found.retain(|tool| version_directory_name(&tool.record.version) == wanted);
        }
        let versions: Vec<&str> = found.iter().map(|tool| tool.record.version.as_str()).collect();
        match found.len() {
            0 => {
                let version = version.map_or(String::new(), |version| format!(" {version}"));
                let message = format!("{name}{version} is not installed");
                Err(CommandError::new(Exit::BadInput, ErrorKind::NotFound, message))
            }
            1 => Ok(found),
            _ if self.all => Ok(found),
            _ => Err(CommandError::bad_input(format!(
                "{name} has the versions {}: name one as {name}@{}, or use --all",
                versions.join(", "),
                versions[0]
            ))),
        }
    }
}
