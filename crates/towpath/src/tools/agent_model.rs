//! Asks a model for a check: the agent backends answer, as an ordinary run of one step, which is recorded
//! like any other. The agent works in an empty directory of its own, and may use no tool that it would have
//! to ask for: what it reads was printed by a stranger's program.

use super::tool_session::ToolSession;
use crate::exit::CommandError;
use crate::terminal::format::last_line;
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use towpath_tool::self_repair::RepairModel;

/// One step, which asks one question.
const RECIPE: &str = "\
name: tool-check-repair
description: Propose a check for an installed tool
context:
  prompt: \"\"
steps:
  - id: propose
    prompt: \"{{prompt}}\"
    mode: MODE
    timeout: 300
";

/// Flags of the commands that may ask a model.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ModelFlags {
    /// Ask a model for a check when nothing else has found one. It costs what your agent costs.
    #[arg(long)]
    pub model: bool,
    /// Ask no more once another call could exceed this many US dollars in all; 0 asks never.
    #[arg(long, value_name = "USD", default_value_t = 0.5)]
    pub model_budget: f64,
    /// The agent that answers [default: the backend of the settings]
    #[arg(long, value_name = "NAME")]
    pub backend: Option<String>,
    /// Answer from a file instead of an agent.
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
}

/// The calls of one command, whichever tool they were for.
#[derive(Debug, Default)]
pub struct Spent {
    pub calls: usize,
    /// Known costs, in US dollars.
    pub total: f64,
    largest: f64,
}

#[derive(Debug)]
pub struct AgentModel<'a> {
    session: &'a ToolSession<'a>,
    flags: &'a ModelFlags,
    directory: tempfile::TempDir,
    spent: &'a Mutex<Spent>,
    pub calls: usize,
}

impl<'a> AgentModel<'a> {
    /// None unless the user or the settings allow it.
    pub fn allowed(
        session: &'a ToolSession<'a>,
        flags: &'a ModelFlags,
        spent: &'a Mutex<Spent>,
    ) -> Result<Option<AgentModel<'a>>, CommandError> {
        if !flags.model && !session.settings.tools.model.value {
            return Ok(None);
        }
        let directory = tempfile::tempdir()
            .map_err(|error| CommandError::setup(format!("no directory for an agent: {error}")))?;
        Ok(Some(AgentModel { session, flags, directory, spent, calls: 0 }))
    }

    /// The answer, and what it cost where that is known.
    fn run(&self, prompt: &str) -> Result<(Result<String, String>, f64), String> {
        let recipe = self.directory.path().join("tool-check-repair.yaml");
        let work = self.directory.path().join("work");
        let backend = self.flags.backend.as_ref().unwrap_or(&self.session.settings.backend.value);
        let mode = if backend == "codex" { "read-only" } else { "default" };
        let text = RECIPE.replace("MODE", mode);
        std::fs::write(&recipe, text).map_err(|error| error.to_string())?;
        std::fs::create_dir_all(&work).map_err(|error| error.to_string())?;
        let mut command = Command::new(&self.session.own_program);
        command.arg("run").arg(&recipe).args(["--json", "--quiet", "--set"]);
        command.arg(format!("prompt={prompt}"));
        if let Some(backend) = &self.flags.backend {
            command.args(["--backend", backend]);
        }
        if let Some(script) = &self.flags.script {
            command.arg("--script").arg(self.session.env.current.join(script));
        }
        let output = command.current_dir(&work).stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("this program cannot be started: {error}"))?;
        let result: Value = serde_json::from_slice(&output.stdout).map_err(|_| {
            let line = last_line(&String::from_utf8_lossy(&output.stderr));
            if line.is_empty() { "no answer".to_owned() } else { line }
        })?;
        let cost = result["summary"]["cost_usd"].as_f64().unwrap_or(0.0);
        let answer = match output.status.success() {
            true => result["steps"][0]["output"].as_str(),
            false => None,
        };
        let error = result["error"].as_str().or_else(|| result["error"]["message"].as_str());
        let error = error.unwrap_or("the agent did not answer").to_owned();
        Ok((answer.map(str::to_owned).ok_or(error), cost))
    }
}

impl RepairModel for AgentModel<'_> {
    fn ask(&mut self, prompt: &str) -> Result<String, String> {
        // One call at a time: only then is it known what the next one may cost.
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let budget = self.flags.model_budget;
        if spent.total >= budget || spent.total + spent.largest > budget {
            return Err(format!("another call could exceed the budget of ${budget:.2}"));
        }
        self.calls += 1;
        spent.calls += 1;
        let (answer, cost) = self.run(prompt)?;
        spent.total += cost;
        spent.largest = spent.largest.max(cost);
        answer
    }
}
