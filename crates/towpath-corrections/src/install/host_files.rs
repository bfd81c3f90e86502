//! Where each host has its hooks, one row each: the file for a user and for a project, the names of
//! its events, the form of an entry and the unit of its timeout.

use super::json_node::Comments;
use crate::host::{HookEvent, Host};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

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
#[derive(Debug)]
pub struct HostFiles {
    pub host: Host,
    /// As users know it.
    pub title: &'static str,
    /// The variable that moves the user's directory, and that directory below the home.
    user_directory: (&'static str, &'static str),
    user_file: &'static str,
    project_file: &'static str,
    pub comments: Comments,
    pub events: &'static [InstalledEvent],
    pub form: Form,
    /// Members of a new file beside `hooks`, and whether a user's file has them too.
    frame: &'static [(&'static str, u64)],
    pub framed_for_users: bool,
    /// The key of the command in an entry, and that of the timeout with its units in one second.
    pub command_key: &'static str,
    timeout: (&'static str, u64),
    /// Other members of an entry.
    fields: &'static [(&'static str, &'static str)],
    /// A hook that fails denies the call, so that ours must never fail.
    pub denies_on_failure: bool,
}

/// One event of a host.
#[derive(Debug, Clone, Copy)]
pub struct InstalledEvent {
    pub name: &'static str,
    pub event: HookEvent,
    pub since: Since,
}

/// Which versions of a host can read an event's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// All that have hooks.
    Always,
    /// An older one may ignore all hooks because of the name.
    Version(u64, u64, u64),
    /// It is not known which versions read it. In a project, whose users have any version, it is not
    /// installed.
    Unknown,
}

/// How entries are nested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `EVENT: [{matcher, hooks: [ENTRY]}]`
    Grouped,
    /// `EVENT: [ENTRY]`
    Flat,
    /// A plugin in a file of its own.
    Plugin,
}

const fn always(name: &'static str, event: HookEvent) -> InstalledEvent {
    InstalledEvent { name, event, since: Since::Always }
}

