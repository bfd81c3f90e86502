//! `towpath uninstall`: removes what towpath put on this machine outside of projects. Links are
//! removed only where they lead to this program, hooks from the user's settings of agent programs, the
//! user's skill where it is as it was installed, towpath's own files only with `--purge` and only while
//! no run is active. The program's own file, and whatever is not towpath's, are named and left.

mod own_files;

use super::Execute;
use crate::compat::links_in;
use crate::corrections::install::apply;
use crate::environment::{Environment, Invocation, own_program};
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::session::trust::ask;
use crate::skill_file::{SkillFile, SkillStatus};
use crate::terminal::format::bytes;
use crate::terminal::out;
use crate::terminal::shown_path::shown_path;
use own_files::{OwnFiles, active_runs};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use towpath_corrections::host::Host;
use towpath_corrections::install::{
    Hooks, HostFiles, Installed, Plan, Request, Scope, Target, installed, plan,
};
use towpath_shell::bash::quote;
use towpath_view::foreign_text::escaped;

/// Remove towpath's links and files from this machine.
///
/// Removes the links under its other names, its hooks in your settings of agent programs, your skill
/// and, with --purge, its own files. The program itself is not removed: the last line shows the command for
/// that. Nothing inside a project is touched.
///
/// Example: towpath uninstall --purge --dry-run
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Also remove the journal of all runs, your settings and recipes, and the cache.
    #[arg(long)]
    pub purge: bool,
    /// Show what would be removed, and remove nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask for confirmation.
    #[arg(long)]
    pub yes: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let program = own_program()?;
        let home = if self.purge { Some(OwnFiles::find(env)?) } else { None };
        if let Some(home) = home.as_ref().filter(|_| !self.dry_run) {
            agree(self, env, home)?;
        }
        let verb = if self.dry_run { "would remove" } else { "removed" };
        let links = links(env, &program);
        for link in &links {
            if !self.dry_run {
                removed(link, std::fs::remove_file(link))?;
            }
            out::line(format!("{verb} the link {}", shown_path(link, env)));
        }
        let hooks = hooks(env);
        for plan in &hooks {
            if !self.dry_run {
                apply(env, plan)?;
            }
            let title = &HostFiles::of(plan.host).title;
            let file = shown_path(&plan.changes[0].path, env);
            out::line(format!("{verb} the hooks of {title} in {file}"));
        }
        let skill = skill(env);
        if let Some(skill) = &skill {
            if !self.dry_run {
                removed(&skill.path, skill.remove())?;
            }
            out::line(format!("{verb} the skill {}", shown_path(&skill.path, env)));
        }
        for directory in home.iter().flat_map(OwnFiles::directories) {
            let described = directory.describe(env);
            if !self.dry_run {
                let failed = |(path, error): (PathBuf, std::io::Error)| {
                    CommandError::setup(format!("{}: {error}", escaped(&path)))
                };
                directory.remove().map_err(failed)?;
            }
            out::line(format!("{verb} {described}"));
        }
        if !self.dry_run {
            home.iter().for_each(OwnFiles::remove_empty_root);
        }
        let is_empty = |files: &OwnFiles| files.directories().next().is_none();
        let outside = links.is_empty() && hooks.is_empty() && skill.is_none();
        if outside && home.as_ref().is_none_or(is_empty) {
            out::line("nothing to remove");
        }
        home.iter().flat_map(|home| home.left(env)).for_each(out::line);
        print_rest(self, env, &program);
        Ok(Exit::Done)
    }
}

fn removed(path: &Path, result: std::io::Result<()>) -> Result<(), CommandError> {
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(CommandError::setup(format!("{}: {error}", escaped(path))))
        }
        _ => Ok(()),
    }
}

/// Refuses while a run is active; shows what would be lost, and asks.
fn agree(args: &Args, env: &Environment, home: &OwnFiles) -> Result<(), CommandError> {
    if let Some((run, holder)) = active_runs(&env.directories.state).first() {
        let message = format!(
            "run {run} is active ({holder}); nothing was removed: wait for it, or towpath cancel \
             {run}"
        );
        return Err(CommandError::new(Exit::Setup, ErrorKind::InUse, message));
    }
    if args.yes || home.directories().next().is_none() {
        return Ok(());
    }
    for directory in home.directories() {
        out::note(format!("  {}", directory.describe(env)));
    }
    if env.unattended || !env.stderr_terminal {
        let message =
            "this would be removed permanently; to do it: towpath uninstall --purge --yes";
        return Err(CommandError::new(Exit::Setup, ErrorKind::NotAgreed, message));
    }
    match ask("Remove all of this permanently?") {
        true => Ok(()),
        false => Err(CommandError::new(Exit::Setup, ErrorKind::NotAgreed, "nothing was removed")),
    }
}

/// Links to this program under its other names, in the directories where `towpath link` is likely to
/// have created them.
fn links(env: &Environment, program: &Path) -> Vec<PathBuf> {
    let mut directories = env.paths("PATH");
    if let Some(home) = &env.home {
        directories.extend([".local/bin", "bin", ".cargo/bin"].map(|inside| home.join(inside)));
    }
    directories.extend(program.parent().map(Path::to_owned));
    let mut seen = BTreeSet::new();
    let mut links = Vec::new();
    for directory in directories.iter().filter(|d| !d.as_os_str().is_empty()) {
        // The same directory may be on PATH under several names.
        let Ok(real) = env.current.join(directory).canonicalize() else { continue };
        if seen.insert(real.clone()) {
            links.extend(links_in(&real, program));
        }
    }
    links
}

/// Our hooks in the user's settings of agent programs. A file that cannot be read is left as it is.
fn hooks(env: &Environment) -> Vec<Plan> {
    let removal = |host: Host| {
        let user = |found: &Installed| found.scope == Scope::User;
        installed(env, host, &env.current).iter().flatten().find(|found| user(found))?;
        let (target, hooks) = (Target::User, Hooks::All);
        plan(env, &Request { host, target, hooks, remove: true, version: None, as_dp: false }).ok()
    };
    Host::ALL.into_iter().filter_map(removal).collect()
}

/// The user's skill for Claude Code, if it is as it was installed.
fn skill(env: &Environment) -> Option<SkillFile> {
    let skill = SkillFile::of_user(env).ok()?;
    let ours = [SkillStatus::UpToDate, SkillStatus::Earlier];
    skill.status().is_ok_and(|status| ours.contains(&status)).then_some(skill)
}

/// What is left for the user to do.
fn print_rest(args: &Args, env: &Environment, program: &Path) {
    if !args.purge {
        let own = &env.directories;
        let kept = [&own.state, &own.data, &own.config, &own.cache];
        let kept: Vec<String> =
            kept.iter().filter(|p| p.exists()).map(|p| shown_path(p, env)).collect();
        if !kept.is_empty() {
            out::line(format!(
                "kept: {} ({}); --purge removes them",
                kept.join(", "),
                bytes(kept_bytes(env))
            ));
        }
    }
    out::line("links in other directories and saved completions are not removed");
    let cargo = env.home.as_ref().map(|home| home.join(".cargo/bin"));
    let by_cargo = cargo.is_some_and(|bin| program.parent() == Some(&bin));
    let command = match by_cargo {
        true => "cargo uninstall towpath".to_owned(),
        false => format!("rm {}", quote(&escaped(program))),
    };
    out::line(format!("to remove the program itself: {command}"));
}

fn kept_bytes(env: &Environment) -> u64 {
    let own = &env.directories;
    let all = [&own.state, &own.data, &own.config, &own.cache];
    all.into_iter().map(|directory| towpath_store::disk_usage(directory)).sum()
}
