//! Where towpath's files and recipes are, and whether they can be used.

use super::finding::Finding;
use crate::environment::Environment;
use crate::session::recipe_list::origin_word;
use crate::terminal::format::bytes;
use crate::terminal::shown_path::shown_path;
use rustix::fs::{Access, access, statvfs};
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use towpath_recipe::{Origin, SearchDir, SearchPath};
use towpath_shell::bash::quote;
use towpath_view::foreign_text::escaped;

/// A run that writes much fills this fast.
const SCARCE: u64 = 1 << 30;
/// Less than this, and the next commit may fail.
const NONE: u64 = 16 << 20;

pub fn check(env: &Environment, search: &SearchPath) -> Vec<Finding> {
    let root = env.project_root(&env.current);
    let mut findings = vec![Finding::ok("project", escaped(&root))];
    for (name, path) in own(env) {
        findings.push(own_directory(name, path, env));
    }
    findings.extend(disk(env));
    findings.extend(recipe_directories(env, search));
    findings
}

fn own(env: &Environment) -> [(&'static str, &Path); 4] {
    let own = &env.directories;
    [("state", &own.state), ("data", &own.data), ("config", &own.config), ("cache", &own.cache)]
}

/// A path as an argument, `~` left to the shell.
fn argument(path: &Path, env: &Environment) -> String {
    let shown = shown_path(path, env);
    match shown.strip_prefix("~/") {
        Some(rest) => format!("~/{}", quote(rest)),
        None => quote(&shown),
    }
}

fn own_directory(name: &'static str, path: &Path, env: &Environment) -> Finding {
    let shown = shown_path(path, env);
    let there = nearest(path);
    let at = shown_path(&there, env);
    let argument = argument(&there, env);
    if !there.is_dir() {
        let fix = format!("mv {argument} {argument}.moved");
        return Finding::broken(name, format!("{shown}: {at} is not a directory"), fix);
    }
    // The journal is written by every run; a run needs none of the others.
    if let Err(error) = access(&there, Access::WRITE_OK | Access::EXEC_OK) {
        let why = std::io::Error::from(error).kind();
        let text = format!("{shown}: {at} cannot be written ({why})");
        // Only the owner can change the permissions.
        let owned =
            there.metadata().is_ok_and(|found| found.uid() == rustix::process::geteuid().as_raw());
        let fix = match error {
            rustix::io::Errno::ACCESS if owned => format!("chmod u+rwx {argument}"),
            _ => format!("export TOWPATH_HOME={}", writable_directory(env)),
        };
        return match name {
            "state" => Finding::broken(name, text, fix),
            _ => Finding::attention(name, text, fix),
        };
    }
    Finding::ok(name, if there == path { shown } else { format!("{shown}, does not exist yet") })
}

/// Where our files could be instead.
fn writable_directory(env: &Environment) -> &'static str {
    let home = env.home.as_ref();
    let writable = |home: &PathBuf| access(home, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    if home.is_some_and(writable) { "~/towpath" } else { "/tmp/towpath" }
}

/// The path itself, or the nearest directory above it that exists.
fn nearest(path: &Path) -> PathBuf {
    let there = path.ancestors().find(|part| part.symlink_metadata().is_ok());
    there.unwrap_or(Path::new("/")).to_owned()
}

fn disk(env: &Environment) -> Option<Finding> {
    let found = statvfs(nearest(&env.directories.state)).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let used = towpath_store::disk_usage(&env.directories.state);
    let text = format!("{} free, the journal uses {}", bytes(free), bytes(used));
    let fix = "towpath runs prune";
    Some(match free {
        ..NONE => Finding::broken("disk", text, fix),
        NONE..SCARCE => Finding::attention("disk", text, fix),
        SCARCE.. => Finding::ok("disk", text),
    })
}

fn recipe_directories(env: &Environment, search: &SearchPath) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut missing = Vec::new();
    for directory in &search.directories {
        let shown = shown_path(&directory.path, env);
        if directory.path.is_dir() {
            let text = format!("{shown} ({})", origin_word(directory.origin));
            findings.push(Finding::ok("recipes", text));
        } else if directory.origin == Origin::Given {
            let text = format!("{shown} is named in a variable and does not exist");
            let fix = format!("mkdir -p {}", argument(&directory.path, env));
            findings.push(Finding::attention("recipes", text, fix));
        } else {
            missing.push(shown);
        }
    }
    if !missing.is_empty() {
        findings.push(Finding::ok("recipes", format!("none in {}", missing.join(", "))));
    }
    findings
}

pub fn as_json(env: &Environment, search: &SearchPath) -> Value {
    let root = env.project_root(&env.current);
    let own = own(env);
    let own = own.iter().map(|(name, path)| ((*name).to_owned(), path_json(path)));
    let recipe = |directory: &SearchDir| {
        json!({
            "path": escaped(&directory.path),
            "exists": directory.path.is_dir(),
            "origin": origin_word(directory.origin),
        })
    };
    let recipes: Vec<Value> = search.directories.iter().map(recipe).collect();
    let mut all: serde_json::Map<String, Value> = own.collect();
    all.insert("project".to_owned(), path_json(&root));
    all.insert("recipes".to_owned(), recipes.into());
    all.into()
}

fn path_json(path: &Path) -> Value {
    json!({ "path": escaped(path), "exists": path.is_dir() })
}
