//! Settings of a host that are in the way of our hooks: those of others that run before a call and may
//! rewrite it too, and a switch that turns all of them off.

use super::file_change::FileChange;
use super::host_files::{Form, HostFiles};
use super::json_node::parse;
use super::settings_entries::is_ours;
use super::user_path;
use crate::User;
use crate::host::{HookEvent, Host};
use serde_json::Value;
use std::path::Path;

/// A switch of Claude Code.
const ALL_OFF: &str = "disableAllHooks";

/// Something that is in the way of our hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// This key of the settings turns all hooks off.
    AllOff(&'static str),
    /// This command of another owner runs before calls, too.
    OtherHook(String),
}

/// Obstacles in a settings file.
pub fn obstacles(text: &str, row: &HostFiles) -> Vec<Obstacle> {
    let Ok(settings) = parse(text, row.comments).map(|root| root.value(text)) else {
        return Vec::new();
    };
    let off = (settings[ALL_OFF] == true).then_some(Obstacle::AllOff(ALL_OFF));
    let other = before_call(&settings, row).into_iter().map(Obstacle::OtherHook);
    off.into_iter().chain(other).collect()
}

/// Obstacles in all settings of a host, of the user and of the project.
pub fn foreign_hooks(user: &dyn User, host: Host, root: &Path) -> Vec<Obstacle> {
    let row = HostFiles::of(host);
    let files = user_path(row, user).into_iter().chain([row.project_path(root)]);
    let texts = files.filter_map(|path| FileChange::read(&path).ok()?.before);
    texts.flat_map(|text| obstacles(&text, row)).collect()
}

/// The commands of others that run before a call.
fn before_call(settings: &Value, row: &HostFiles) -> Vec<String> {
    let events = row.events.iter().filter(|event| event.event == HookEvent::Pre);
    let lists = events.filter_map(|event| settings["hooks"][&event.name].as_array());
    let entries = lists.flatten().flat_map(|entry| match row.form {
        Form::Grouped => entry["hooks"].as_array().cloned().unwrap_or_default(),
        Form::Flat | Form::Plugin => vec![entry.clone()],
    });
    let commands = entries.filter_map(|entry| entry[&row.command_key].as_str().map(str::to_owned));
    commands.filter(|command| !is_ours(command, row.host)).collect()
}
