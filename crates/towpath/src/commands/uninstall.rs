//! `towpath uninstall`: takes back what towpath put on this machine outside of projects. Links are
//! removed only where they lead to this program, towpath's own files only when asked for and
//! only while no run is alive. The program's own file, and whatever is not towpath's, are named and
//! left.

mod own_files;

use super::Execute;
use crate::compat::links_in;
use crate::environment::{Environment, Invocation, own_program};
use crate::exit::{CommandError, Exit};
use crate::session::trust::ask;
use crate::terminal::format::bytes;
use crate::terminal::out;
use crate::terminal::table::{escaped, shown_path};
use own_files::{Home, alive};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use towpath_shell::bash::quote;

/// Remove what towpath put on this machine.
///
/// That is the links to its other names and, with --purge, its own files. The program itself is not removed: the last line is the command for that. Nothing inside a
/// project is touched.
///
/// Example: towpath uninstall --purge --dry-run
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Also the record of all runs, your settings and recipes, and everything cached.
    #[arg(long)]
    pub purge: bool,
    /// Only show what would be removed.
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let program = own_program()?;
        let home = if self.purge { Some(Home::find(env)?) } else { None };
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
        for place in home.iter().flat_map(Home::places) {
            let told = place.told(env);
            if !self.dry_run {
                let failed = |(path, error): (PathBuf, std::io::Error)| {
                    CommandError::setup(format!("{}: {error}", escaped(&path)))
                };
                place.remove().map_err(failed)?;
            }
            out::line(format!("{verb} {told}"));
        }
        if !self.dry_run {
            home.iter().for_each(Home::leave);
        }
        if links.is_empty() && home.as_ref().is_none_or(|home| home.places().next().is_none()) {
            out::line("nothing to remove");
        }
        home.iter().flat_map(|home| home.left(env)).for_each(out::line);
        tell_rest(self, env, &program);
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

/// Refuses while a run is alive; shows what would be lost, and asks.
fn agree(args: &Args, env: &Environment, home: &Home) -> Result<(), CommandError> {
    if let Some((run, holder)) = alive(&env.directories.state).first() {
        let message = format!(
            "run {run} is alive ({holder}); nothing was removed: wait for it, or towpath cancel \
             {run}"
        );
        return Err(CommandError::new(Exit::Setup, "held", message));
    }
    if args.yes || home.places().next().is_none() {
        return Ok(());
    }
    for place in home.places() {
        out::note(format!("  {}", place.told(env)));
    }
    if env.unattended || !env.stderr_terminal {
        let message = "this would be removed for good; to do it: towpath uninstall --purge --yes";
        return Err(CommandError::new(Exit::Setup, "not-agreed", message));
    }
    match ask("Remove all of this for good?") {
        true => Ok(()),
        false => Err(CommandError::new(Exit::Setup, "not-agreed", "nothing was removed")),
    }
}

/// Links to this program under its other names, wherever `towpath link` is likely to have been told
/// to put them.
fn links(env: &Environment, program: &Path) -> Vec<PathBuf> {
    let mut directories = env.paths("PATH");
    if let Some(home) = &env.home {
        directories.extend([".local/bin", "bin", ".cargo/bin"].map(|place| home.join(place)));
    }
    directories.extend(program.parent().map(Path::to_owned));
    let mut seen = BTreeSet::new();
    let mut links = Vec::new();
    for directory in directories.iter().filter(|d| !d.as_os_str().is_empty()) {
        // The same place may be on PATH under several names.
        let Ok(real) = env.current.join(directory).canonicalize() else { continue };
        if seen.insert(real.clone()) {
            links.extend(links_in(&real, program));
        }
    }
    links
}

/// What is left for a person to do.
fn tell_rest(args: &Args, env: &Environment, program: &Path) {
    if !args.purge {
        let places = &env.directories;
        let kept = [&places.state, &places.data, &places.config, &places.cache];
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
    out::line("links in other directories, and completions you have saved, are where you put them");
    let cargo = env.home.as_ref().map(|home| home.join(".cargo/bin"));
    let by_cargo = cargo.is_some_and(|bin| program.parent() == Some(&bin));
    let command = match by_cargo {
        true => "cargo uninstall towpath".to_owned(),
        false => format!("rm {}", quote(&escaped(program))),
    };
    out::line(format!("the program itself: {command}"));
}

fn kept_bytes(env: &Environment) -> u64 {
    let places = &env.directories;
    let all = [&places.state, &places.data, &places.config, &places.cache];
    all.into_iter().map(|place| towpath_store::disk_usage(place)).sum()
}
