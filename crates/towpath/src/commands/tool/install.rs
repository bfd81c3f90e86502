//! `towpath tool install`: tools from recipes, or the tools of the project.

use super::results::Results;
use super::{CommandError, Execute, Exit, Invocation, ToolFlags, ToolSession};
use crate::tools::install_tool::install;
use crate::tools::project_tools::ProjectTools;
use crate::tools::wanted_tool::WantedTool;

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
    pub flags: ToolFlags,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let session = ToolSession::open(invocation.environment()?, &self.flags)?;
        let mut results = Results::new(self.flags.json);
        for tool in &self.tools {
            let wanted = WantedTool::from_recipe(&session, tool)?;
            results.add_outcome(&session, &install(&session, &wanted, None)?);
        }
        if self.tools.is_empty() {
            self.install_project(&session, &mut results)?;
        }
        Ok(results.end("tools"))
    }
}

impl Args {
    fn install_project(
        &self,
        session: &ToolSession<'_>,
        results: &mut Results,
    ) -> Result<(), CommandError> {
        let mut project = ProjectTools::read(session.env)?;
        if self.frozen {
            project.require_lock()?;
        }
        for tool in project.tools.clone() {
            match project.install(session, &tool) {
                Ok(outcome) => results.add_outcome(session, &outcome),
                Err(error) => results.add_error(&tool.name, &error),
            }
        }
        Ok(())
    }
}
