//! Our entries in the text of a host's settings: added, brought up to date, found and removed. Text in,
//! text out; nothing here reads or writes a file.

use super::host_files::{Form, HostFiles, InstalledEvent, Scope};
use super::json_edit::{Formatting, append, is_left_of_ours, new_file, remove, replace};
use super::json_node::{JsonError, Node, parse};
use super::program::{DP_BEFORE, dp_after};
use crate::host::{HookEvent, Host};
use serde_json::{Map, Value, json};

const HOOKS: &str = "hooks";

/// An entry of ours in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnEntry {
    pub event: HookEvent,
    pub command: String,
}

/// Which event of a host a command is our hook for.
fn hook_of(command: &str, host: Host) -> Option<HookEvent> {
    let is_event = |event: &HookEvent| {
        command.contains(&format!(" hook {} --host {}", event.name(), host.name()))
    };
    HookEvent::ALL.into_iter().find(is_event)
}

/// Whether a command is a hook of ours.
pub fn is_ours(command: &str, host: Host) -> bool {
    hook_of(command, host).is_some() || dp_hook_of(command, host, HookEvent::Pre)
}

/// Whether a command is the hook that the name `dp` has for an event.
fn dp_hook_of(command: &str, host: Host, event: HookEvent) -> bool {
    match event {
        HookEvent::Pre => command == DP_BEFORE,
        HookEvent::Post | HookEvent::Failure => command == dp_after(host),
        HookEvent::Batch => false,
    }
}

/// Where one of our entries is: positions in `hooks`, in the event's array, and in a group.
struct Found<'a> {
    member: usize,
    item: usize,
    inner: Option<usize>,
    event: HookEvent,
    command: &'a Node,
}

fn found<'a>(root: &'a Node, row: &HostFiles) -> Vec<Found<'a>> {
    let mut all = Vec::new();
    let members = root.get(HOOKS).map_or(&[][..], Node::children);
    for (member, event) in members.iter().enumerate() {
        for (item, entry) in event.value.children().iter().enumerate() {
            let mut add = |inner: Option<usize>, entry: &'a Node| {
                let command = entry.get(&row.command_key);
                let named = row
                    .events
                    .iter()
                    .find(|known| event.key.as_deref() == Some(known.name.as_str()));
                let of_dp = |text: &str| {
                    let event = named?.event;
                    dp_hook_of(text, row.host, event).then_some(event)
                };
                let text = command.and_then(Node::string);
                let hook = text.and_then(|text| hook_of(text, row.host).or_else(|| of_dp(text)));
                if let (Some(command), Some(event)) = (command, hook) {
                    all.push(Found { member, item, inner, event, command });
                }
            };
            match row.form {
                Form::Grouped => {
                    let entries = entry.value.get(HOOKS).map_or(&[][..], Node::children);
                    entries.iter().enumerate().for_each(|(i, e)| add(Some(i), &e.value));
                }
                Form::Flat | Form::Plugin => add(None, &entry.value),
            }
        }
    }
    all
}

/// Our entries in a text.
pub fn own_entries(text: &str, row: &HostFiles) -> Result<Vec<OwnEntry>, JsonError> {
    let root = parse(text, row.comments)?;
    let entry = |f: &Found<'_>| OwnEntry {
        event: f.event,
        command: f.command.string().unwrap_or_default().to_owned(),
    };
    Ok(found(&root, row).iter().map(entry).collect())
}

/// The text of a new file with only our entries.
pub fn only_ours(row: &HostFiles, scope: Scope, wanted: &[(InstalledEvent, String)]) -> String {
    let events: Map<String, Value> = wanted
        .iter()
        .map(|(event, command)| (event.name.clone(), json!([row.entry(command)])))
        .collect();
    let mut file = Map::from_iter([(HOOKS.to_owned(), Value::Object(events))]);
    if scope == Scope::Project || row.framed_for_users {
        file.extend(row.frame());
    }
    new_file(&Value::Object(file))
}

/// The text with our entries: those that are missing are added, those with another command get the
/// right one. Everything else stays, also what a user has changed in an entry of ours.
pub fn with_ours(
    text: &str,
    row: &HostFiles,
    wanted: &[(InstalledEvent, String)],
) -> Result<String, JsonError> {
    let before = others(text, row)?;
    let mut edited = text.to_owned();
    for (event, command) in wanted {
        edited = with_entry(&edited, row, event, command)?;
    }
    check(&edited, row, &before)?;
    Ok(edited)
}

/// The text without our entries, and without what we created for them; `None` if nothing is left of
/// the file.
pub fn without_ours(text: &str, row: &HostFiles) -> Result<Option<String>, JsonError> {
    without(text, row, &|_| true)
}

/// The text without our entries for events that are not among these; `None` as above.
pub fn only_events(
    text: &str,
    row: &HostFiles,
    kept: &[InstalledEvent],
) -> Result<Option<String>, JsonError> {
    without(text, row, &|event| kept.iter().all(|kept| kept.event != event))
}

