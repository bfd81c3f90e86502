//! `towpath rules`: the rules that correct what coding agents type wrong.

mod add;
mod agents_md;
mod enable;
mod export;
mod import;
mod list;
mod log;
mod pause;
mod remove;
mod starter;
mod suggest;
mod test;

use super::Execute;
use crate::corrections::hook::{Switch, VARIABLE, switch};
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::terminal::format::{clean, local_time, now_ms};
use crate::terminal::shown_path::shown_path;
use crate::terminal::{diagnostics, out};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::Path;
use towpath_corrections::host::Host;
use towpath_corrections::{ActiveRules, ProjectRules, SHELL_PARAMETER, ToolCall};

/// List, add and test the rules that correct what coding agents type wrong.
///
/// An agent types commands, flags and tool names that do not exist. A rule knows one such mistake and
/// what to write instead; the agent's hook applies it before the command runs.
///
/// Example: towpath rules add command python python3
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<RulesCommand>,
    #[command(flatten)]
    list: list::Args,
}

#[derive(Debug, clap::Subcommand)]
enum RulesCommand {
    List(list::Args),
    Add(Box<add::Args>),
    Test(test::Args),
    Remove(remove::Args),
    Enable(enable::EnableArgs),
    Disable(enable::DisableArgs),
    Starter(starter::Args),
    Suggest(suggest::Args),
    Export(export::Args),
    Import(import::Args),
    AgentsMd(agents_md::Args),
    Log(log::Args),
    Pause(pause::PauseArgs),
    Continue(pause::ContinueArgs),
}

impl Args {
    fn command(&self) -> &dyn Execute {
        match &self.command {
            None => &self.list,
            Some(RulesCommand::List(args)) => args,
            Some(RulesCommand::Add(args)) => &**args,
            Some(RulesCommand::Test(args)) => args,
            Some(RulesCommand::Remove(args)) => args,
            Some(RulesCommand::Enable(args)) => args,
            Some(RulesCommand::Disable(args)) => args,
            Some(RulesCommand::Starter(args)) => args,
            Some(RulesCommand::Suggest(args)) => args,
            Some(RulesCommand::Export(args)) => args,
            Some(RulesCommand::Import(args)) => args,
            Some(RulesCommand::AgentsMd(args)) => args,
            Some(RulesCommand::Log(args)) => args,
            Some(RulesCommand::Pause(args)) => args,
            Some(RulesCommand::Continue(args)) => args,
        }
    }
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        self.command().execute(invocation)
    }

    fn json(&self) -> bool {
        self.command().json()
    }
}

/// Takes the name of an agent program.
fn host_parser() -> impl TypedValueParser<Value = Host> {
    let names = PossibleValuesParser::new(Host::ALL.map(Host::name));
    names.map(|name| Host::from_name(&name).expect("the parser takes only names of hosts"))
}

/// A command in the shell of an agent program.
fn in_host(host: Host, line: &str, directory: &Path) -> ToolCall {
    let input = serde_json::json!({ SHELL_PARAMETER: line });
    host.call(host.shell_name(), input, Some(directory.display().to_string()))
}

fn paused_line(until_ms: Option<i64>) -> String {
    let until =
        until_ms.map_or(String::new(), |until| format!(" until {}", local_time(until, now_ms())));
    format!("corrections are paused{until}; to continue: towpath rules continue")
}

/// The variable is set, and does not turn corrections off.
fn unknown_switch(value: &str) -> String {
    format!("warning: {VARIABLE}={} means nothing; to turn corrections off: off", clean(value))
}

/// Why no hook corrects anything here, if it is so, or a value that was meant to be the reason.
fn not_applied(env: &Environment, active: &ActiveRules) -> Option<String> {
    let paused = active.pause.map(|pause| paused_line(pause.until_ms));
    let value = env.get(VARIABLE);
    match switch(value) {
        Switch::Off => {
            let value = value.map(|value| value.to_string_lossy()).unwrap_or_default();
            Some(format!("corrections are off here: {VARIABLE}={}", clean(&value)))
        }
        Switch::On => paused,
        Switch::Unknown(value) => paused.or_else(|| Some(unknown_switch(&value))),
    }
}

/// Draws what is wrong with the project's file of rules; everything else works without them.
fn show_project_problems(env: &Environment, project: Option<&ProjectRules>) {
    let Some(project) = project.filter(|project| !project.problems.is_empty()) else { return };
    diagnostics::draw(&project.problems, env.color);
    let path = shown_path(&project.path, env);
    out::note(format!("warning: the rules of {path} are not used until it is fixed"));
}

/// There is no rule with this number.
fn no_rule(number: u64) -> CommandError {
    let message = format!("there is no rule {number}; `towpath rules` lists them");
    CommandError::new(Exit::BadInput, ErrorKind::NotFound, message)
}
