//! Our hooks in the settings of the agent programs: planned, shown, written and taken back. A plan reads
//! and decides; only applying it writes. Whatever is not ours stays as it is, byte for byte, and a file
//! that cannot be read for sure is refused and not touched.

mod change_settings_file;
mod foreign_hooks;
mod hook_command;
mod host_settings_table;
mod installed_hooks;
mod json_edit;
mod json_with_byte_ranges;
mod opencode_plugin;
mod settings_entries;

pub use change_settings_file::{Action, Backup, FileChange};
pub use foreign_hooks::foreign_hooks;
pub use host_settings_table::{HostFiles, Scope};
pub use installed_hooks::{Installed, installed};

use crate::environment::Environment;
use crate::exit_codes_and_errors::{CommandError, ErrorKind, Exit};
use crate::terminal::diagnostics;
use crate::terminal::shown_path::shown_path;
use hook_command::{NAME, Program};
use host_settings_table::{Form, InstalledEvent};
use json_with_byte_ranges::JsonError;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use towpath_core::{Diagnostic, Source, Span};
use towpath_corrections::host::{HookEvent, Host};

/// What is to be installed or removed.
#[derive(Debug, Clone)]
pub struct Request {
    pub host: Host,
    pub target: Target,
    pub hooks: Hooks,
    pub remove: bool,
    /// The host's version on this machine, where it is known.
    pub version: Option<(u64, u64, u64)>,
    /// The hooks are those of the name `dp`.
    pub as_dp: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The user's own settings.
    User,
    /// The settings of the project with this root.
    Project(PathBuf),
    /// This file, as the user's own settings.
    File(PathBuf),
}

/// Which hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hooks {
    All,
    /// Those that correct: before a call, after it to see whether the correction was used, and for tools
    /// that do not exist.
    Correcting,
    /// Those that record what was called.
    Recording,
}

/// The files that would change, and what the user has to do or to know.
#[derive(Debug)]
pub struct Plan {
    pub host: Host,
    pub scope: Scope,
    pub changes: Vec<FileChange>,
    pub notes: Vec<String>,
}

impl Target {
    fn scope(&self) -> Scope {
        match self {
            Target::User | Target::File(_) => Scope::User,
            Target::Project(_) => Scope::Project,
        }
    }

    fn path(&self, row: &HostFiles, env: &Environment) -> Result<PathBuf, CommandError> {
        match self {
            Target::User => user_path(row, env),
            Target::Project(root) => Ok(row.project_path(root)),
            Target::File(file) => Ok(env.current.join(env.expand_home(file))),
        }
    }
}

impl Hooks {
    fn has(self, event: HookEvent, as_dp: bool) -> bool {
        match self {
            Hooks::All => true,
            Hooks::Correcting if as_dp => event == HookEvent::Pre,
            Hooks::Correcting => event != HookEvent::Failure,
            Hooks::Recording if as_dp => matches!(event, HookEvent::Post | HookEvent::Failure),
            Hooks::Recording => event != HookEvent::Pre,
        }
    }
}

fn user_path(row: &HostFiles, env: &Environment) -> Result<PathBuf, CommandError> {
    let home = env.home.as_deref().ok_or_else(|| {
        CommandError::setup("HOME is not set, so that your settings cannot be found")
    })?;
    Ok(row.user_path(&|name| env.get(name).map(PathBuf::from), home))
}

/// What a request would change. Nothing is written.
pub fn plan(env: &Environment, request: &Request) -> Result<Plan, CommandError> {
    let row = HostFiles::of(request.host);
    let scope = request.target.scope();
    let path = request.target.path(row, env)?;
    let mut file = FileChange::read(&path, env)?;
    let mut changes = Vec::new();
    if row.form == Form::Plugin {
        changes.extend(plan_plugin(env, request, &mut file)?);
    } else {
        let edited = edit(env, request, row, &file);
        file.after = edited?.map_err(|error| malformed(&file, &error, env))?;
    }
    changes.insert(0, file);
    let notes = notes(env, request, &changes);
    Ok(Plan { host: request.host, scope, changes, notes })
}

impl Plan {
    pub fn is_empty(&self) -> bool {
        self.changes.iter().all(|change| change.action() == Action::Unchanged)
    }

    pub fn apply(&self, env: &Environment) -> Result<(), CommandError> {
        self.changes.iter().try_for_each(|change| change.check_writable(env))?;
        self.changes.iter().try_for_each(|change| change.apply(env))
    }
}

/// Whether the name `dp` on PATH is this program.
pub fn is_dp(env: &Environment) -> bool {
    Program::is_dp(env)
}

type Edited = Result<Option<String>, JsonError>;

