//! Where each host has its hooks, one row of `hosts.toml` each: the file for a user and for a project, the names of
//! its events, the form of an entry and the unit of its timeout.

use super::json_node::Comments;
use crate::host::{HookEvent, Host};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// How long a host waits for our hook. It takes milliseconds; this is for a machine under load.
const TIMEOUT_SECONDS: u64 = 10;

/// Where a hook is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    User,
    Project,
}

impl Scope {
    pub fn name(self) -> &'static str {
        match self {
            Scope::User => "user",
            Scope::Project => "project",
        }
    }
}

/// The row of a host.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostFiles {
    pub host: Host,
    /// As users know it.
    pub title: String,
    /// The variable that moves the user's directory, that directory below the home, and its file.
    user: [String; 3],
    project_file: String,
    #[serde(default)]
    pub comments: Comments,
    pub events: Vec<InstalledEvent>,
    pub form: Form,
    /// Members of a new file beside `hooks`, and whether a user's file has them too.
    #[serde(default)]
    frame: Vec<(String, u64)>,
    #[serde(default)]
    pub framed_for_users: bool,
    /// The key of the command in an entry, and that of the timeout with its units in one second.
    pub command_key: String,
    timeout: (String, u64),
    /// Other members of an entry.
    #[serde(default)]
    fields: Vec<(String, String)>,
    /// A hook that fails denies the call, so that ours must never fail.
    #[serde(default)]
    pub denies_on_failure: bool,
}

/// One event of a host.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstalledEvent {
    pub name: String,
    pub event: HookEvent,
    #[serde(default)]
    since: Since,
}

/// Which versions of a host can read an event's name.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Since {
    /// All that have hooks.
    #[default]
    Always,
    /// An older one may ignore all hooks because of the name.
    Version(u64, u64, u64),
    Unknown,
}

/// How entries are nested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// `EVENT: [{matcher, hooks: [ENTRY]}]`
    Grouped,
    /// `EVENT: [ENTRY]`
    Flat,
    /// A plugin in a file of its own.
    Plugin,
}

pub static HOSTS: LazyLock<Vec<HostFiles>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct File {
        host: Vec<HostFiles>,
    }
    let file: File = toml::from_str(include_str!("hosts.toml")).expect("a test reads the file");
    file.host
});

impl HostFiles {
    pub fn of(host: Host) -> &'static HostFiles {
        HOSTS.iter().find(|row| row.host == host).expect("every host has a row")
    }

    /// The file of a user, whose variables and home these are.
    pub fn user_path(&self, variable: &dyn Fn(&str) -> Option<PathBuf>, home: &Path) -> PathBuf {
        let [name, below, file] = &self.user;
        let moved = variable(name).filter(|path| path.is_absolute());
        moved.unwrap_or_else(|| home.join(below)).join(file)
    }

    pub fn project_path(&self, root: &Path) -> PathBuf {
        root.join(&self.project_file)
    }

    /// The events for a scope. `version` is that of the host on this machine, where it is known.
    pub fn events(&self, scope: Scope, version: Option<(u64, u64, u64)>) -> Vec<InstalledEvent> {
        let reads = |event: &&InstalledEvent| match event.since {
            Since::Always => true,
            Since::Unknown => scope == Scope::User,
            Since::Version(a, b, c) => version.is_some_and(|v| v >= (a, b, c)),
        };
        self.events.iter().filter(reads).cloned().collect()
    }

    /// Its hooks are command lines.
    pub fn has_commands(&self) -> bool {
        self.form != Form::Plugin
    }

    /// The members of a new file beside `hooks`.
    pub fn frame(&self) -> Map<String, Value> {
        self.frame.iter().map(|(key, value)| (key.clone(), json!(value))).collect()
    }

    /// The entry that is added to the array of an event.
    pub fn entry(&self, command: &str) -> Value {
        let mut entry: Map<String, Value> =
            self.fields.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
        entry.insert(self.command_key.clone(), json!(command));
        let (key, per_second) = &self.timeout;
        entry.insert(key.clone(), json!(TIMEOUT_SECONDS * per_second));
        match self.form {
            Form::Grouped => json!({"matcher": "*", "hooks": [entry]}),
            Form::Flat | Form::Plugin => Value::Object(entry),
        }
    }
}
