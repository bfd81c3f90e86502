//! Names that mean the same: by their words, and by a table of what agents call the tools of others.

use super::failure_query::recorded;
use serde::Serialize;
use std::collections::BTreeSet;
use towpath_core::data_rows;
use towpath_store::ToolCallRow;

/// How near names of the same meaning are, if their words are not the same.
const SAME_MEANING: f64 = 0.9;
/// What is less similar is another name.
pub const SIMILAR: f64 = 0.5;

/// A known name, and how similar it is: 1 is the same but for the way it is written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Similar<'a> {
    pub name: &'a str,
    pub score: f64,
}

/// The candidates that are at least so similar, the nearest first.
pub fn similar<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    least: f64,
) -> Vec<Similar<'a>> {
    let other = candidates.into_iter().filter(|candidate| *candidate != name);
    let mut found: Vec<Similar> =
        other.map(|name_of| Similar { name: name_of, score: similarity(name, name_of) }).collect();
    found.retain(|similar| similar.score >= least);
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.name.cmp(b.name)));
    found.dedup_by(|a, b| a.name == b.name);
    found
}

/// From 0 for nothing in common to 1.
pub fn similarity(a: &str, b: &str) -> f64 {
    let (a, b) = (words(a), words(b));
    let (name_a, name_b) = (a.join("_"), b.join("_"));
    if name_a == name_b {
        return 1.0;
    }
    let same = |[names]: [&str; 1]| {
        [&name_a, &name_b].iter().all(|name| names.split(' ').any(|other| other == *name))
    };
    if data_rows(include_str!("similar_tools.txt")).any(same) {
        return SAME_MEANING;
    }
    let common = a.iter().filter(|word| b.contains(word)).count();
    let overlap = 2.0 * common as f64 / (a.len() + b.len()).max(1) as f64;
    overlap.max(strsim::normalized_damerau_levenshtein(&name_a, &name_b)).min(SAME_MEANING)
}

/// Whether one name may be what was meant with the other one.
pub(super) fn is_near(a: &str, b: &str) -> bool {
    let (a, b) = (a.trim_start_matches('-'), b.trim_start_matches('-'));
    let begins = |long: &str, short: &str| short.len() > 2 && long.starts_with(short);
    a.len().min(b.len()) > 1 && (similarity(a, b) >= SIMILAR || begins(a, b) || begins(b, a))
}

/// The words of a name in lower case: `readFile`, `read_file` and `read-file` have the same.
pub fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    for letter in name.chars() {
        let starts = letter.is_uppercase() && before.is_lowercase();
        if (starts || !letter.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

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

#[cfg(test)]
mod tests {
    use super::*;

    const CLAUDE: [&str; 9] =
        ["Bash", "Read", "Write", "Edit", "Grep", "Glob", "WebFetch", "WebSearch", "TodoWrite"];

    #[test]
    fn the_tools_of_others_are_found() {
        for (name, expected) in [
            ("read_file", "Read"),
            ("run_command", "Bash"),
            ("search_files", "Grep"),
            ("str_replace_editor", "Edit"),
            ("createFile", "Write"),
            ("fetch_url", "WebFetch"),
            ("web-fetch", "WebFetch"),
            ("update_plan", "TodoWrite"),
            ("Grpe", "Grep"),
        ] {
            let found = similar(name, CLAUDE, SIMILAR);
            assert_eq!(found.first().map(|s| s.name), Some(expected), "{name}");
        }
        assert_eq!(similar("deploy_rocket", CLAUDE, SIMILAR), []);
    }

    #[test]
    fn words_are_found_in_every_spelling() {
        for name in ["readFile", "read_file", "read-file", "ReadFile"] {
            assert_eq!(words(name), ["read", "file"]);
        }
        assert_eq!(similarity("readFile", "read-file"), 1.0);
    }

    #[test]
    fn a_slip_or_a_beginning_is_near() {
        for (a, b) in [("--assign", "--assignee"), ("comit", "commit"), ("--ext", "--extension")] {
            assert!(is_near(a, b), "{a} {b}");
        }
        for (a, b) in [("--everything", "--all"), ("-k", "-i"), ("strat", "ps")] {
            assert!(!is_near(a, b), "{a} {b}");
        }
    }
}
