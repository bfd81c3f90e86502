//! `towpath tool verify`: installed tools, checked again as when they were installed.

use super::super::Execute;
use crate::environment::Invocation;
use crate::exit_codes_and_errors::{CommandError, ErrorKind, Exit};
use crate::terminal::format::clean;
use crate::terminal::out;
use crate::terminal::terminal_width_and_colours::{Screen, Tint};
use crate::tools::tool_session::{SandboxFlags, ToolSession};
use serde_json::{Value, json};
use towpath_tool::CheckOutcome;
use towpath_tool::install::{InstalledTool, InstalledTools};
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
    sandbox: SandboxFlags,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let session = ToolSession::open(env, &self.sandbox, self.json)?;
        let installed = InstalledTools::new(&session.directories)
            .list()
            .map_err(|error| CommandError::setup(error.to_string()))?;
        for name in &self.tools {
            if !installed.iter().any(|tool| tool.record.tool == *name) {
                let message = format!("{name} is not installed");
                return Err(CommandError::new(Exit::BadInput, ErrorKind::NotFound, message));
            }
        }
        let chosen =
            |tool: &&InstalledTool| self.tools.is_empty() || self.tools.contains(&tool.record.tool);
        let screen = Screen::new(env);
        let (mut rows, mut exit) = (Vec::new(), Exit::Done);
        for tool in installed.iter().filter(chosen) {
            let problem = verify(&session, tool).unwrap_or_else(|error| Some(error.message));
            let record = &tool.record;
            if problem.is_some() {
                exit = Exit::Failed;
            }
            if !self.json {
                out::line(line(&screen, tool, problem.as_deref()));
            }
            rows.push(row(record.tool.as_str(), &record.version, problem));
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

fn line(screen: &Screen, tool: &InstalledTool, problem: Option<&str>) -> String {
    let record = &tool.record;
    match problem {
        None => {
            let done = screen.paint(Tint::Good, "✓");
            format!("{done} {} {} works", record.tool, record.version)
        }
        Some(problem) => {
            let failed = screen.paint(Tint::Bad, "✗");
            format!("{failed} {} {}: {}", record.tool, record.version, clean(problem))
        }
    }
}

fn row(tool: &str, version: &str, problem: Option<String>) -> Value {
    json!({ "tool": tool, "version": version, "verified": problem.is_none(), "problem": problem })
}

/// How many changed files are named.
const NAMED: usize = 5;

/// What is wrong with an installed tool.
fn verify(session: &ToolSession<'_>, tool: &InstalledTool) -> Result<Option<String>, CommandError> {
    let record = &tool.record;
    let changed = record.changed(&tool.directory);
    if !changed.is_empty() {
        let more = changed.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let names = changed[..changed.len().min(NAMED)].join(", ");
        return Ok(Some(format!("changed since it was installed: {names}{more}")));
    }
    let setup = tool.sandbox(&session.confinement, &session.own_program);
    let tested = ProgramUnderTest {
        aliases: vec![record.tool.clone()],
        expected_version: Some(record.version.clone()),
        install: Some(tool.directory.clone()),
        ..ProgramUnderTest::default()
    };
    let programs = record.programs(&tool.directory);
    let setup_error = |error: &dyn std::fmt::Display| CommandError::setup(error.to_string());
    let mut sandbox = setup.open().map_err(|error| setup_error(&error))?;
    let run = run_check(&record.verify, &record.version, &tested, &programs, &setup, &mut sandbox)
        .map_err(|error| setup_error(&error))?;
    Ok(match run.outcome {
        CheckOutcome::Passed { .. } => None,
        CheckOutcome::Failed(failure) => Some(failure.to_string()),
    })
}
