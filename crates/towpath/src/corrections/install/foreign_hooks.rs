//! Settings of a host that are in the way of our hooks: those of others that run before a call and may
//! rewrite it too, and a switch that turns all of them off.

use super::change_settings_file::FileChange;
use super::host_settings_table::{Form, HostFiles};
use super::json_with_byte_ranges::parse;
use super::settings_entries::is_ours;
use super::user_path;
use crate::environment::Environment;
use crate::terminal::format::clean;
use serde_json::Value;
use std::path::Path;
use towpath_corrections::host::{HookEvent, Host};

/// A switch of Claude Code.
const ALL_OFF: &str = "disableAllHooks";

/// Facts that a user must know about the rest of a settings file.
pub fn notes(text: &str, row: &HostFiles) -> Vec<String> {
    let Ok(settings) = parse(text, row.comments).map(|root| root.value(text)) else {
        return Vec::new();
    };
    let off = (settings[ALL_OFF] == true)
        .then(|| format!("{ALL_OFF} is true in this file: {} runs no hook at all", row.title));
    let other = before_call(&settings, row).into_iter().map(|command| {
        format!(
            "`{}` runs before calls too: if it also rewrites commands, {} uses one of the two",
            clean(&command),
            row.title
        )
    });
    off.into_iter().chain(other).collect()
}

/// The notes about all settings of a host, of the user and of the project.
pub fn foreign_hooks(env: &Environment, host: Host, root: &Path) -> Vec<String> {
    let row = HostFiles::of(host);
    let files = user_path(row, env).into_iter().chain([row.project_path(root)]);
    let texts = files.filter_map(|path| FileChange::read(&path, env).ok()?.before);
    texts.flat_map(|text| notes(&text, row)).collect()
}

/// The commands of others that run before a call.
fn before_call(settings: &Value, row: &HostFiles) -> Vec<String> {
    let events = row.events.iter().filter(|event| event.event == HookEvent::Pre);
    let lists = events.filter_map(|event| settings["hooks"][event.name].as_array());
    let entries = lists.flatten().flat_map(|entry| match row.form {
        Form::Grouped => entry["hooks"].as_array().cloned().unwrap_or_default(),
        Form::Flat | Form::Plugin => vec![entry.clone()],
    });
    let commands = entries.filter_map(|entry| entry[row.command_key].as_str().map(str::to_owned));
    commands.filter(|command| !is_ours(command, row.host)).collect()
}