fn with_entry(
    text: &str,
    row: &HostFiles,
    event: &InstalledEvent,
    command: &str,
) -> Result<String, JsonError> {
    let root = parse(text, row.comments)?;
    let formatting = Formatting::of(text, &root);
    if let Some(own) = found(&root, row).iter().find(|f| f.event == event.event) {
        let same = own.command.string() == Some(command);
        return Ok(if same { text.to_owned() } else { replace(text, own.command, command) });
    }
    let entry = row.entry(command);
    expect(&root, "the file", Node::is_object, "an object")?;
    let Some(hooks) = root.get(HOOKS) else {
        let value = json!({ event.name.as_str(): [entry] });
        return Ok(append(text, &formatting, &root, Some(HOOKS), &value));
    };
    expect(hooks, "`hooks`", Node::is_object, "an object")?;
    let Some(list) = hooks.get(&event.name) else {
        return Ok(append(text, &formatting, hooks, Some(&event.name), &json!([entry])));
    };
    expect(list, &format!("`hooks.{}`", event.name), Node::is_array, "an array")?;
    Ok(append(text, &formatting, list, None, &entry))
}

fn expect(node: &Node, name: &str, is: fn(&Node) -> bool, expected: &str) -> Result<(), JsonError> {
    match is(node) {
        true => Ok(()),
        false => {
            let message = format!("{name} is {}, and must be {expected}", node.kind_name());
            Err(JsonError { at: node.span.start, message })
        }
    }
}

fn without(
    text: &str,
    row: &HostFiles,
    unwanted: &dyn Fn(HookEvent) -> bool,
) -> Result<Option<String>, JsonError> {
    let mut text = text.to_owned();
    loop {
        let root = parse(&text, row.comments)?;
        let all = found(&root, row);
        // In the reverse of the order in which they were added.
        let Some(own) = all.iter().rfind(|f| unwanted(f.event)) else { return Ok(Some(text)) };
        match without_one(&text, row, &root, own)? {
            Some(shorter) => text = shorter,
            None => return Ok(None),
        }
    }
}

/// Removes one entry, then each container around it that we created and that is empty now.
fn without_one(
    text: &str,
    row: &HostFiles,
    root: &Node,
    own: &Found<'_>,
) -> Result<Option<String>, JsonError> {
    let hooks_at = root.position(HOOKS).expect("an entry was found in it");
    let hooks = &root.children()[hooks_at].value;
    let list = &hooks.children()[own.member].value;
    let group = &list.children()[own.item].value;
    if let Some(inner) = own.inner {
        let entries = group.get(HOOKS).expect("an entry was found in it");
        if entries.children().len() > 1 {
            return Ok(Some(remove(text, entries, inner)));
        }
    }
    let mut edited = remove(text, list, own.item);
    let path: [&dyn Fn(&Node) -> Node; 2] =
        [&|root| root.children()[hooks_at].value.children()[own.member].value.clone(), &|root| {
            root.children()[hooks_at].value.clone()
        }];
    for (level, find) in path.iter().enumerate() {
        let now = parse(&edited, row.comments)?;
        if !is_left_of_ours(&edited, &find(&now), text) {
            return Ok(Some(edited));
        }
        if level == 0 {
            edited = remove(&edited, &now.children()[hooks_at].value, own.member);
        } else if hooks_at == 0 && is_frame_of_ours(&edited, row, &now, text) {
            return Ok(None);
        } else {
            edited = remove(&edited, &now, hooks_at);
        }
    }
    Ok(Some(edited))
}

/// Whether a file whose first member is an empty `hooks` has nothing that we did not write.
fn is_frame_of_ours(text: &str, row: &HostFiles, root: &Node, with_ours: &str) -> bool {
    let mut rest = root.value(text);
    let rest = rest.as_object_mut().map(|members| members.shift_remove(HOOKS).map(|_| &*members));
    let frame = rest.flatten().is_some_and(|rest| rest.is_empty() || *rest == row.frame());
    let blank = with_ours.as_bytes().get(root.span.start + 1);
    frame && !text.contains('/') && blank.is_some_and(u8::is_ascii_whitespace)
}

/// Everything in a text that is not ours, as a value.
fn others(text: &str, row: &HostFiles) -> Result<Option<Value>, JsonError> {
    let Some(rest) = without_ours(text, row)? else { return Ok(None) };
    Ok(Some(parse(&rest, row.comments)?.value(&rest)))
}

/// Refuses an edit that would have changed anything of another owner.
fn check(edited: &str, row: &HostFiles, before: &Option<Value>) -> Result<(), JsonError> {
    match others(edited, row)? == *before {
        true => Ok(()),
        false => Err(JsonError {
            at: 0,
            message: "the entry cannot be added without a change of other entries".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests;
