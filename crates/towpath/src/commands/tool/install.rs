//! `towpath tool install`: tools from recipes, or the tools of the project.

use super::super::Execute;
use crate::environment::Invocation;
use crate::exit_codes_and_errors::{CommandError, Exit};
use crate::terminal::format::clean;
use crate::terminal::out;
use crate::tools::find_tool_recipe::find;
use crate::tools::generate_tool_recipe::{generate_recipe, look_up_one};
use crate::tools::install_result_lines;
use crate::tools::install_tool::{InstallOutcome, WantedTool, install};
use crate::tools::project_tools::ProjectTools;
use crate::tools::tool_session::{SandboxFlags, ToolSession};
use serde_json::json;
use towpath_tool::install::{InstalledTools, WantedLinks};
use towpath_tool::sources::{Locks, SourceRef, check_version, fetched_version};
use towpath_tool::{Origin, VersionSource};

/// Install tools from their recipes.
///
/// A tool is named by its recipe or by the path of a recipe file, with a version if you like. Without
/// names the tools in the project's .towpath/tools.toml are installed, as its lock file has them. The
/// version that was fetched last is installed without network; `update` looks for a newer one.
///
/// Example: towpath tool install kibi@0.2.2
#[derive(Debug, clap::Args)]
pub struct Args {
    /// NAME, NAME@VERSION or the path of a recipe file [default: the tools of the project]
    tools: Vec<String>,
    /// Install exactly what the project's lock file has; a tool that it does not have is an error.
    #[arg(long, conflicts_with = "tools")]
    frozen: bool,
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
        let (mut outcomes, mut failed) = (Vec::new(), Vec::new());
        let mut exit = Exit::Done;
        let mut take = |outcome: InstallOutcome| {
            if !self.json {
                install_result_lines::print(&session, &outcome);
            }
            if matches!(outcome, InstallOutcome::NotVerified { .. }) {
                exit = Exit::Failed;
            }
            outcomes.push(outcome);
        };
        if self.tools.is_empty() {
            let mut project = ProjectTools::read(env, &env.current)?;
            project.require_trust(env)?;
            if self.frozen {
                project.require_lock()?;
            }
            for tool in project.tools.clone() {
                let wanted = project.wanted(&session, &tool);
                match wanted.and_then(|wanted| install(&session, &wanted, None)) {
                    Ok(outcome) => {
                        project.lock(env, &tool, &outcome)?;
                        take(outcome);
                    }
                    // The others are installed all the same.
                    Err(error) => failed.push((tool.name.clone(), error)),
                }
            }
        }
        for tool in &self.tools {
            take(install_one(&session, tool)?);
        }
        let mut rows: Vec<_> = outcomes.iter().map(install_result_lines::as_json).collect();
        for (name, error) in &failed {
            out::note(clean(&format!("{name}: {}", error.message)));
            rows.push(json!({ "tool": name, "status": "error", "error": error.message }));
        }
        match self.json {
            true => out::json(&json!({ "schema": 1, "tools": rows })),
            false => install_result_lines::print_path_hint(&session, &outcomes),
        }
        // What is worst decides.
        let worst = failed.iter().map(|(_, error)| error.exit).max_by_key(|exit| exit.severity());
        Ok(worst.unwrap_or(exit))
    }

    fn json(&self) -> bool {
        self.json
    }
}

fn install_one(session: &ToolSession<'_>, text: &str) -> Result<InstallOutcome, CommandError> {
    let (name, version) = SourceRef::split_version(text);
    if let Some(version) = version {
        check_version(version).map_err(CommandError::bad_input)?;
    }
    let file = find(session, name)?;
    let from = SourceRef::of_recipe(&file.recipe);
    let tools = InstalledTools::new(&session.directories);
    let version = match (version, &file.recipe.version) {
        (Some(version), _) => version.to_owned(),
        // Its one version is in the recipe.
        (None, VersionSource::Url { version }) => version.clone(),
        (None, _) => {
            // What is there is enough; `update` looks for something newer.
            let installed = tools.versions(&file.recipe.metadata.name);
            let installed = installed.map_err(|error| CommandError::setup(error.to_string()))?;
            let same = installed.into_iter().find(|tool| tool.record.from == from.to_string());
            let here = same.map(|tool| tool.record.version);
            match here.or_else(|| fetched_version(&from, &session.directories.artifacts())) {
                Some(version) => version,
                None => look_up_one(session, &from, None)?.version,
            }
        }
    };
    let is_release = matches!(file.recipe.version, VersionSource::GitHub { .. });
    let is_installed = tools.find(&file.recipe.metadata.name, &version).is_ok_and(|t| t.is_some());
    let wanted = match is_release && file.origin == Origin::Generated && !is_installed {
        // Its steps have the checksums of one version's files.
        true => {
            let name = &file.recipe.metadata.name;
            generate_recipe(session, name, Some(&from), Some(&version))?.wanted
        }
        false => {
            let (recipe, origin) = (file.recipe, file.origin);
            let (locks, links) = (Locks::new(), WantedLinks::OWN);
            WantedTool { recipe, origin, from, version, locks, links }
        }
    };
    install(session, &wanted, None)
}
