//! `towpath init`: our hooks in an agent program's settings, installed or removed. It shows what it
//! changes; all other bytes of the file stay.

use super::Execute;
use crate::corrections::install::{apply, plan};
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, Exit};
use crate::session::choose_agent::host_version;
use crate::terminal::format::clean;
use crate::terminal::out;
use crate::terminal::screen::{Screen, Tint};
use crate::terminal::shown_path::shown_path;
use serde_json::{Value, json};
use towpath_core::nearest;
use towpath_corrections::host::Host;
use towpath_corrections::install::{
    Action, Backup, FileChange, Hooks, HostFiles, Plan, Request, Target,
};
use towpath_view::foreign_text::escaped;

/// Install the hooks that correct an agent's commands.
///
/// Adds towpath's hooks to the settings of the agent program HOST: claude-code, codex, cursor, gemini,
/// copilot or opencode. Shows the difference, keeps a backup beside a file that it changes, and changes
/// nothing else in it. A second run changes nothing.
///
/// Example: towpath init claude-code --dry-run
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent program.
    #[arg(value_name = "HOST", value_parser = parse_host)]
    pub host: Host,
    /// Your own settings, for all projects (the default).
    #[arg(long, conflicts_with = "project")]
    pub user: bool,
    /// This project's settings, to be committed. They do nothing where towpath is not installed.
    #[arg(long)]
    pub project: bool,
    /// Show the difference, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Remove the hooks again.
    #[arg(long)]
    pub remove: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

fn parse_host(name: &str) -> Result<Host, String> {
    Host::from_name(name).ok_or_else(|| {
        let known = Host::ALL.map(Host::name);
        let near = nearest(name, known).map(|near| format!("did you mean `{near}`?"));
        near.unwrap_or_else(|| format!("the hosts are {}", known.join(", ")))
    })
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let target = match self.project {
            true => Target::Project(env.project_root(&env.current)),
            false => Target::User,
        };
        let version = host_version(env, self.host);
        let (host, remove) = (self.host, self.remove);
        let request = Request { host, target, hooks: Hooks::All, remove, version, as_dp: false };
        let (plan, notes) = plan(env, &request)?;
        if !self.dry_run {
            apply(env, &plan)?;
        }
        match self.json {
            true => out::json(&self.as_json(&plan, &notes)),
            false => self.print(env, &plan, &notes),
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}

impl Args {
    fn print(&self, env: &Environment, plan: &Plan, notes: &[String]) {
        let screen = Screen::new(env);
        for change in &plan.changes {
            self.print_change(env, &screen, change);
        }
        if plan.is_empty() {
            let title = &HostFiles::of(plan.host).title;
            let (file, scope) = (shown_path(&plan.changes[0].path, env), plan.scope.name());
            out::line(match self.remove {
                true => {
                    format!("{title} has no hooks of towpath in {file} ({scope}): nothing changed")
                }
                false => format!(
                    "{title} has the hooks of towpath already, in {file} ({scope}): nothing changed"
                ),
            });
        }
        for note in notes {
            out::line(format!("note: {note}"));
        }
    }

    fn print_change(&self, env: &Environment, screen: &Screen, change: &FileChange) {
        if change.action() == Action::Unchanged {
            return;
        }
        let file = shown_path(&change.path, env);
        for line in change.diff(&file).lines() {
            let tint = match line.as_bytes().first() {
                Some(b'+') => Tint::Good,
                Some(b'-') => Tint::Bad,
                Some(b'@') => Tint::Dim,
                _ => Tint::None,
            };
            out::line(screen.paint(tint, &clean(line)));
        }
        let action = match (self.dry_run, change.action()) {
            (false, action) => action.word(),
            (true, Action::Created) => "would be created",
            (true, Action::Removed) => "would be removed",
            (true, _) => "would be changed",
        };
        let backup = change.backup().filter(|_| !self.dry_run);
        let backup = backup.map(|Backup { path, is_older }| {
            let what = if is_older { "its first backup stays" } else { "its previous contents" };
            format!("; {what}: {}", shown_path(&path, env))
        });
        out::line(format!("{file}: {action}{}", backup.unwrap_or_default()));
    }

    fn as_json(&self, plan: &Plan, notes: &[String]) -> Value {
        let change = |change: &FileChange| {
            let path = escaped(&change.path);
            json!({
                "path": path,
                "action": change.action().word(),
                "diff": change.diff(&path),
                "backup": change.backup().filter(|_| !self.dry_run).map(|backup| escaped(&backup.path)),
            })
        };
        json!({
            "schema": 1,
            "host": plan.host.name(),
            "scope": plan.scope.name(),
            "dry_run": self.dry_run,
            "changes": plan.changes.iter().map(change).collect::<Vec<_>>(),
            "notes": notes,
        })
    }
}
