//! Our hooks in the settings of the agent programs, planned for this machine, with what a user has to
//! do or to know.

use super::shown;
use crate::environment::Environment;
use crate::exit::CommandError;
use crate::terminal::format::clean;
use crate::terminal::shown_path::shown_path;
use towpath_corrections::host::Host;
use towpath_corrections::install::{HostFiles, NAME, Obstacle, PACKAGE, Plan, Request, Scope};

/// What a request would change, and notes about it. Nothing is written.
pub fn plan(env: &Environment, request: &Request) -> Result<(Plan, Vec<String>), CommandError> {
    let plan = towpath_corrections::install::plan(env, request).map_err(|e| shown(env, e))?;
    let notes = if request.remove { Vec::new() } else { notes(env, request, &plan) };
    Ok((plan, notes))
}

pub fn apply(env: &Environment, plan: &Plan) -> Result<(), CommandError> {
    plan.apply().map_err(|error| shown(env, error))
}

/// What is in the way of our hooks, in a line.
pub fn obstacle_note(obstacle: &Obstacle, host: Host) -> String {
    let title = &HostFiles::of(host).title;
    match obstacle {
        Obstacle::AllOff(key) => format!("{key} is true in this file: {title} runs no hook at all"),
        Obstacle::OtherHook(command) => format!(
            "`{}` runs before calls too: if it also rewrites commands, {title} uses one of the two",
            clean(command)
        ),
    }
}

fn notes(env: &Environment, request: &Request, plan: &Plan) -> Vec<String> {
    let mut notes = Vec::new();
    let changed = !plan.is_empty();
    let project = plan.scope == Scope::Project;
    if project && env.on_path(NAME).is_none() {
        notes.push(format!(
            "{NAME} is not on PATH here: the hooks of this project do nothing for you"
        ));
    }
    notes.extend(plan.obstacles.iter().map(|obstacle| obstacle_note(obstacle, plan.host)));
    let about_host = match request.host {
        Host::ClaudeCode if request.version.is_none() => {
            "the version of Claude Code is not known, so the hooks for failed calls and for unknown \
             tools are left out"
                .to_owned()
        }
        Host::ClaudeCode if project && changed => {
            "the hooks for failed calls and for unknown tools need Claude Code 2.1.119 or newer: in \
             an older one no hook of this project runs"
                .to_owned()
        }
        Host::Codex if changed => {
            "Codex runs a new or changed hook only after you trust it: start codex, type /hooks, \
             and trust the entries of towpath"
                .to_owned()
        }
        Host::OpenCode if changed => opencode_note(env, plan),
        Host::Gemini | Host::Copilot | Host::Cursor if changed && project => {
            let title = &HostFiles::of(request.host).title;
            format!("{title} runs the hooks of a project only in a trusted folder")
        }
        _ => return notes,
    };
    notes.push(about_host);
    notes
}

fn opencode_note(env: &Environment, plan: &Plan) -> String {
    let package = plan.changes.iter().find(|change| change.path.ends_with("package.json"));
    let beside = package.and_then(|change| change.path.parent());
    let directory = beside.map(|path| shown_path(path, env)).unwrap_or_default();
    format!(
        "OpenCode installs {PACKAGE} at its next start and waits for the network; to install it \
         now: npm install --prefix {directory}"
    )
}
