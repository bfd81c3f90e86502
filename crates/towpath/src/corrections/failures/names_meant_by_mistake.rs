//! The names that a mistaken name may mean.

use super::recorded;
use std::collections::BTreeSet;
use towpath_store::ToolCallRow;

/// Claude Code's tools, for a user whose agent has used none of them yet.
const TOOLS: &[&str] = &[
    "Bash",
    "Edit",
    "Glob",
    "Grep",
    "NotebookEdit",
    "Read",
    "Task",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
    "Write",
];

/// The tools and programs of calls that succeeded, and those that the user names.
pub fn known_names(calls: &[ToolCallRow], more: &[String]) -> Vec<String> {
    let mut names: BTreeSet<String> = TOOLS.iter().map(|tool| (*tool).to_owned()).collect();
    for call in calls.iter().filter(|call| !call.failed) {
        names.insert(call.tool.clone());
        names.extend(call.program.clone().filter(|_| recorded(call).line().is_some()));
    }
    names.extend(more.iter().cloned());
    names.into_iter().collect()
}
