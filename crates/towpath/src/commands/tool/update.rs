//! `towpath tool update`: the newest version of installed tools, proven like the first.

use super::results::{Results, damage, named};
use super::{CommandError, Execute, Exit, Invocation, ToolFlags, ToolSession, out};
use crate::tools::install_tool::{InstallOutcome, install_and_save};
use crate::tools::report;
use crate::tools::wanted_tool::WantedTool;
use towpath_tool::install::InstalledTools;
use towpath_tool::sources::SourceKind;

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
    pub flags: ToolFlags,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let session = ToolSession::open(invocation.environment()?, &self.flags)?;
        let InstalledTools { tools: mut installed, damaged } = named(session.env, &self.tools)?;
        // Of each tool the version in use; where none is linked, the one that was installed last.
        installed.sort_by(|one, other| {
            one.record.tool.cmp(&other.record.tool).then(other.in_use.cmp(&one.in_use))
        });
        installed.dedup_by(|other, first| other.record.tool == first.record.tool);
        let mut results = Results::new(self.flags.json);
        for tool in &damaged {
            results.add_error(&tool.tool, &damage(tool));
        }
        for record in installed.iter().map(|tool| &tool.record) {
            let wanted = WantedTool::newest(&session, record);
            match wanted.and_then(|wanted| install_and_save(&session, &wanted, None)) {
                Ok(outcome @ InstallOutcome::Already(_)) if is_same(&outcome, &record.version) => {
                    results.add(report::as_json(&outcome), Exit::Done, || {
                        let is_address = record.from.starts_with(SourceKind::Url.word());
                        let only = ["the newest", "the only version of its address"];
                        let only = only[usize::from(is_address)];
                        out::line(format!("{} {} is {only}", record.tool, record.version));
                    });
                }
                Ok(outcome) => results.add_outcome(&session, &outcome),
                Err(error) => results.add_error(&record.tool, &error),
            }
        }
        Ok(results.end("tools"))
    }
}

fn is_same(outcome: &InstallOutcome, version: &str) -> bool {
    outcome.install().is_some_and(|tool| tool.record.version == version)
}