fn edit(
    env: &Environment,
    request: &Request,
    row: &HostFiles,
    file: &FileChange,
) -> Result<Edited, CommandError> {
    let scope = request.target.scope();
    if request.remove {
        let unchanged = || Ok(file.before.clone());
        let without = |text| settings_entries::without_ours(text, row);
        return Ok(file.text().map_or_else(unchanged, without));
    }
    let program = match request.as_dp {
        true => Program::Dp,
        false => Program::of(env, scope)?,
    };
    let events = row.events(scope, request.version);
    let wanted: Vec<(InstalledEvent, String)> = events
        .iter()
        .filter(|event| request.hooks.has(event.event, request.as_dp))
        .map(|event| (*event, program.command(row, event.event)))
        .collect();
    let known = match (file.text(), request.version) {
        (None, _) => Ok(None),
        // What this version of the host would not read is taken out.
        (Some(text), Some(_)) => settings_entries::only_events(text, row, &events),
        (Some(text), None) => Ok(Some(text.to_owned())),
    };
    Ok(known.and_then(|known| match known {
        Some(text) => settings_entries::with_ours(&text, row, &wanted).map(Some),
        None => Ok(Some(settings_entries::only_ours(row, scope, &wanted))),
    }))
}

fn plan_plugin(
    env: &Environment,
    request: &Request,
    plugin: &mut FileChange,
) -> Result<Option<FileChange>, CommandError> {
    if plugin.text().is_some_and(|text| !opencode_plugin::is_ours(text)) {
        let shown = shown_path(&plugin.path, env);
        return Err(CommandError::setup(format!(
            "{shown} exists, and towpath did not write it: move it away first"
        )));
    }
    let program = match request.remove {
        true => None,
        false => Some(Program::of(env, request.target.scope())?),
    };
    let beside = plugin.path.parent().and_then(Path::parent);
    let beside = beside.ok_or_else(|| CommandError::bad_input("a plugin needs a directory"))?;
    let mut package = FileChange::read(&beside.join("package.json"), env)?;
    opencode_plugin::edit(plugin, &mut package, program.as_ref())
        .map_err(|error| malformed(&package, &error, env))?;
    Ok(Some(package))
}

/// Shows where a file is malformed.
fn malformed(file: &FileChange, error: &JsonError, env: &Environment) -> CommandError {
    let shown = shown_path(&file.path, env);
    let text = file.before.clone().unwrap_or_default();
    let source = Source::new(shown.clone(), text.clone());
    let (line, column) = source.line_column(error.at);
    let end = text[error.at..].chars().next().map_or(error.at, |c| error.at + c.len_utf8());
    let problem = Diagnostic::error("malformed-settings", error.message.clone())
        .at(&source, Span::new(error.at..end), "")
        .help("nothing was written; correct the file, then try again");
    diagnostics::draw(&[problem], env.color);
    let message = format!("{shown}:{line}:{column}: {}; nothing was written", error.message);
    CommandError { shown: true, ..CommandError::new(Exit::Setup, ErrorKind::Setup, message) }
}

fn notes(env: &Environment, request: &Request, changes: &[FileChange]) -> Vec<String> {
    let mut notes = Vec::new();
    let changed = changes.iter().any(|change| change.action() != Action::Unchanged);
    if request.remove {
        return notes;
    }
    let project = request.target.scope() == Scope::Project;
    if project && env.on_path(NAME).is_none() {
        notes.push(format!(
            "{NAME} is not on PATH here: the hooks of this project do nothing for you"
        ));
    }
    if let Some(text) = changes.first().and_then(|change| change.after.as_deref()) {
        notes.extend(foreign_hooks::notes(text, HostFiles::of(request.host)));
    }
    match request.host {
        Host::ClaudeCode if request.version.is_none() => notes.push(
            "the version of Claude Code is not known, so the hooks for failed calls and for unknown \
             tools are left out"
                .to_owned(),
        ),
        Host::ClaudeCode if project && changed => notes.push(
            "the hooks for failed calls and for unknown tools need Claude Code 2.1.119 or newer: in \
             an older one no hook of this project runs"
                .to_owned(),
        ),
        Host::Codex if changed => notes.push(
            "Codex runs a new or changed hook only after you trust it: start codex, type /hooks, \
             and trust the entries of towpath"
                .to_owned(),
        ),
        Host::OpenCode if changed => {
            let beside = changes.iter().find_map(|change| {
                (change.path.file_name()? == "package.json").then(|| change.path.parent())?
            });
            let directory = beside.map(|path| shown_path(path, env)).unwrap_or_default();
            notes.push(format!(
                "OpenCode installs {} at its next start and waits for the network; to install it \
                 now: npm install --prefix {directory}",
                opencode_plugin::PACKAGE
            ));
        }
        Host::Gemini | Host::Copilot | Host::Cursor
            if changed && project =>
        {
            let title = HostFiles::of(request.host).title;
            notes.push(format!("{title} runs the hooks of a project only in a trusted folder"));
        }
        _ => {}
    }
    notes
}

/// The settings with our hooks for a Claude Code that is started with them.
pub fn settings_for_claude_code(
    env: &Environment,
    version: Option<(u64, u64, u64)>,
) -> Result<Value, CommandError> {
    let row = HostFiles::of(Host::ClaudeCode);
    let program = Program::of(env, Scope::User)?;
    let entry = |event: InstalledEvent| {
        (event.name.to_owned(), json!([row.entry(&program.command(row, event.event))]))
    };
    let events = row.events(Scope::User, version).into_iter().map(entry);
    Ok(json!({ "hooks": events.collect::<Map<String, Value>>() }))
}
