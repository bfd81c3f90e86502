//! The program. `cli.rs` chooses the command; this file turns how it ended into an exit code.

mod cli;
mod commands;
mod compat;
mod corrections;
mod debug_log;
mod documents;
mod duration_arguments;
mod environment;
mod exit;
mod git;
mod meant_command_line;
mod page;
mod query_program_version;
mod session;
mod settings;
mod skill_file;
mod terminal;
mod tools;

use environment::Invocation;
use exit::{CommandError, Ended, Exit};
use std::process::ExitCode;
use terminal::{diagnostics, out};

fn main() -> ExitCode {
    // Rust ignores SIGPIPE. We keep it that way, and handle a closed pipe where we write.
    let invocation = Invocation::read(cli::command_line);
    debug_log::start(&invocation);
    let Ended { result, json } = cli::run(&invocation);
    let error = match result {
        Ok(Exit::Done) if out::failed() => return Exit::Setup.into(),
        Ok(exit) => return exit.into(),
        Err(error) => error,
    };
    if json {
        out::json(&error_json(&error));
    }
    if !error.shown {
        let (on, off) = if invocation.color() { ("\u{1b}[1;31m", "\u{1b}[0m") } else { ("", "") };
        out::note(format!("{on}error{off}: {}", error.message));
    }
    error.exit.into()
}

/// The one object on stdout when a command with `--json` has failed.
fn error_json(error: &CommandError) -> serde_json::Value {
    let mut value = serde_json::json!({
        "schema": 1,
        "success": false,
        "error": { "kind": error.kind.as_str(), "message": error.message },
    });
    if !error.problems.is_empty() {
        value["problems"] = error.problems.iter().map(diagnostics::problem_json).collect();
    }
    value
}
