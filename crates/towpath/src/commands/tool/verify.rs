//! `towpath tool verify`: installed tools, checked again as when they were installed.

use super::results::{Results, damage, named};
use super::{
    CommandError, Execute, Exit, Invocation, Screen, ToolFlags, ToolSession, clean, json, out,
};
use crate::tools::report::sign;
use crate::tools::tool_session::setup;
use towpath_tool::CheckOutcome;
use towpath_tool::install::InstalledTool;
use towpath_tool::verification::{ProgramUnderTest, run_check};

/// Verify installed tools again.
///
/// The stored check runs in a sandbox, and the files are compared with what was installed. Exits with 1
/// if a tool fails.
///
/// Example: towpath tool verify kibi
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Names of tools [default: all]
    tools: Vec<String>,
    #[command(flatten)]
    pub flags: ToolFlags,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let session = ToolSession::open(env, &self.flags)?;
        let (screen, mut results) = (Screen::new(env), Results::new(self.flags.json));
        let mut add = |name: &str, version: &str, problem: Option<String>| {
            let works = problem.is_none();
            let row =
                json!({ "tool": name, "version": version, "verified": works, "problem": problem });
            let exit = if works { Exit::Done } else { Exit::Failed };
            results.add(row, exit, || {
                let found = problem.map_or(" works".to_owned(), |text| format!(": {text}"));
                out::line(format!("{} {name} {version}{}", sign(&screen, works), clean(&found)));
            });
        };
        let found = named(env, &self.tools)?;
        for tool in &found.tools {
            let problem = verify(&session, tool).unwrap_or_else(|error| Some(error.message));
            add(&tool.record.tool, &tool.record.version, problem);
        }
        for tool in &found.damaged {
            add(&tool.tool, &tool.version, Some(damage(tool).message));
        }
        Ok(results.end("tools"))
    }
}

/// How many changed files are named.
const NAMED: usize = 5;

/// Finds the problem of an installed tool, if it has one.
fn verify(session: &ToolSession<'_>, tool: &InstalledTool) -> Result<Option<String>, CommandError> {
    let record = &tool.record;
    let changed = record.changed(&tool.directory);
    if !changed.is_empty() {
        let more = changed.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let names = changed[..changed.len().min(NAMED)].join(", ");
        return Ok(Some(format!("changed since it was installed: {names}{more}")));
    }
    let sandbox_setup = tool.sandbox(&session.confinement, &session.own_program);
    let tested = ProgramUnderTest {
        aliases: vec![record.tool.clone()],
        expected_version: Some(record.version.clone()),
        install: Some(tool.directory.clone()),
        ..ProgramUnderTest::default()
    };
    let programs = record.programs(&tool.directory);
    let mut sandbox = sandbox_setup.open().map_err(setup)?;
    let (check, version) = (&record.verify, &record.version);
    let run = run_check(check, version, &tested, &programs, &sandbox_setup, &mut sandbox);
    let run = run.map_err(setup)?;
    Ok(match run.outcome {
        CheckOutcome::Passed { .. } => None,
        CheckOutcome::Failed(failure) => Some(failure.to_string()),
    })
}
