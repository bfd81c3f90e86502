//! `towpath tool create`: a tool by its name, found, installed and proven to work.

mod batch;

use super::super::Execute;
use crate::environment::Invocation;
use crate::exit_codes_and_errors::{CommandError, Exit};
use crate::terminal::out;
use crate::tools::ask_model_for_check::{AgentModel, ModelFlags, Spent};
use crate::tools::generate_tool_recipe::{generate_recipe, save_if_missing, save_recipe};
use crate::tools::install_result_lines;
use crate::tools::install_tool::{InstallOutcome, install};
use crate::tools::tool_session::{SandboxFlags, ToolSession};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Mutex;
use towpath_tool::check_tool_name;
use towpath_tool::install::WantedLinks;
use towpath_tool::sources::SourceRef;

/// Make a recipe for a tool, install it and prove that it works.
///
/// Without --from, the name must be one of the table of known tools. The tool is fetched with your
/// configuration of its registry, built without network, and run to see whether it works, all in a
/// sandbox. If `NAME --version` does not show it, the check is repaired. The recipe is saved for later installs.
///
/// Example: towpath tool create kibi --from cargo:kibi
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name of the tool.
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    name: Option<String>,
    /// cargo:NAME, npm:NAME, pypi:NAME, github:OWNER/REPO or url:ADDRESS
    #[arg(long, value_name = "SOURCE", conflicts_with = "batch")]
    from: Option<SourceRef>,
    /// This version instead of the newest.
    #[arg(long, value_name = "VERSION", requires = "from")]
    version: Option<String>,
    /// Link this program instead of the tool's own; may be given several times.
    #[arg(long, value_name = "NAME", conflicts_with = "batch")]
    bin: Vec<String>,
    /// Link programs also where a system directory has their name.
    #[arg(long)]
    shadow: bool,
    /// Create every tool of a file: one NAME, or NAME and SOURCE, in each line.
    #[arg(long, value_name = "FILE")]
    batch: Option<PathBuf>,
    /// How many tools of a batch at the same time.
    #[arg(long, value_name = "N", default_value = "2", requires = "batch")]
    jobs: NonZeroUsize,
    /// Create all tools of a batch again, also those that an earlier call has finished.
    #[arg(long, requires = "batch")]
    again: bool,
    #[command(flatten)]
    sandbox: SandboxFlags,
    #[command(flatten)]
    model: ModelFlags,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let session = ToolSession::open(env, &self.sandbox, self.json || self.batch.is_some())?;
        match (&self.batch, &self.name) {
            (Some(file), _) => batch::create_all(&session, file, self),
            (None, Some(name)) => self.create(&session, name),
            (None, None) => Err(CommandError::bad_input("name a tool, or a file with --batch")),
        }
    }

    fn json(&self) -> bool {
        self.json
    }
}

impl Args {
    fn create(&self, session: &ToolSession<'_>, name: &str) -> Result<Exit, CommandError> {
        check_tool_name(name).map_err(CommandError::bad_input)?;
        let version = self.version.as_deref();
        let mut generated = generate_recipe(session, name, self.from.as_ref(), version)?;
        generated.wanted.links = WantedLinks {
            programs: (!self.bin.is_empty()).then(|| self.bin.clone()),
            shadow: self.shadow,
        };
        if !self.json {
            generated.explained.iter().for_each(|line| out::line(format!("  {line}")));
        }
        let spent = Mutex::new(Spent::default());
        let mut model = AgentModel::allowed(session, &self.model, &spent)?;
        let outcome = install(session, &generated.wanted, model.as_mut())?;
        match &outcome {
            InstallOutcome::Installed(installed) => save_recipe(session, &installed.proof.recipe)?,
            InstallOutcome::Already(tool) => save_if_missing(session, &generated.wanted, tool)?,
            InstallOutcome::NotVerified { .. } => {}
        }
        if self.json {
            let mut value = install_result_lines::as_json(&outcome);
            value["schema"] = serde_json::json!(1);
            out::json(&value);
            return Ok(exit_of(&outcome));
        }
        let exit = install_result_lines::print(session, &outcome);
        install_result_lines::print_path_hint(session, [&outcome]);
        Ok(exit)
    }
}

fn exit_of(outcome: &InstallOutcome) -> Exit {
    match outcome {
        InstallOutcome::NotVerified { .. } => Exit::Failed,
        _ => Exit::Done,
    }
}
