//! Which command an invocation means. What is answered without the argument parser is one table, the
//! commands are another: a new command is a file in `commands/` and a row here. A command's doc
//! comment is its help.

use crate::commands::{self, Execute as _};
use crate::compat;
use crate::corrections::hook;
use crate::environment::{ColorChoice, Invocation, system};
use crate::exit::{CommandError, Ended, Exit};
use crate::meant_command_line;
use crate::terminal::out;
use clap::{Args as _, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use std::ffi::OsString;
use towpath_process::sandbox::{SERVER_ARGUMENT, server_main};

/// What is answered before the parser of all commands is built, which takes longer than the rest of
/// the start. The first that answers wins.
const BEFORE_THE_PARSER: &[fn(&Invocation) -> Option<Ended>] = &[
    sandbox_server,
    compat::by_program_name,
    hook::answer,
    commands::completions::answer,
    version,
    compat::by_as,
];

macro_rules! commands {
    ($($(#[$attribute:meta])* $name:ident => $module:ident;)*) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($(#[$attribute])* $name(commands::$module::Args),)*
        }

        impl Command {
            /// Parses a command without building the parsers of the others. None: no command has the
            /// name that comes first, or it refuses the rest.
            fn parse_alone(arguments: &[OsString]) -> Option<(Command, GlobalFlags)> {
                let name = arguments.first()?.to_str()?;
                $(if name == stringify!($name).to_ascii_lowercase() {
                    let (command, flags) = parse_as(arguments)?;
                    return Some((Command::$name(command), flags));
                })*
                None
            }

            fn run(&self, invocation: &Invocation) -> Ended {
                match self {
                    $(Command::$name(args) => Ended {
                        result: args.execute(invocation),
                        json: args.json(),
                    },)*
                }
            }
        }
    };
}

commands! {
    #[command(hide = true)]
    Overview => overview;
    Run => run;
    Resume => resume;
    Runs => runs;
    Show => show;
    Logs => logs;
    Cancel => cancel;
    Ui => ui;
    List => list;
    New => new;
    Recipes => recipes;
    Render => render;
    Rules => rules;
    Failures => failures;
    Tool => tool;
    Hook => hook;
    Validate => validate;
    Test => test;
    Explain => explain;
    Trust => trust;
    Settings => settings;
    Init => init;
    Doctor => doctor;
    Link => link;
    Schema => schema;
    Skill => skill;
    Completions => completions;
    Man => man;
    Uninstall => uninstall;
    Help => help;
    As => as_name;
}

/// Recipes that code enforces, for people who work with AI coding agents.
///
/// Towpath runs a recipe step by step, records every step, and resumes a run where it was
/// interrupted.
#[derive(Debug, Parser)]
#[command(name = "towpath", version, propagate_version = false, disable_help_subcommand = true)]
#[command(after_help = "Start with: towpath run demo")]
struct Cli {
    #[command(flatten)]
    flags: GlobalFlags,
    #[command(subcommand)]
    command: Command,
}

/// The flags of every command.
#[derive(Debug, clap::Args)]
struct GlobalFlags {
    /// When our own text is coloured: auto, always or never.
    ///
    /// With `always`, steps get `FORCE_COLOR` and `CLICOLOR_FORCE`.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t)]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    color: ColorChoice,
}

/// The whole command line, for what is made from it.
pub fn command_line() -> clap::Command {
    Cli::command()
}

pub fn run(invocation: &Invocation) -> Ended {
    let answered = BEFORE_THE_PARSER.iter().find_map(|answer| answer(invocation));
    answered.unwrap_or_else(|| match parse(invocation) {
        Ok(command) => command.run(invocation),
        Err(error) => Ended { result: usage(error, invocation), json: asks_for_json(invocation) },
    })
}

fn parse_as<A: clap::Args>(arguments: &[OsString]) -> Option<(A, GlobalFlags)> {
    let parser = GlobalFlags::augment_args(A::augment_args(clap::Command::new("towpath")));
    let matches = parser.try_get_matches_from(arguments).ok()?;
    Some((A::from_arg_matches(&matches).ok()?, GlobalFlags::from_arg_matches(&matches).ok()?))
}

fn parse(invocation: &Invocation) -> Result<Command, clap::Error> {
    // Help, and what is wrong with the arguments, are the business of the parser of all commands.
    if let Some((command, flags)) = Command::parse_alone(invocation.rest()) {
        invocation.choose_color(flags.color);
        return Ok(command);
    }
    let mut arguments = invocation.arguments.clone();
    if arguments.len() == 1 {
        arguments.push("overview".into());
    }
    let matches = command_line().try_get_matches_from(arguments)?;
    let Cli { flags, command } = Cli::from_arg_matches(&matches)?;
    invocation.choose_color(flags.color);
    Ok(command)
}

/// Prints help on stdout, and what is wrong with the arguments on stderr.
fn usage(error: clap::Error, invocation: &Invocation) -> Result<Exit, CommandError> {
    if let Some(message) = meant_command_line::message(&error, invocation) {
        return Err(CommandError::bad_input(message));
    }
    let error = meant_command_line::with_near_words_only(error, invocation);
    let text = error.render();
    if !error.use_stderr() {
        out::stdout(text.to_string().as_bytes());
        return Ok(Exit::Done);
    }
    let (plain, coloured) = (text.to_string(), text.ansi().to_string());
    out::stderr(if invocation.color() { coloured.as_bytes() } else { plain.as_bytes() });
    let first = plain.lines().take_while(|line| !line.is_empty()).map(str::trim);
    let first = first.collect::<Vec<_>>().join(" ");
    let message = first.strip_prefix("error: ").unwrap_or(&first);
    Err(CommandError { shown: true, ..CommandError::bad_input(message) })
}

/// Whether a line that cannot be parsed has `--json` among its flags.
fn asks_for_json(invocation: &Invocation) -> bool {
    invocation.rest().iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

/// This program as the process inside of a sandbox that it has opened.
fn sandbox_server(invocation: &Invocation) -> Option<Ended> {
    let (first, rest) = invocation.rest().split_first()?;
    (first == SERVER_ARGUMENT).then(|| server_main(rest))
}

fn version(invocation: &Invocation) -> Option<Ended> {
    let is_version = |word: &OsString| word == "--version" || word == "-V";
    let words = invocation.rest();
    if words.len() == 2 && words.iter().any(is_version) && words.iter().any(|w| w == "--json") {
        let ((os, arch), version) = (system(), env!("CARGO_PKG_VERSION"));
        let name = "towpath";
        out::json(&serde_json::json!({
            "schema": 1, "name": name, "version": version, "os": os, "arch": arch,
        }));
        return Some(Ok(Exit::Done).into());
    }
    compat::answer_version("towpath", words).then(|| Ok(Exit::Done).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_can_be_parsed_alone() {
        let alone = |arguments: &[&str]| {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            Command::parse_alone(&arguments).map(|(command, _)| command)
        };
        for command in command_line().get_subcommands() {
            let name = command.get_name();
            let all = command_line().try_get_matches_from(["towpath", name]).is_ok();
            assert_eq!(alone(&[name]).is_some(), all, "{name}");
        }
        assert!(matches!(alone(&["run", "a.yaml", "-q"]), Some(Command::Run(_))));
        assert!(matches!(alone(&["as", "dp"]), Some(Command::As(_))));
        assert!(alone(&["Run"]).is_none() && alone(&["run", "--unknown"]).is_none());
    }
}