pub const HOSTS: &[HostFiles] = &[
    HostFiles {
        host: Host::ClaudeCode,
        title: "Claude Code",
        user_directory: ("CLAUDE_CONFIG_DIR", ".claude"),
        user_file: "settings.json",
        project_file: ".claude/settings.json",
        comments: Comments::Refused,
        events: &[
            always("PreToolUse", HookEvent::Pre),
            always("PostToolUse", HookEvent::Post),
            // Up to 2.1.63 a name that is not known turns all hooks off; from 2.1.119 on it does not.
            InstalledEvent {
                name: "PostToolUseFailure",
                event: HookEvent::Failure,
                since: Since::Version(2, 1, 119),
            },
            InstalledEvent {
                name: "PostToolBatch",
                event: HookEvent::Batch,
                since: Since::Version(2, 1, 119),
            },
        ],
        form: Form::Grouped,
        frame: &[],
        framed_for_users: false,
        command_key: "command",
        timeout: ("timeout", 1),
        fields: &[("type", "command")],
        denies_on_failure: false,
    },
    HostFiles {
        host: Host::Codex,
        title: "Codex",
        user_directory: ("CODEX_HOME", ".codex"),
        user_file: "hooks.json",
        project_file: ".codex/hooks.json",
        comments: Comments::Refused,
        events: &[always("PreToolUse", HookEvent::Pre), always("PostToolUse", HookEvent::Post)],
        form: Form::Grouped,
        frame: &[],
        framed_for_users: false,
        command_key: "command",
        timeout: ("timeout", 1),
        fields: &[("type", "command")],
        denies_on_failure: false,
    },
    HostFiles {
        host: Host::Cursor,
        title: "Cursor",
        user_directory: ("", ".cursor"),
        user_file: "hooks.json",
        project_file: ".cursor/hooks.json",
        comments: Comments::Refused,
        events: &[
            always("preToolUse", HookEvent::Pre),
            always("postToolUse", HookEvent::Post),
            InstalledEvent {
                name: "postToolUseFailure",
                event: HookEvent::Failure,
                since: Since::Unknown,
            },
        ],
        form: Form::Flat,
        frame: &[("version", 1)],
        framed_for_users: true,
        command_key: "command",
        timeout: ("timeout", 1),
        fields: &[],
        denies_on_failure: false,
    },
    HostFiles {
        host: Host::Gemini,
        title: "Gemini CLI",
        user_directory: ("", ".gemini"),
        user_file: "settings.json",
        project_file: ".gemini/settings.json",
        comments: Comments::Allowed,
        events: &[always("BeforeTool", HookEvent::Pre), always("AfterTool", HookEvent::Post)],
        form: Form::Grouped,
        frame: &[],
        framed_for_users: false,
        command_key: "command",
        timeout: ("timeout", 1_000),
        fields: &[("type", "command"), ("name", "towpath")],
        denies_on_failure: false,
    },
    HostFiles {
        host: Host::Copilot,
        title: "Copilot CLI",
        user_directory: ("COPILOT_HOME", ".copilot"),
        user_file: "settings.json",
        project_file: ".github/hooks/towpath.json",
        comments: Comments::Allowed,
        events: &[always("preToolUse", HookEvent::Pre), always("postToolUse", HookEvent::Post)],
        form: Form::Flat,
        frame: &[("version", 1)],
        framed_for_users: false,
        command_key: "bash",
        timeout: ("timeoutSec", 1),
        fields: &[("type", "command")],
        denies_on_failure: true,
    },
    HostFiles {
        host: Host::OpenCode,
        title: "OpenCode",
        user_directory: ("XDG_CONFIG_HOME", ".config"),
        user_file: "opencode/plugin/towpath.js",
        project_file: ".opencode/plugin/towpath.js",
        comments: Comments::Refused,
        events: &[
            always("tool.execute.before", HookEvent::Pre),
            always("tool.execute.after", HookEvent::Post),
        ],
        form: Form::Plugin,
        frame: &[],
        framed_for_users: false,
        command_key: "",
        timeout: ("timeout", 1_000),
        fields: &[],
        denies_on_failure: true,
    },
];

impl HostFiles {
    pub fn of(host: Host) -> &'static HostFiles {
        HOSTS.iter().find(|row| row.host == host).expect("every host has a row")
    }

    /// The file of a user, whose variables and home these are.
    pub fn user_path(&self, variable: &dyn Fn(&str) -> Option<PathBuf>, home: &Path) -> PathBuf {
        let (name, below) = self.user_directory;
        let moved = variable(name).filter(|path| path.is_absolute());
        moved.unwrap_or_else(|| home.join(below)).join(self.user_file)
    }

    pub fn project_path(&self, root: &Path) -> PathBuf {
        root.join(self.project_file)
    }

    /// The events for a scope. `version` is that of the host on this machine, where it is known.
    pub fn events(&self, scope: Scope, version: Option<(u64, u64, u64)>) -> Vec<InstalledEvent> {
        let reads = |event: &&InstalledEvent| match event.since {
            Since::Always => true,
            Since::Unknown => scope == Scope::User,
            Since::Version(a, b, c) => version.is_some_and(|v| v >= (a, b, c)),
        };
        self.events.iter().filter(reads).copied().collect()
    }

    /// Its hooks are command lines.
    pub fn has_commands(&self) -> bool {
        self.form != Form::Plugin
    }

    /// The members of a new file beside `hooks`.
    pub fn frame(&self) -> Map<String, Value> {
        self.frame.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect()
    }

    /// What is added to the array of an event.
    pub fn entry(&self, command: &str) -> Value {
        let mut entry: Map<String, Value> =
            self.fields.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
        entry.insert(self.command_key.to_owned(), json!(command));
        let (key, per_second) = self.timeout;
        entry.insert(key.to_owned(), json!(TIMEOUT_SECONDS * per_second));
        match self.form {
            Form::Grouped => json!({"matcher": "*", "hooks": [entry]}),
            Form::Flat | Form::Plugin => Value::Object(entry),
        }
    }
}
