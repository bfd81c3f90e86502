//! `towpath completions`: the script that lets a shell complete our words. The script asks this
//! program at every Tab, so that recipes, runs and steps complete too. Answering reads directories
//! and the journal, nothing else: it starts no process, asks nothing, says nothing on stderr.

mod candidates;
mod line;

use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use candidates::{Kind, candidates};
use clap::builder::ValueHint;
use clap::{Arg, Command};
use clap_complete::env::{CompleteEnv, Shells};
use clap_complete::{ArgValueCompleter, CompletionCandidate};
use line::Line;
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;
use std::sync::Arc;

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

pub fn execute(args: &Args) -> Result<Exit, CommandError> {
    let shells = Shells::builtins();
    let shell = shells.completer(args.shell.name()).expect("these shells are built in");
    let mut script = Vec::new();
    // By its name on PATH, so that the script stays right when the program moves.
    shell
        .write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)
        .map_err(|e| CommandError::setup(format!("the script cannot be made: {e}")))?;
    out::stdout(&script);
    Ok(Exit::Done)
}

/// Answers a shell that asks; None when nobody asked.
pub fn answer(arguments: &[OsString]) -> Option<ExitCode> {
    let shell = std::env::var_os(VARIABLE).filter(|shell| !shell.is_empty())?;
    silence();
    let line = Arc::new(Line::new(arguments, std::env::var_os("_CLAP_COMPLETE_INDEX")));
    // bash puts what it is given onto the line as it is, where it would be code.
    let plain = shell == "bash";
    let factory = || taught(crate::cli::command(), &line, plain);
    let current = std::env::current_dir().ok();
    let answered = CompleteEnv::with_factory(factory)
        .var(VARIABLE)
        .try_complete(arguments.iter().cloned(), current.as_deref());
    Some(if answered.is_ok() { Exit::Done.into() } else { Exit::BadInput.into() })
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
fn taught(command: Command, line: &Arc<Line>, plain: bool) -> Command {
    let flags = line.current().as_encoded_bytes().starts_with(b"-");
    let name = command.get_name().to_owned();
    let command = command.mut_args(|arg| {
        // Flags are offered to who begins to type one, or where there is nothing else.
        let arg = if flags || arg.is_positional() { arg } else { arg.hide(true) };
        match kind(&name, &arg) {
            Some(kind) => arg.add(completer(kind, Arc::clone(line), plain)),
            None => arg,
        }
    });
    let command = if flags { command } else { command.disable_help_flag(true) };
    let command = if flags { command } else { command.disable_version_flag(true) };
    command.mut_subcommands(|inner| taught(inner, line, plain))
}

/// What an argument's value is.
fn kind(command: &str, arg: &Arg) -> Option<Kind> {
    let named = match arg.get_id().as_str() {
        "recipe" | "recipes" => Some(Kind::Recipe),
        "builtin" => Some(Kind::BuiltIn),
        "run" | "runs" => Some(match command {
            "resume" => Kind::Run { but: &["done"] },
            "cancel" => Kind::Run { but: &["done", "failed", "cancelled"] },
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

fn completer(kind: Kind, line: Arc<Line>, plain: bool) -> ArgValueCompleter {
    ArgValueCompleter::new(move |begun: &OsStr| -> Vec<CompletionCandidate> {
        let mut found = candidates(kind, &line, begun);
        found.retain(|candidate| !plain || is_plain(candidate.get_value()));
        found
    })
}

/// Whether a word means itself on a line of bash.
fn is_plain(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"_-./+=@,%~:".contains(b))
}
