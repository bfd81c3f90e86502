//! `towpath tool create`: a tool by its name, found, installed and proven to work.

mod batch;

use super::{CommandError, Execute, Exit, Invocation, ToolFlags, ToolSession, out};
use crate::session::tools_meeting_requirement::system_program;
use crate::tools::agent_model::{AgentModel, ModelFlags, Spent};
use crate::tools::install_tool::{InstallOutcome, install_and_save};
use crate::tools::named_source::named_source;
use crate::tools::report;
use crate::tools::wanted_tool::WantedTool;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Mutex;
use towpath_tool::install::WantedLinks;
use towpath_tool::sources::{SourceKind, SourceRef};
use towpath_tool::{ToolRequest, ToolSource, check_tool_name};

/// Make a recipe for a tool, install it and prove that it works.
///
/// Without --from, the name must be one of the table of known tools. For any other name a program of the
/// system is used if there is one, where it is; else you are asked which package of that name you mean.
/// The tool is fetched with your configuration of its registry, built without network, and run to see whether
/// it works, all in a sandbox. If `NAME --version` does not show it, the check is repaired. The recipe is
/// saved for later installs.
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
    /// Refuse the file of a url: source unless it has this SHA-256.
    #[arg(long, value_name = "HEX", requires = "from", value_parser = sha256)]
    sha256: Option<String>,
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
    model: ModelFlags,
    #[command(flatten)]
    pub flags: ToolFlags,
}

/// A SHA-256 as a user writes it.
fn sha256(text: &str) -> Result<String, String> {
    match text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => Ok(text.to_ascii_lowercase()),
        false => Err("a SHA-256 has 64 hexadecimal digits".to_owned()),
    }
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let mut session = ToolSession::open(invocation.environment()?, &self.flags)?;
        let name = match (&self.batch, &self.name) {
            (Some(file), _) => {
                session.shows_progress = false;
                return batch::create_all(&session, file, self);
            }
            (None, Some(name)) => name.clone(),
            (None, None) => {
                return Err(CommandError::bad_input("name a tool, or a file with --batch"));
            }
        };
        check_tool_name(&name).map_err(CommandError::bad_input)?;
        let wanted = (name.as_str(), self.from.as_ref());
        let (outcome, _) = self.create(&session, wanted, &Mutex::default())?;
        if self.flags.json {
            let mut value = report::as_json(&outcome);
            value["schema"] = serde_json::json!(1);
            out::json(&value);
        } else {
            report::print(&session, &outcome);
        }
        Ok(outcome.exit())
    }
}

impl Args {
    /// Creates one tool, alone or of a batch. Returns how many calls of a model it took, too.
    fn create(
        &self,
        session: &ToolSession<'_>,
        (name, from): (&str, Option<&SourceRef>),
        spent: &Mutex<Spent>,
    ) -> Result<(InstallOutcome, usize), CommandError> {
        let source = match from {
            Some(from) => ToolSource::Package(from.clone()),
            None => named_source(session, name, session.shows_progress)?,
        };
        let request = ToolRequest {
            name: name.to_owned(),
            from: source,
            version: self.version.clone(),
            sha256: self.sha256.clone(),
        };
        let ToolSource::Package(from) = &request.from else {
            if self.bin.is_empty() {
                return Ok((InstallOutcome::of_system(session, name)?, 0));
            }
            let path = system_program(name).unwrap_or_default();
            return Err(CommandError::bad_input(format!(
                "{} is a program of the system, and nothing is linked: --bin needs --from",
                path.display()
            )));
        };
        if self.sha256.is_some() && from.kind() != SourceKind::Url {
            return Err(CommandError::bad_input(format!(
                "--sha256 is for url: sources; {from} has hashes of its own"
            )));
        }
        let (mut wanted, explained) = WantedTool::from_source(session, &request, from)?;
        let programs = (!self.bin.is_empty()).then(|| self.bin.clone());
        wanted.links = WantedLinks { programs, shadow: self.shadow };
        if session.shows_progress {
            out::line(format!("  {explained}"));
        }
        let mut model = AgentModel::allowed(session, &self.model, spent)?;
        let outcome = install_and_save(session, &wanted, model.as_mut())?;
        Ok((outcome, model.map_or(0, |model| model.calls)))
    }
}
