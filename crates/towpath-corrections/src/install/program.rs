//! The command line that a host runs for an event.
//!
//! In a user's own settings it names the program by its path. In a project, whose users have the program
//! anywhere or not at all, it is found on PATH, and where it is missing the hook does nothing and
//! succeeds: a host may take a failed hook for a refusal.

use super::host_files::{HostFiles, Scope};
use crate::host::{HookEvent, Host};
use crate::{Error, User};
use std::path::PathBuf;
use towpath_shell::bash::quote;

/// How the program is found by a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// By this path.
    At(String),
    /// On the PATH of whoever runs the hook.
    OnPath,
    /// By the name `dp`, which is on PATH and is this program.
    Dp,
}

pub const NAME: &str = "towpath";
const DP: &str = "dp";

/// The commands of hooks under the name `dp`.
pub const DP_BEFORE: &str = "dp pave-check";

pub fn dp_after(host: Host) -> String {
    format!("{DP} ingest --source {}", host.name())
}

impl Program {
    pub fn of(user: &dyn User, scope: Scope) -> Result<Program, Error> {
        if scope == Scope::Project {
            return Ok(Program::OnPath);
        }
        let path = path(user)?;
        match path.to_str() {
            Some(text) => Ok(Program::At(text.to_owned())),
            None => Err(Error::NotUtf8(path)),
        }
    }

    /// Whether the name `dp` on PATH is this program.
    pub fn is_dp(user: &dyn User) -> bool {
        let own = user.own_program().ok().and_then(|own| own.canonicalize().ok());
        let dp = user.on_path(DP).and_then(|dp| user.current().join(dp).canonicalize().ok());
        dp.is_some() && dp == own
    }

    /// The command line, for a shell.
    pub fn command(&self, row: &HostFiles, event: HookEvent) -> String {
        let arguments = format!("hook {} --host {}", event.name(), row.host.name());
        match self {
            // The path may be stale one day.
            Program::At(path) if row.denies_on_failure => {
                format!("{} {arguments} || true", quote(path))
            }
            Program::At(path) => format!("{} {arguments}", quote(path)),
            // Another host may run a project's hooks too.
            Program::Dp if event == HookEvent::Pre => DP_BEFORE.to_owned(),
            Program::Dp => dp_after(row.host),
            Program::OnPath => {
                format!("command -v {NAME} >/dev/null 2>&1 || exit 0; {NAME} {arguments} || true")
            }
        }
    }

    /// The program's name or path, for a host that starts it without a shell.
    pub fn name(&self) -> &str {
        match self {
            Program::At(path) => path,
            Program::OnPath => NAME,
            Program::Dp => DP,
        }
    }
}

/// The program on PATH, which an upgrade replaces; this program's own file where there is none.
fn path(user: &dyn User) -> Result<PathBuf, Error> {
    match user.on_path(NAME) {
        Some(path) => Ok(user.current().join(path)),
        None => user.own_program(),
    }
}

/// The path in a command line of a user's settings, if it is one of ours.
pub fn program_in(command: &str, host: Host) -> Option<String> {
    let hook = |event: &HookEvent| format!(" hook {} --host {}", event.name(), host.name());
    let at = HookEvent::ALL.iter().find_map(|event| command.find(&hook(event)))?;
    let word = &command[..at];
    let inside = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\''));
    let path = inside.map_or_else(|| word.to_owned(), |inside| inside.replace(r"'\''", "'"));
    (quote(&path) == word).then_some(path)
}
