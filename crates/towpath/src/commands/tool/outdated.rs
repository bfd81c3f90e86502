//! `towpath tool outdated`: which installed tools have a newer version.

use super::results::{damage, named};
use super::{
    CommandError, Execute, Exit, Invocation, Screen, ToolFlags, ToolSession, clean, json, out,
};
use crate::terminal::table::Table;
use crate::tools::wanted_tool::newest_version;
use towpath_tool::install::InstalledTools;

/// List installed tools that have another version at their source.
///
/// Example: towpath tool outdated
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub flags: ToolFlags,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let session = ToolSession::open(env, &self.flags)?;
        let InstalledTools { tools, damaged } = named(env, &[])?;
        let mut table = Table::new(&["TOOL", "INSTALLED", "NEWEST", "FROM"]);
        let (mut outdated, mut unknown) = (Vec::new(), Vec::new());
        let mut failed = |tool: &String, error: &CommandError, why: &str| {
            if !self.flags.json {
                out::note(clean(&format!("{tool}{why} {}", error.message)));
            }
            unknown.push(json!({ "tool": tool, "error": error.message }));
        };
        for tool in &damaged {
            failed(&tool.tool, &damage(tool), ":");
        }
        for record in tools.iter().filter(|tool| tool.in_use).map(|tool| &tool.record) {
            let (tool, version, from) = (&record.tool, &record.version, &record.from);
            match newest_version(&session, record) {
                Ok(newest) if newest == *version => {}
                Ok(newest) => {
                    table.row(
                        [tool, version, &newest, from].map(|text| text.as_str().into()).into(),
                    );
                    let row = json!({ "tool": tool, "installed": version, "newest": newest, "from": from });
                    outdated.push(row);
                }
                Err(error) => failed(tool, &error, ": its newest version is not known:"),
            }
        }
        match outdated.is_empty() {
            _ if self.flags.json => {
                out::json(&json!({ "schema": 1, "outdated": outdated, "unknown": unknown }));
            }
            true if tools.is_empty() && damaged.is_empty() => out::line("no tool is installed"),
            true if unknown.is_empty() => out::line("every tool is the newest version"),
            true => {}
            false => table.print(&Screen::new(env)),
        }
        Ok(Exit::Done)
    }
}
