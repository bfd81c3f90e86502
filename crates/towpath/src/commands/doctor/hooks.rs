//! Which agent programs have our hooks, in which settings file, and whether they use our answers.

use super::finding::Finding;
use crate::corrections::install::obstacle_note;
use crate::corrections::shown;
use crate::environment::Environment;
use crate::session::choose_agent::host_backend;
use crate::terminal::format::{clean, count};
use crate::terminal::shown_path::shown_path;
use serde_json::{Value, json};
use towpath_corrections::hooks_directory::HooksDirectory;
use towpath_corrections::host::{HookEvent, Host};
use towpath_corrections::host_state::{self, HostState};
use towpath_corrections::install::{HostFiles, Installed, Scope, foreign_hooks, installed};
use towpath_shell::bash::quote;
use towpath_store::{Store, ToolCallFilter};
use towpath_view::foreign_text::escaped;

/// A finding for each host, and all hosts as JSON. `agents` is what is known of the programs.
pub fn check(
    env: &Environment,
    store: Option<&Store>,
    agents: &[Value],
) -> (Vec<Finding>, Vec<Value>) {
    Host::ALL.map(|host| of_host(env, store, host, agents)).into_iter().unzip()
}

/// Whether a hook of this host has ever recorded a call, in the journal or in the log beside it.
fn was_seen(env: &Environment, store: Option<&Store>, host: Host) -> bool {
    let filter = ToolCallFilter { host: Some(host.name().into()), ..ToolCallFilter::default() };
    let filter = ToolCallFilter { limit: Some(1), ..filter };
    let recorded = store.and_then(|store| store.tool_calls(&filter).ok());
    let log = HooksDirectory::of(&env.directories.state).file("calls.log");
    let logged = std::fs::read_to_string(log).unwrap_or_default();
    recorded.is_some_and(|calls| !calls.is_empty())
        || logged.contains(&format!("\"{}\"", host.name()))
}

fn of_host(
    env: &Environment,
    store: Option<&Store>,
    host: Host,
    agents: &[Value],
) -> (Finding, Value) {
    let root = env.project_root(&env.current);
    let id = host_backend(host).id;
    let version =
        agents.iter().find(|agent| agent["id"] == id).map(|agent| agent["version"].clone());
    let version = version.as_ref().and_then(Value::as_str);
    let shown = |(scope, error)| (scope, shown(env, error).message);
    let all = installed(env, host, &root).into_iter().map(|file| file.map_err(shown));
    let all: Vec<Result<Installed, (Scope, String)>> = all.collect();
    let found: Vec<&Installed> = all.iter().flatten().collect();
    let obstacles = if found.is_empty() { Vec::new() } else { foreign_hooks(env, host, &root) };
    let mut notes: Vec<String> =
        obstacles.iter().map(|obstacle| obstacle_note(obstacle, host)).collect();
    if host == Host::Codex && !found.is_empty() && !was_seen(env, store, host) {
        notes.insert(
            0,
            "no call of it was seen yet; it runs hooks only after you trust them".into(),
        );
    }
    let value = json!({
        "id": host.name(),
        "title": HostFiles::of(host).title,
        "version": version,
        "hooks": found.iter().map(|found| as_json(found)).collect::<Vec<_>>(),
        "drops_rewrites_in": versions_that_drop_rewrites(env, host),
        "notes": notes,
    });
    let unreadable = all.iter().find_map(|file| file.as_ref().err());
    let missing = found.iter().find(|found| found.missing.is_some());
    let finding = match (unreadable, missing) {
        // The command shows where it is wrong.
        (Some((scope, why)), _) => {
            Finding::attention(host.name(), why, format!("{} --dry-run", init(host, *scope)))
        }
        (None, Some(found)) => {
            let program = found.missing.as_deref().unwrap_or_default();
            let text = format!("{}; {program} is gone", describe(env, found));
            Finding::attention(host.name(), text, init(host, found.scope))
        }
        (None, None) if found.is_empty() => Finding::ok(host.name(), without_hooks(host)),
        (None, None) => {
            let files: Vec<String> = found.iter().map(|found| describe(env, found)).collect();
            let version = version.map(|version| format!("; {version}")).unwrap_or_default();
            let text = format!("{}{version}", files.join("; "));
            match (notes.is_empty(), host) {
                (true, _) => Finding::ok(host.name(), text),
                (false, Host::Codex) => {
                    let text = format!("{text}; {}", notes.join("; "));
                    Finding::attention(host.name(), text, "codex, then type /hooks")
                }
                (false, _) => {
                    let text = format!("{text}; {}", notes.join("; "));
                    Finding::attention(host.name(), text, "towpath rules log")
                }
            }
        }
    };
    (finding, value)
}

/// A finding for each version that ran the original of calls that were rewritten.
pub fn dropped_rewrites(env: &Environment) -> Vec<Finding> {
    let directory = HooksDirectory::of(&env.directories.state);
    let remove = format!("rm {}", quote(&directory.file("hosts.json").display().to_string()));
    let states = host_state::all(&directory);
    let dropping = states.into_iter().filter(HostState::drops_rewrites);
    let finding = |state: HostState| {
        let text = format!(
            "version {} did not run the corrected command of {}: another hook wrote it too, or it \
             ignores hooks; its calls are now denied with the corrected command; remove the other \
             hook or update it, then what is known of it",
            clean(&state.version),
            count(state.dropped as usize, "call"),
        );
        Finding::attention(state.host.name(), text, &remove)
    };
    dropping.map(finding).collect()
}

/// The versions that ran the original of a call that was rewritten.
fn versions_that_drop_rewrites(env: &Environment, host: Host) -> Vec<String> {
    let states = host_state::all(&HooksDirectory::of(&env.directories.state));
    let dropping = states.into_iter().filter(|state| state.host == host && state.drops_rewrites());
    dropping.map(|state| state.version).collect()
}

fn init(host: Host, scope: Scope) -> String {
    let scope = if scope == Scope::Project { " --project" } else { "" };
    format!("towpath init {}{scope}", host.name())
}

fn without_hooks(host: Host) -> String {
    let init = init(host, Scope::User);
    match host {
        Host::ClaudeCode => {
            format!(
                "no hooks in its settings; runs of towpath bring them along; for all others: {init}"
            )
        }
        _ => format!("no hooks: {init}"),
    }
}

fn describe(env: &Environment, found: &Installed) -> String {
    let events: Vec<&str> = found.events.iter().copied().map(HookEvent::name).collect();
    let file = shown_path(&found.file, env);
    format!("{}: {file} ({})", found.scope.name(), events.join(", "))
}

fn as_json(found: &Installed) -> Value {
    json!({
        "scope": found.scope.name(),
        "file": escaped(&found.file),
        "events": found.events.iter().copied().map(HookEvent::name).collect::<Vec<_>>(),
        "missing_program": found.missing,
    })
}
