//! `towpath completions`: the script that lets a shell complete our words. The script asks this
//! program at every Tab, so that recipes, runs and steps complete too. Answering reads directories
//! and the journal, nothing else: it starts no process, asks nothing, says nothing on stderr.

mod candidates;
mod line;

use super::Execute;
use crate::environment::{Environment, Invocation, current_directory};
use crate::exit::{CommandError, Ended, Exit};
use crate::terminal::out;
use candidates::{Kind, candidates};
use clap::builder::ValueHint;
use clap::{Arg, Command};
use clap_complete::env::{CompleteEnv, Shells};
use clap_complete::{ArgValueCompleter, CompletionCandidate};
use line::Line;
use std::ffi::OsStr;
use std::sync::Arc;
use towpath_core::StatusKind;

/// Let your shell complete commands, flags, recipes, runs and steps
///
/// Put the line of your shell where it is read at its start:
///
///   bash  ~/.bashrc:  source <(towpath completions bash)
///   zsh   ~/.zshrc, below compinit:  source <(towpath completions zsh)
///   fish  ~/.config/fish/config.fish:  towpath completions fish | source
///
/// Example: towpath completions bash
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[arg(value_enum)]
    pub shell: Shell,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Shell {
    fn name(self) -> &'static str {
        match self {
            Shell::Bash => "bash",
            Shell::Zsh => "zsh",
            Shell::Fish => "fish",
        }
    }
}

/// Set by the script when it asks; its value is the shell.
pub const VARIABLE: &str = "TOWPATH_COMPLETE";
const PROGRAM: &str = "towpath";

impl Execute for Args {
    fn execute(&self, _: &Invocation) -> Result<Exit, CommandError> {
        let shells = Shells::builtins();
        let shell = shells.completer(self.shell.name()).expect("these shells are built in");
        let mut script = Vec::new();
        // By its name on PATH, so that the script stays right when the program moves.
        shell
            .write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)
            .map_err(|e| CommandError::setup(format!("the script cannot be made: {e}")))?;
        out::stdout(&script);
        Ok(Exit::Done)
    }
}

/// What a shell asks to complete.
struct Asked {
    line: Line,
    env: Option<Environment>,
}

/// Answers a shell that asks for completions; None when none does.
pub fn answer(invocation: &Invocation) -> Option<Ended> {
    let shell = invocation.variable(VARIABLE).filter(|shell| !shell.is_empty())?;
    silence();
    let index = invocation.variable("_CLAP_COMPLETE_INDEX").cloned();
    let asked = Arc::new(Asked {
        line: Line::new(&invocation.arguments, index),
        env: invocation.environment().ok().cloned(),
    });
    // bash puts what it is given onto the line as it is, where it would be code.
    let plain = shell == "bash";
    let factory = || taught((invocation.command_line)(), &asked, plain);
    let current = current_directory().ok();
    let answered = CompleteEnv::with_factory(factory)
        .var(VARIABLE)
        .try_complete(invocation.arguments.iter().cloned(), current.as_deref());
    let exit = if answered.is_ok() { Exit::Done } else { Exit::BadInput };
    Some(Ok(exit).into())
}

/// Whatever is wrong must not appear in the middle of the line being typed.
fn silence() {
    if let Ok(nowhere) = std::fs::OpenOptions::new().write(true).open("/dev/null") {
        // Then it is told where it stands in the way, which is no worse than before.
        let _ = rustix::stdio::dup2_stderr(nowhere);
    }
}

/// A command whose arguments know what they can be. Arguments are known by their names, so that
/// a new command that takes a `run` or a `recipe` needs nothing here.
fn taught(command: Command, asked: &Arc<Asked>, plain: bool) -> Command {
    let flags = asked.line.current().as_encoded_bytes().starts_with(b"-");
    let name = command.get_name().to_owned();
    let command = command.mut_args(|arg| {
        // Flags are offered to who begins to type one, or where there is nothing else.
        let arg = if flags || arg.is_positional() { arg } else { arg.hide(true) };
        match kind(&name, &arg) {
            Some(kind) => arg.add(completer(kind, Arc::clone(asked), plain)),
            None => arg,
        }
    });
    let command = if flags { command } else { command.disable_help_flag(true) };
    let command = if flags { command } else { command.disable_version_flag(true) };
    command.mut_subcommands(|inner| taught(inner, asked, plain))
}

/// What an argument's value is.
fn kind(command: &str, arg: &Arg) -> Option<Kind> {
    let named = match arg.get_id().as_str() {
        "recipe" | "recipes" => Some(Kind::Recipe),
        "builtin" => Some(Kind::BuiltIn),
        "run" | "runs" => Some(match command {
            "resume" => Kind::Run { but: &[StatusKind::Done] },
            "cancel" => {
                Kind::Run { but: &[StatusKind::Done, StatusKind::Failed, StatusKind::Cancelled] }
            }
            _ => Kind::Run { but: &[] },
        }),
        "step" | "done" | "again" => Some(Kind::Step),
        _ => None,
    };
    let directory = arg.get_value_names().is_some_and(|names| names.iter().any(|n| n == "DIR"));
    let path = || match arg.get_value_hint() {
        ValueHint::AnyPath if directory => Some(Kind::Directory),
        ValueHint::DirPath => Some(Kind::Directory),
        ValueHint::AnyPath | ValueHint::FilePath => Some(Kind::Path),
        _ => None,
    };
    named.filter(|_| arg.get_action().takes_values()).or_else(path)
}

fn completer(kind: Kind, asked: Arc<Asked>, plain: bool) -> ArgValueCompleter {
    ArgValueCompleter::new(move |begun: &OsStr| -> Vec<CompletionCandidate> {
        let mut found = candidates(kind, &asked, begun);
        found.retain(|candidate| !plain || is_plain(candidate.get_value()));
        found
    })
}

/// Whether a word means itself on a line of bash.
fn is_plain(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"_-./+=@,%~:".contains(b))
}
