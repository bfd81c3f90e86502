//! `towpath rules test`: what the rules make of a call, decided as the hook decides it.

mod unapplied_rules;

use super::super::Execute;
use super::{host_parser, in_host, not_applied, show_project_problems};
use crate::corrections::active_rules;
use crate::corrections::correction_view::{correction_json, correction_lines, decision_line};
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, Exit};
use crate::settings::Settings;
use crate::terminal::out;
use crate::terminal::screen::Screen;
use serde_json::{Value, json};
use std::path::PathBuf;
use towpath_corrections::hooks_directory::HooksDirectory;
use towpath_corrections::host::{AnswerOptions, Host};
use towpath_corrections::host_state::{self, HostState};
use towpath_corrections::{Correction, DEFAULT_HOST, ToolCall};
use unapplied_rules::{UnappliedRule, print_related, unapplied_rules};

/// Show what the rules make of a command. Nothing is run.
///
/// Example: towpath rules test 'git push --force origin main'
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The command as an agent would type it.
    #[arg(value_name = "COMMAND", allow_hyphen_values = true, required_unless_present = "tool")]
    command_line: Option<String>,
    /// Test a call of this tool.
    #[arg(long, value_name = "NAME", conflicts_with = "command_line")]
    tool: Option<String>,
    /// The input of that tool, one JSON object.
    #[arg(long, value_name = "JSON", requires = "tool")]
    input: Option<String>,
    /// The agent program that makes the call.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_HOST, value_parser = host_parser())]
    host: Host,
    /// The directory in which the agent works.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let call = self.call(env)?;
        let active = active_rules(env, env.journal()?.as_ref(), &self.directory(env))?;
        show_project_problems(env, active.project.as_ref());
        let correction = active.correct(&call);
        let decision = self.host.decide(None, &correction, &self.options(env)?);
        let unapplied = unapplied_rules(&active, &call, &correction);
        if self.json {
            let mut shown = correction_json(&call, &correction);
            shown["permission"] = json!(decision_line(&decision, &correction, self.host));
            shown["paused"] = json!(active.pause.is_some());
            shown["not_applied"] =
                json!(unapplied.iter().map(UnappliedRule::json).collect::<Vec<_>>());
            out::json(&shown);
            return Ok(Exit::Done);
        }
        correction_lines(&call, &correction, &Screen::new(env)).into_iter().for_each(out::line);
        for rule in &unapplied {
            out::line(format!("  {}", rule.line()));
        }
        if correction == Correction::Unchanged {
            print_related(&active, &call, &unapplied);
        }
        if let Some(line) = decision_line(&decision, &correction, self.host) {
            out::line(format!("  {line}"));
        }
        if let (Some(why), true) = (not_applied(env, &active), correction != Correction::Unchanged)
        {
            out::line(format!("  {why}"));
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}

impl Args {
    fn call(&self, env: &Environment) -> Result<ToolCall, CommandError> {
        let directory = self.directory(env);
        let Some(tool) = &self.tool else {
            let line = self.command_line.as_deref().unwrap_or_default();
            return Ok(in_host(self.host, line, &directory));
        };
        let input = self.input.as_deref().unwrap_or("{}");
        let input: Value = serde_json::from_str(input)
            .ok()
            .filter(Value::is_object)
            .ok_or_else(|| CommandError::bad_input("--input is no JSON object"))?;
        Ok(self.host.call(tool, input, Some(directory.display().to_string())))
    }

    /// What the host is answered by the user's settings.
    fn options(&self, env: &Environment) -> Result<AnswerOptions, CommandError> {
        let settings = Settings::read(env, None)?;
        let states = host_state::all(&HooksDirectory::of(&env.directories.state));
        let drops = |state: &HostState| state.host == self.host && state.drops_rewrites();
        Ok(AnswerOptions {
            permission: settings.permission.value,
            mode: settings.mode.value,
            drops_rewrites: states.iter().any(drops),
        })
    }

    fn directory(&self, env: &Environment) -> PathBuf {
        let given = self.dir.as_ref().map(|dir| env.current.join(env.expand_home(dir)));
        let directory = given.unwrap_or_else(|| env.current.clone());
        directory.canonicalize().unwrap_or(directory)
    }
}
