//! Asks a model for a check: the agent backends answer, as an ordinary run of one step, which is recorded
//! like any other. The agent works in an empty directory of its own.

use super::tool_session::ToolSession;
use crate::exit_codes_and_errors::CommandError;
use serde_json::Value;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use towpath_tool::self_repair::{ModelAnswer, RepairModel};

/// One step, which asks one question.
const RECIPE: &str = "\
name: tool-check-repair
description: Propose a check for an installed tool
context:
  prompt: \"\"
steps:
  - id: propose
    prompt: \"{{prompt}}\"
    timeout: 300
";

/// Flags of the commands that may ask a model.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ModelFlags {
    /// Ask a model for a check when nothing else has found one. It costs what your agent costs.
    #[arg(long)]
    pub model: bool,
    /// Stop asking once the known costs have reached this many US dollars.
    #[arg(long, value_name = "USD", default_value_t = 0.5)]
    pub model_budget: f64,
    /// The agent that answers [default: the backend of the settings]
    #[arg(long, value_name = "NAME")]
    pub backend: Option<String>,
    /// Answer from a file instead of an agent.
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
}

#[derive(Debug)]
pub struct AgentModel<'a> {
    session: &'a ToolSession<'a>,
    flags: &'a ModelFlags,
    directory: tempfile::TempDir,
    /// Known costs so far, in US dollars.
    spent: f64,
    pub calls: usize,
}

impl<'a> AgentModel<'a> {
    /// None unless the user or the settings allow it.
    pub fn allowed(
        session: &'a ToolSession<'a>,
        flags: &'a ModelFlags,
    ) -> Result<Option<AgentModel<'a>>, CommandError> {
        if !flags.model && !session.settings.tools.model.value {
            return Ok(None);
        }
        let directory = tempfile::tempdir()
            .map_err(|error| CommandError::setup(format!("no directory for an agent: {error}")))?;
        Ok(Some(AgentModel { session, flags, directory, spent: 0.0, calls: 0 }))
    }

    fn arguments(&self, recipe: OsString, prompt: OsString) -> Vec<OsString> {
        let mut arguments: Vec<OsString> =
            vec!["run".into(), recipe, "--json".into(), "--quiet".into(), "--set".into(), prompt];
        if let Some(backend) = &self.flags.backend {
            arguments.extend(["--backend".into(), backend.into()]);
        }
        if let Some(script) = &self.flags.script {
            arguments.extend(["--script".into(), self.session.env.current.join(script).into()]);
        }
        arguments
    }

    fn run(&mut self, prompt: &str) -> Result<ModelAnswer, String> {
        let recipe = self.directory.path().join("tool-check-repair.yaml");
        let work = self.directory.path().join("work");
        std::fs::write(&recipe, RECIPE).map_err(|error| error.to_string())?;
        std::fs::create_dir_all(&work).map_err(|error| error.to_string())?;
        let mut setting = OsString::from("prompt=");
        setting.push(prompt);
        let output = Command::new(&self.session.own_program)
            .args(self.arguments(recipe.into(), setting))
            .current_dir(&work)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("this program cannot be started: {error}"))?;
        let result: Value = serde_json::from_slice(&output.stdout)
            .map_err(|_| last_line(&String::from_utf8_lossy(&output.stderr)))?;
        self.spent += result["summary"]["cost_usd"].as_f64().unwrap_or(0.0);
        if !output.status.success() {
            let error = result["error"].as_str().or_else(|| result["error"]["message"].as_str());
            return Err(error.unwrap_or("the agent did not answer").to_owned());
        }
        let answer = result["steps"][0]["output"].as_str();
        let text = answer.ok_or("the agent's answer is not in the result")?.to_owned();
        Ok(ModelAnswer { text })
    }
}

fn last_line(text: &str) -> String {
    text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no answer").to_owned()
}

impl RepairModel for AgentModel<'_> {
    fn ask(&mut self, prompt: &str) -> Result<ModelAnswer, String> {
        if self.calls > 0 && self.spent >= self.flags.model_budget {
            let budget = self.flags.model_budget;
            return Err(format!("the budget of ${budget:.2} is used up"));
        }
        self.calls += 1;
        self.run(prompt)
    }
}
