//! The words that a command begins with become others. Words that both have stay as they are written.

use super::overlap;
use crate::correction::Edit;
use crate::{command_prefix, escape_for_nesting};
use towpath_shell::bash::{self, Script, SimpleCommand};

pub(super) fn edits(
    script: &Script,
    command: &SimpleCommand,
    rule: u64,
    from: &[String],
    to: &str,
) -> Option<Vec<Edit>> {
    let to: Vec<&str> = bash::tokenize(to).ok()?;
    let values: Vec<Option<String>> =
        to.iter().map(|word| command_prefix::static_words(word)?.into_iter().next()).collect();
    if is_corrected(command, from, &values) || to.is_empty() {
        return None;
    }
    let same = |(value, from): &(&Option<String>, &String)| value.as_ref() == Some(*from);
    let most = from.len().min(to.len());
    let mut front = values.iter().zip(from).take_while(same).count();
    let back =
        values.iter().rev().zip(from.iter().rev()).take(most - front).take_while(same).count();
    if front == from.len() && front == to.len() {
        return None;
    }
    let (mut old_end, mut new_end) = (from.len() - back, to.len() - back);
    // Words are only added: they are written beside one that stays.
    if front == old_end {
        match front.checked_sub(1) {
            Some(before) => front = before,
            None => (old_end, new_end) = (old_end + 1, new_end + 1),
        }
    }
    let range =
        command.words[front].range.start..command.words.get(old_end.checked_sub(1)?)?.range.end;
    if command.redirects.iter().any(|redirect| overlap(&redirect.range, &range)) {
        return None;
    }
    let text = escape_for_nesting::for_command(script, command, &to[front..new_end].join(" "))?;
    Some(vec![Edit { range, text, rules: vec![rule] }])
}

/// `grep` → `grep -E` has nothing to add to `grep -E a`.
fn is_corrected(command: &SimpleCommand, from: &[String], to: &[Option<String>]) -> bool {
    let values: Option<Vec<String>> = to.iter().cloned().collect();
    values.is_some_and(|to| {
        to.len() > from.len() && to.starts_with(from) && command_prefix::begins_with(command, &to)
    })
}
