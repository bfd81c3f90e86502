//! The binary: reads the arguments, hands over to one file per command, turns what comes back
//! into an exit code. Under another name it is one of the programs whose habits it keeps.

mod chart;
mod cli;
mod commands;
mod compat;
mod environment;
mod exit;
mod files;
mod git;
mod result_json;
mod session;
mod settings;
mod terminal;

use exit::{CommandError, Exit};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use terminal::out;

fn main() -> ExitCode {
    // Rust ignores SIGPIPE; we keep it so and treat a closed pipe where we write.
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    let name = arguments
        .first()
        .and_then(|a| Path::new(a).file_name())
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
    if compat::NAMES.iter().any(|other| other.name == name) {
        return finish(compat::run(&name, &arguments[1..]), false);
    }
    if let Some(answered) = commands::completions::answer(&arguments) {
        return answered;
    }
    if cli::answer_version("towpath", arguments.get(1..).unwrap_or_default()) {
        return finish(Ok(Exit::Done), false);
    }
    let asks = |a: &OsString| a == "--help" || a == "-h";
    if arguments.get(1).is_some_and(|a| a == "as") && !arguments.get(2).is_some_and(asks) {
        return finish(compat::run_as(&arguments[2..]), false);
    }
    if arguments.len() == 1 {
        arguments.push("overview".into());
    }
    match cli::parse(&arguments) {
        Ok(command) => {
            let json = command.json();
            finish(command.execute(), json)
        }
        Err(error) => finish(Ok(cli::usage(&error)), false),
    }
}

fn finish(result: Result<Exit, CommandError>, json: bool) -> ExitCode {
    match result {
        Ok(Exit::Done) if out::failed() => Exit::Setup.into(),
        Ok(exit) => exit.into(),
        Err(stop) => {
            if json {
                out::json(&serde_json::json!({
                    "schema": 1,
                    "success": false,
                    "error": { "kind": stop.kind, "message": stop.message },
                }));
            }
            if !stop.shown {
                let color = environment::Environment::read().is_ok_and(|s| s.color);
                let (on, off) = if color { ("\u{1b}[1;31m", "\u{1b}[0m") } else { ("", "") };
                out::note(format!("{on}error{off}: {}", stop.message));
            }
            stop.exit.into()
        }
    }
}
