//! Our hooks in the settings of the agent programs: planned, shown, written and taken back. A plan reads
//! and decides; only applying it writes. Whatever is not ours stays as it is, byte for byte, and a file
//! that cannot be read for sure is refused and not touched.

mod file_change;
mod foreign_hooks;
mod host_files;
mod installed;
mod json_edit;
mod json_node;
mod opencode_plugin;
mod program;
mod settings_entries;

use crate::{Error, User};
use file_change::unusable;
pub use file_change::{Action, Backup, FileChange};
pub use foreign_hooks::{Obstacle, foreign_hooks};
pub use host_files::{HostFiles, Scope};
pub use installed::{Installed, installed};
pub use opencode_plugin::PACKAGE;
pub use program::NAME;

use crate::host::{HookEvent, Host};
use host_files::{Form, InstalledEvent};
use json_node::JsonError;
use program::Program;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The hooks to install or remove.
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

/// The files that would change, and what the user has to know.
#[derive(Debug)]
pub struct Plan {
    pub host: Host,
    pub scope: Scope,
    pub changes: Vec<FileChange>,
    /// Obstacles to the hooks in the settings as they will be.
    pub obstacles: Vec<Obstacle>,
}

impl Target {
    fn scope(&self) -> Scope {
        match self {
            Target::User | Target::File(_) => Scope::User,
            Target::Project(_) => Scope::Project,
        }
    }

    fn path(&self, row: &HostFiles, user: &dyn User) -> Result<PathBuf, Error> {
        match self {
            Target::User => user_path(row, user),
            Target::Project(root) => Ok(row.project_path(root)),
            Target::File(file) => Ok(user.current().join(file)),
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

fn user_path(row: &HostFiles, user: &dyn User) -> Result<PathBuf, Error> {
    let unset = "HOME is not set, so that your settings cannot be found";
    let home = user.home().ok_or_else(|| Error::Setup(unset.to_owned()))?;
    Ok(row.user_path(&|name| user.variable(name).map(PathBuf::from), home))
}

/// What a request would change. Nothing is written.
pub fn plan(user: &dyn User, request: &Request) -> Result<Plan, Error> {
    let row = HostFiles::of(request.host);
    let scope = request.target.scope();
    let path = request.target.path(row, user)?;
    let mut file = FileChange::read(&path)?;
    let mut changes = Vec::new();
    if row.form == Form::Plugin {
        changes.extend(plan_plugin(user, request, &mut file)?);
    } else {
        let edited = edit(user, request, row, &file);
        file.after = edited?.map_err(|error| malformed(&file, error))?;
    }
    changes.insert(0, file);
    let text = changes[0].after.as_deref().filter(|_| !request.remove);
    let obstacles = text.map_or_else(Vec::new, |text| foreign_hooks::obstacles(text, row));
    Ok(Plan { host: request.host, scope, changes, obstacles })
}

impl Plan {
    pub fn is_empty(&self) -> bool {
        self.changes.iter().all(|change| change.action() == Action::Unchanged)
    }

    pub fn apply(&self) -> Result<(), Error> {
        self.changes.iter().try_for_each(FileChange::check_writable)?;
        self.changes.iter().try_for_each(FileChange::apply)
    }
}

/// Whether the name `dp` on PATH is this program.
pub fn is_dp(user: &dyn User) -> bool {
    Program::is_dp(user)
}

type Edited = Result<Option<String>, JsonError>;

fn edit(
    user: &dyn User,
    request: &Request,
    row: &HostFiles,
    file: &FileChange,
) -> Result<Edited, Error> {
    let scope = request.target.scope();
    if request.remove {
        let unchanged = || Ok(file.before.clone());
        let without = |text| settings_entries::without_ours(text, row);
        return Ok(file.text().map_or_else(unchanged, without));
    }
    let program = match request.as_dp {
        true => Program::Dp,
        false => Program::of(user, scope)?,
    };
    let events = row.events(scope, request.version);
    let wanted: Vec<(InstalledEvent, String)> = events
        .iter()
        .filter(|event| request.hooks.has(event.event, request.as_dp))
        .map(|event| (event.clone(), program.command(row, event.event)))
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
    user: &dyn User,
    request: &Request,
    plugin: &mut FileChange,
) -> Result<Option<FileChange>, Error> {
    if plugin.text().is_some_and(|text| !opencode_plugin::is_ours(text)) {
        let why = " exists, and towpath did not write it: move it away first".to_owned();
        return Err(unusable(&plugin.path, why));
    }
    let program = match request.remove {
        true => None,
        false => Some(Program::of(user, request.target.scope())?),
    };
    let beside = plugin.path.parent().and_then(Path::parent);
    let beside = beside.ok_or_else(|| Error::BadInput("a plugin needs a directory".to_owned()))?;
    let mut package = FileChange::read(&beside.join("package.json"))?;
    opencode_plugin::edit(plugin, &mut package, program.as_ref())
        .map_err(|error| malformed(&package, error))?;
    Ok(Some(package))
}

fn malformed(file: &FileChange, error: JsonError) -> Error {
    let text = file.before.clone().unwrap_or_default();
    Error::Malformed { path: file.path.clone(), text, at: error.at, message: error.message }
}

/// The settings with our hooks for a Claude Code that is started with them.
pub fn settings_for_claude_code(
    user: &dyn User,
    version: Option<(u64, u64, u64)>,
) -> Result<Value, Error> {
    let row = HostFiles::of(Host::ClaudeCode);
    let program = Program::of(user, Scope::User)?;
    let entry = |event: InstalledEvent| {
        let entry = row.entry(&program.command(row, event.event));
        (event.name, json!([entry]))
    };
    let events = row.events(Scope::User, version).into_iter().map(entry);
    Ok(json!({ "hooks": events.collect::<Map<String, Value>>() }))
}
