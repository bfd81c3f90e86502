//! The answer to a shell that asks at every Tab. It reads directories and the journal, nothing else: it
//! starts no process, asks nothing, prints nothing on stderr.

use super::candidates::{ArgumentKind, candidates};
use super::typed_line::TypedLine;
use crate::environment::{Environment, Invocation, current_directory};
use crate::exit::{Ended, Exit};
use crate::session::run_status::{can_cancel, can_resume};
use clap::builder::ValueHint;
use clap::{Arg, Command};
use clap_complete::env::CompleteEnv;
use clap_complete::{ArgValueCompleter, CompletionCandidate};
use std::ffi::OsStr;
use std::sync::Arc;

/// Set by the script when it asks; its value is the shell.
pub const VARIABLE: &str = "TOWPATH_COMPLETE";

/// What a shell asks to complete.
pub(super) struct CompletionRequest {
    pub line: TypedLine,
    pub env: Option<Environment>,
}

/// Answers a shell that asks for completions; None when none does.
pub fn answer(invocation: &Invocation) -> Option<Ended> {
    let shell = invocation.variable(VARIABLE).filter(|shell| !shell.is_empty())?;
    silence();
    let index = invocation.variable("_CLAP_COMPLETE_INDEX").cloned();
    let request = Arc::new(CompletionRequest {
        line: TypedLine::new(&invocation.arguments, index),
        env: invocation.environment().ok().cloned(),
    });
    // Nobody knows the value but the user.
    if request.line.is_in_assignment() {
        return Some(Ok(Exit::Done).into());
    }
    // bash puts what it is given onto the line as it is, where it would be code.
    let plain = shell == "bash";
    let factory = || with_completers((invocation.command_line)(), &request, plain);
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
        // Without this the error is printed into that line, which is no worse than before.
        let _ = rustix::stdio::dup2_stderr(nowhere);
    }
}

/// A command whose arguments know what they can be. Arguments are known by their names, so that
/// a new command that takes a `run` or a `recipe` needs nothing here.
fn with_completers(command: Command, request: &Arc<CompletionRequest>, plain: bool) -> Command {
    let flags = request.line.current().as_encoded_bytes().starts_with(b"-");
    let name = command.get_name().to_owned();
    let command = command.mut_args(|arg| {
        // Flags are offered where the word begins as one, or where there is nothing else.
        let arg = if flags || arg.is_positional() { arg } else { arg.hide(true) };
        match kind(&name, &arg) {
            Some(kind) => arg.add(completer(kind, Arc::clone(request), plain)),
            None => arg,
        }
    });
    let command = if flags { command } else { command.disable_help_flag(true) };
    let command = if flags { command } else { command.disable_version_flag(true) };
    command.mut_subcommands(|inner| with_completers(inner, request, plain))
}

/// What an argument's value is.
fn kind(command: &str, arg: &Arg) -> Option<ArgumentKind> {
    let named = match arg.get_id().as_str() {
        "recipe" | "recipes" => Some(ArgumentKind::Recipe),
        "builtin" => Some(ArgumentKind::BuiltIn),
        "run" | "runs" => Some(match command {
            "resume" => ArgumentKind::Run { applies: can_resume },
            "cancel" => ArgumentKind::Run { applies: can_cancel },
            _ => ArgumentKind::Run { applies: |_| true },
        }),
        "step" | "done" | "again" | "prompt" | "diff" => Some(ArgumentKind::Step),
        "set" => Some(ArgumentKind::Variable),
        "backend" => Some(ArgumentKind::Backend),
        "rule" | "rules" => Some(ArgumentKind::Rule {
            enabled: match command {
                "enable" => Some(false),
                "disable" => Some(true),
                _ => None,
            },
        }),
        "starters" => Some(ArgumentKind::Starter),
        _ => None,
    };
    let directory = arg.get_value_names().is_some_and(|names| names.iter().any(|n| n == "DIR"));
    let path = || match arg.get_value_hint() {
        ValueHint::AnyPath if directory => Some(ArgumentKind::Directory),
        ValueHint::DirPath => Some(ArgumentKind::Directory),
        ValueHint::AnyPath | ValueHint::FilePath => Some(ArgumentKind::Path),
        _ => None,
    };
    named.filter(|_| arg.get_action().takes_values()).or_else(path)
}

fn completer(
    kind: ArgumentKind,
    request: Arc<CompletionRequest>,
    plain: bool,
) -> ArgValueCompleter {
    ArgValueCompleter::new(move |begun: &OsStr| -> Vec<CompletionCandidate> {
        let mut found = candidates(kind, &request, begun);
        found.retain(|candidate| !plain || is_plain(candidate.get_value()));
        found
    })
}

/// Whether a word means itself on a line of bash.
fn is_plain(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"_-./+=@,%~:".contains(b))
}
