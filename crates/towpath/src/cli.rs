//! The commands of `towpath`. Each command's own file holds its arguments; their doc comments are
//! its help.

use crate::commands;
use crate::compat;
use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;

/// Recipes that code enforces, for people who work with AI coding agents.
///
/// A recipe says what is to be done; towpath does it step by step, keeps the record of every run,
/// and goes on where it was cut off.
#[derive(Debug, Parser)]
#[command(name = "towpath", version, propagate_version = false, disable_help_subcommand = true)]
#[command(after_help = "Start with: towpath run demo")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(hide = true)]
    Overview,
    Run(commands::run::Args),
    Resume(commands::resume::Args),
    Runs(commands::runs::Args),
    Show(commands::show::Args),
    Logs(commands::logs::Args),
    Cancel(commands::cancel::Args),
    List(commands::list::Args),
    New(commands::new::Args),
    Recipes(commands::recipes::Args),
    Validate(commands::validate::Args),
    Test(commands::test::Args),
    Explain(commands::explain::Args),
    Trust(commands::trust::Args),
    Settings(commands::settings::Args),
    Doctor(commands::doctor::Args),
    Link(commands::link::Args),
    Schema(commands::schema::Args),
    Completions(commands::completions::Args),
    Man(commands::man::Args),
    Uninstall(commands::uninstall::Args),
    /// Work under another program's name: its flags, texts and exit codes.
    ///
    /// Example: towpath as recipe-runner-rs build.yaml --set mode=release
    As {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

/// The whole command line, for what is made from it.
pub fn command() -> clap::Command {
    Cli::command()
}

pub fn parse(arguments: &[OsString]) -> Result<Command, clap::Error> {
    let matches = Cli::command().try_get_matches_from(arguments)?;
    Ok(Cli::from_arg_matches(&matches)?.command)
}

/// Answers who asks for nothing but the version. Building all commands first would take longer than
/// the rest of the start; what is printed is what they would print.
pub fn answer_version(name: &str, arguments: &[OsString]) -> bool {
    let asked = arguments.first().is_some_and(|a| a == "--version" || a == "-V");
    if asked {
        out::stdout(format!("{name} {}\n", env!("CARGO_PKG_VERSION")).as_bytes());
    }
    asked
}

/// Shows help on stdout, and what was wrong on stderr.
pub fn usage(error: &clap::Error) -> Exit {
    let text = error.render();
    if error.use_stderr() {
        let color = crate::environment::Environment::read().is_ok_and(|s| s.color);
        let text = if color { text.ansi().to_string() } else { text.to_string() };
        out::stderr(text.as_bytes());
        return Exit::BadInput;
    }
    out::stdout(text.to_string().as_bytes());
    Exit::Done
}

impl Command {
    pub fn json(&self) -> bool {
        match self {
            Command::Run(args) => args.shared.json,
            Command::Resume(args) => args.shared.json,
            Command::Runs(args) => args.json(),
            Command::Show(args) => args.json,
            Command::List(args) => args.json,
            Command::Validate(args) => args.json,
            Command::Test(args) => args.json,
            Command::Explain(args) => args.is_json(),
            Command::Trust(args) => args.json,
            Command::Settings(args) => args.json,
            Command::Doctor(args) => args.json,
            Command::Logs(_) | Command::Cancel(_) | Command::Link(_) => false,
            Command::Recipes(args) => args.json(),
            Command::New(_) | Command::Schema(_) | Command::Completions(_) | Command::Man(_) => {
                false
            }
            Command::Uninstall(_) => false,
            Command::Overview | Command::As { .. } => false,
        }
    }

    pub fn execute(self) -> Result<Exit, CommandError> {
        match self {
            Command::Overview => commands::overview::execute(),
            Command::Run(args) => commands::run::execute(args),
            Command::Resume(args) => commands::resume::execute(args),
            Command::Runs(args) => commands::runs::execute(&args),
            Command::Show(args) => commands::show::execute(&args),
            Command::Logs(args) => commands::logs::execute(&args),
            Command::Cancel(args) => commands::cancel::execute(&args),
            Command::List(args) => commands::list::execute(&args),
            Command::Validate(args) => commands::validate::execute(&args),
            Command::Test(args) => commands::test::execute(&args),
            Command::Explain(args) => commands::explain::execute(&args),
            Command::Trust(args) => commands::trust::execute(&args),
            Command::Settings(args) => commands::settings::execute(&args),
            Command::Doctor(args) => commands::doctor::execute(&args),
            Command::Link(args) => commands::link::execute(&args),
            Command::Schema(args) => commands::schema::execute(&args),
            Command::New(args) => commands::new::execute(&args),
            Command::Recipes(args) => commands::recipes::execute(&args),
            Command::Completions(args) => commands::completions::execute(&args),
            Command::Man(args) => commands::man::execute(&args),
            Command::Uninstall(args) => commands::uninstall::execute(&args),
            Command::As { arguments } => compat::run_as(&arguments),
        }
    }
}
