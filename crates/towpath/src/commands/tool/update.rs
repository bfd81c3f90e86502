//! `towpath tool update`: the newest version of installed tools, proven like the first.

use super::super::Execute;
use crate::environment::Invocation;
use crate::exit_codes_and_errors::{CommandError, ErrorKind, Exit};
use crate::terminal::format::clean;
use crate::terminal::out;
use crate::tools::find_tool_recipe;
use crate::tools::generate_tool_recipe::{generate_recipe, look_up_one, save_recipe};
use crate::tools::install_result_lines;
use crate::tools::install_tool::{InstallOutcome, WantedTool, install};
use crate::tools::tool_session::{SandboxFlags, ToolSession};
use serde_json::json;
use towpath_tool::Origin;
use towpath_tool::install::{InstalledTool, InstalledTools, WantedLinks};
use towpath_tool::sources::{Locks, SourceKind, SourceRef};

/// Install the newest version of tools.
///
/// The versions that are there stay, until `towpath tool remove`; the newest one is used. A version that
/// is not proven to work changes nothing.
///
/// Example: towpath tool update kibi
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Names of tools [default: all]
    tools: Vec<String>,
    #[command(flatten)]
    sandbox: SandboxFlags,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let session = ToolSession::open(env, &self.sandbox, self.json)?;
        let mut installed = InstalledTools::new(&session.directories)
            .list()
            .map_err(|error| CommandError::setup(error.to_string()))?;
        // Where none is linked, the one that was installed last.
        let mut seen = Vec::new();
        installed.sort_by_key(|tool| !tool.in_use);
        installed.retain(|tool| {
            let is_new = !seen.contains(&tool.record.tool);
            seen.push(tool.record.tool.clone());
            is_new
        });
        installed.sort_by(|one, other| one.record.tool.cmp(&other.record.tool));
        for name in &self.tools {
            if !installed.iter().any(|tool| tool.record.tool == *name) {
                let message = format!("{name} is not installed");
                return Err(CommandError::new(Exit::BadInput, ErrorKind::NotFound, message));
            }
        }
        if !self.tools.is_empty() {
            installed.retain(|tool| self.tools.contains(&tool.record.tool));
        }
        let (mut rows, mut exit) = (Vec::new(), Exit::Done);
        for tool in &installed {
            let outcome = match update(&session, tool) {
                Ok(outcome) => outcome,
                Err(error) => {
                    // The others are updated all the same.
                    out::note(clean(&format!("{}: {}", tool.record.tool, error.message)));
                    rows.push(json!({ "tool": tool.record.tool, "status": "error", "error": error.message }));
                    exit = Exit::Failed;
                    continue;
                }
            };
            if matches!(outcome, InstallOutcome::NotVerified { .. }) {
                exit = Exit::Failed;
            }
            if !self.json {
                print(&session, tool, &outcome);
            }
            rows.push(install_result_lines::as_json(&outcome));
        }
        if self.json {
            out::json(&json!({ "schema": 1, "tools": rows }));
        }
        Ok(exit)
    }

    fn json(&self) -> bool {
        self.json
    }
}

fn print(session: &ToolSession<'_>, tool: &InstalledTool, outcome: &InstallOutcome) {
    match outcome {
        InstallOutcome::Already(same) if same.record.version == tool.record.version => {
            let is_address = same.record.from.starts_with(SourceKind::Url.word());
            let only = if is_address { "the only version of its address" } else { "the newest" };
            out::line(format!("{} {} is {only}", tool.record.tool, tool.record.version));
        }
        outcome => {
            install_result_lines::print(session, outcome);
        }
    }
}

fn update(session: &ToolSession<'_>, tool: &InstalledTool) -> Result<InstallOutcome, CommandError> {
    let record = &tool.record;
    let from: SourceRef = record.from.parse().map_err(|_| {
        CommandError::setup(format!("{}: its source `{}` is not known", record.tool, record.from))
    })?;
    let own = find_tool_recipe::named(session, &record.tool)?.filter(|f| f.origin == Origin::User);
    let wanted = match own {
        None => generate_recipe(session, &record.tool, Some(&from), None)?.wanted,
        Some(file) => {
            let from = SourceRef::of_recipe(&file.recipe);
            let version = look_up_one(session, &from, None)?.version;
            let (recipe, origin) = (file.recipe, file.origin);
            let (locks, links) = (Locks::new(), WantedLinks::OWN);
            WantedTool { recipe, origin, from, version, locks, links }
        }
    };
    let outcome = install(session, &wanted, None)?;
    if let (InstallOutcome::Installed(installed), Origin::Generated) = (&outcome, wanted.origin) {
        save_recipe(session, &installed.proof.recipe)?;
    }
    Ok(outcome)
}
