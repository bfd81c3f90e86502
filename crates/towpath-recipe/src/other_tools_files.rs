//! Files of other tools that were given as a recipe, recognised by what only they have: a list of
//! unknown fields would not help their users.

use crate::field_table::{Section, find_field};
use std::sync::Arc;
use towpath_core::spanned_tree::{Entry, Kind, Node};
use towpath_core::{Diagnostic, Source, Span};

const RECIPE: &str =
    "a recipe has a `name` and a list of `steps`, each with an `id` and a `command`";

/// The error for a file that is another tool's. Without a tree it is no YAML.
pub(crate) fn recognised(source: &Arc<Source>, root: Option<&Node>) -> Option<Diagnostic> {
    by_name(source).or_else(|| match root {
        Some(root) => by_tree(source, root),
        None => by_text(source),
    })
}

fn by_tree(source: &Arc<Source>, root: &Node) -> Option<Diagnostic> {
    match &root.kind {
        Kind::Map(entries) => of_map(source, entries),
        Kind::List(items) => {
            let play =
                items.iter().filter_map(map_of).find(|play| entry(play, "hosts").is_some())?;
            let hosts = entry(play, "hosts")?.key_defined;
            Some(error(source, hosts, "an Ansible playbook", "write each task's command as a step"))
        }
        _ => None,
    }
}

fn by_name(source: &Arc<Source>) -> Option<Diagnostic> {
    let file = source.name.rsplit('/').next().unwrap_or(&source.name).to_lowercase();
    let what = match file.as_str() {
        "justfile" | ".justfile" => "a justfile",
        "makefile" | "gnumakefile" => "a makefile",
        _ => return None,
    };
    Some(error(source, first_line(source), what, JUST))
}

fn by_text(source: &Arc<Source>) -> Option<Diagnostic> {
    let mut lines = source.text.lines();
    if lines.clone().any(|line| line.starts_with("[tasks")) {
        let how = "write each `run` as a step's `command`";
        return Some(error(source, first_line(source), "a file of mise", how));
    }
    // `version := "1"`, `set shell := […]`: YAML has no such line at its left edge.
    let in_name = |c: char| c.is_alphanumeric() || "_- ".contains(c);
    let assigns = |line: &str| {
        line.split_once(":=").is_some_and(|(name, _)| {
            name.starts_with(char::is_alphabetic) && name.chars().all(in_name)
        })
    };
    lines.any(assigns).then(|| error(source, first_line(source), "a justfile", JUST))
}

fn first_line(source: &Source) -> Span {
    source.line_from(source.text.len() - source.text.trim_start().len())
}

const JUST: &str = "write the lines of each of its recipes as a step's `command`";

fn of_map(source: &Arc<Source>, entries: &[Entry]) -> Option<Diagnostic> {
    if entry(entries, "steps").is_some() {
        return None;
    }
    let found = |name: &str, what: &str, how: &str| {
        Some(error(source, entry(entries, name)?.key_defined, what, how))
    };
    let is_map =
        |name: &str| entry(entries, name).is_some_and(|e| matches!(e.value.kind, Kind::Map(_)));
    let is_list =
        |name: &str| entry(entries, name).is_some_and(|e| matches!(e.value.kind, Kind::List(_)));
    if is_map("jobs") && (is_map("workflows") || has_circle_job(entries)) {
        let how = "write each `run` of a job as a step's `command`";
        return found("jobs", "a configuration of CircleCI", how);
    }
    if is_map("jobs") {
        return found(
            "jobs",
            "a GitHub Actions workflow",
            "write each `run` as a step's `command`",
        );
    }
    if is_map("runs") {
        return found("runs", "a GitHub action", "write each `run` as a step's `command`");
    }
    if is_map("tasks") {
        return found("tasks", "a Taskfile", "write the `cmds` of each task as a step's `command`");
    }
    if is_list("nodes") {
        return found("nodes", "an Archon workflow", "write each node as a step, in their order");
    }
    if is_map("workflow") || is_list("agents") {
        let name = if is_list("agents") { "agents" } else { "workflow" };
        return found(name, "a conductor workflow", "write each agent as a step with a `prompt`");
    }
    if is_map("scripts") {
        return found("scripts", "a package.json", "write each script as a step's `command`");
    }
    if let Some(job) = entries.iter().find(|entry| is_gitlab_job(entry)) {
        let how = "write each `script` as a step's `command`";
        return Some(error(source, job.key_defined, "a configuration of GitLab CI", how));
    }
    targets(source, entries).then(|| {
        let first = entries.first().map_or(Span::default(), |entry| entry.key_defined);
        error(source, first, "a justfile or a makefile", JUST)
    })
}

/// A job of GitHub has none of these.
fn has_circle_job(entries: &[Entry]) -> bool {
    let circle = |job: &Entry| {
        let fields = map_of(&job.value).unwrap_or_default();
        ["docker", "machine", "executor", "macos"].iter().any(|name| entry(fields, name).is_some())
    };
    let jobs = entry(entries, "jobs").and_then(|jobs| map_of(&jobs.value));
    jobs.unwrap_or_default().iter().any(circle)
}

/// A map with a `script` at the left edge of the file.
fn is_gitlab_job(job: &Entry) -> bool {
    map_of(&job.value).is_some_and(|fields| entry(fields, "script").is_some())
}

/// `build:` with a line of commands below it, and nothing that a recipe has.
fn targets(source: &Source, entries: &[Entry]) -> bool {
    let target = |entry: &Entry| {
        matches!(entry.value.kind, Kind::Text(_))
            && find_field(Section::Recipe, &entry.key).is_none()
    };
    let below = |entry: &Entry| {
        let between = source.text.get(entry.key_defined.end..entry.value.defined.start);
        between.is_some_and(|text| text.contains('\n'))
    };
    entries.iter().all(target) && entries.iter().any(below)
}

fn map_of(node: &Node) -> Option<&[Entry]> {
    match &node.kind {
        Kind::Map(entries) => Some(entries),
        _ => None,
    }
}

fn entry<'n>(entries: &'n [Entry], name: &str) -> Option<&'n Entry> {
    entries.iter().find(|entry| entry.key == name)
}

fn error(source: &Arc<Source>, span: Span, what: &str, how: &str) -> Diagnostic {
    let problem = Diagnostic::error("other-tool", format!("this is {what}, not a recipe"));
    problem.at(source, span, how).help(RECIPE)
}
