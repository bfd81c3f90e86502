//! `dp init` and `dp pave --hook`: our hooks in an agent program's settings. `init` installs those that
//! record what was called, `pave --hook` those that correct.

use super::Dp;
use crate::corrections::install::{apply, plan};
use crate::exit::{CommandError, Exit};
use crate::session::choose_agent::host_version;
use crate::terminal::out;
use crate::terminal::shown_path::shown_path;
use serde_json::json;
use std::path::PathBuf;
use towpath_corrections::host::{HookEvent, Host};
use towpath_corrections::install::{Hooks, HostFiles, Request, Target, is_dp};

/// Record the calls of an agent program by its hooks.
///
/// Example: dp init --source claude-code
#[derive(Debug, clap::Args)]
pub struct InitArgs {
    /// The agent program.
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// The same as --source claude-code.
    #[arg(long, hide = true)]
    claude_code: bool,
    /// All calls are recorded anyway.
    #[arg(long, hide = true)]
    track_all: bool,
    /// The settings file (default: the agent program's own).
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
}

pub fn init(dp: &Dp<'_>, args: &InitArgs) -> Result<Exit, CommandError> {
    let name = match (&args.source, args.claude_code) {
        (Some(name), true) if name != Host::ClaudeCode.name() => {
            let message = format!("--claude-code conflicts with --source {name}");
            return Err(CommandError::bad_input(message));
        }
        (_, true) => Host::ClaudeCode.name(),
        (Some(name), false) => name,
        (None, false) => {
            let message = format!("specify a source with --source NAME (available: {})", names());
            return Err(CommandError::bad_input(message));
        }
    };
    let host = source(name)?;
    let changed = install(dp, host, Hooks::Recording, args.settings.clone())?;
    match (dp.json, changed) {
        (true, true) => out::json(&json!({
            "status": "configured",
            "source": name,
            "track_all": args.track_all,
        })),
        (true, false) => out::json(&json!({ "status": "already_configured", "source": name })),
        (false, true) => {
            out::line(format!("Source {name:?} integration configured!"));
            out::line(format!(
                "All tool invocations will be recorded ({}).",
                recorded_events(host)
            ));
            out::line("View them with:   dp list");
            out::line("Analyze patterns: dp paths");
        }
        (false, false) => out::line(format!("hooks already configured for {name}")),
    }
    Ok(Exit::Done)
}

/// `dp pave --hook`, for Claude Code.
pub fn pave(dp: &Dp<'_>, settings: Option<PathBuf>) -> Result<(), CommandError> {
    let changed = install(dp, Host::ClaudeCode, Hooks::Correcting, settings)?;
    match (dp.json, changed) {
        (true, changed) => {
            let status = if changed { "configured" } else { "already_configured" };
            out::json(&json!({ "status": status, "hook": "PreToolUse" }));
        }
        (false, true) => {
            out::line("PreToolUse intercept hook installed!");
            out::line(
                "Hallucinated tool names matching aliases will now be blocked automatically.",
            );
            out::line("Manage aliases with: dp alias <from> <to>");
        }
        (false, false) => out::line("PreToolUse hook already installed."),
    }
    Ok(())
}

/// The agent program that is called so.
pub fn source(name: &str) -> Result<Host, CommandError> {
    Host::from_name(name).ok_or_else(|| {
        CommandError::bad_input(format!("unknown source {name:?} (available: {})", names()))
    })
}

pub fn names() -> String {
    Host::ALL.map(Host::name).join(", ")
}

/// The events that record, as the host calls them.
fn recorded_events(host: Host) -> String {
    let events = HostFiles::of(host).events.iter();
    let after = events.filter(|event| matches!(event.event, HookEvent::Post | HookEvent::Failure));
    after.map(|event| event.name.as_str()).collect::<Vec<_>>().join(" + ")
}

/// Whether something was written.
fn install(
    dp: &Dp<'_>,
    host: Host,
    hooks: Hooks,
    settings: Option<PathBuf>,
) -> Result<bool, CommandError> {
    // Failed calls are what this name is for: a version that is not known is taken for a new one.
    let version = host_version(dp.env, host).or(Some((u64::MAX, 0, 0)));
    let target = settings.map_or(Target::User, |file| Target::File(dp.env.expand_home(&file)));
    let as_dp = is_dp(dp.env) && HostFiles::of(host).has_commands();
    let request = Request { host, target, hooks, remove: false, version, as_dp };
    let (plan, notes) = plan(dp.env, &request)?;
    apply(dp.env, &plan)?;
    for change in plan.changes.iter().filter(|_| !plan.is_empty()) {
        let file = shown_path(&change.path, dp.env);
        out::note(format!("{file}: {}", change.action().word()));
    }
    for note in &notes {
        out::note(format!("note: {note}"));
    }
    Ok(!plan.is_empty())
}
