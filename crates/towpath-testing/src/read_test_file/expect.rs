//! What a case expects, and the matchers in it.

use super::Reader;
use crate::matcher::Matcher;
use crate::suite::{Expect, Name};
use regex::Regex;
use towpath_core::fields::{FieldType, Subject};
use towpath_core::spanned_tree::{Entry, Kind, Node};
use towpath_core::{StatusKind, nearest};

pub(super) const EXPECT_KEYS: &[&str] = &[
    "status",
    "exit",
    "failed_at",
    "error",
    "reason",
    "description",
    "restarts",
    "ran",
    "skipped",
    "not_reached",
    "degraded",
    "tolerated",
    "outputs",
    "printed",
    "prompts",
    "calls",
    "files",
    "checks",
];
pub(super) const MATCHER_KEYS: &[&str] = &["is", "contains", "lacks", "matches"];
pub(super) const STATUSES: &[&str] = &[
    StatusKind::Done.as_str(),
    StatusKind::Failed.as_str(),
    StatusKind::Waiting.as_str(),
    StatusKind::Asking.as_str(),
];

impl Reader<'_> {
    pub(super) fn expect(&mut self, entry: &Entry) -> Expect {
        let Some(fields) = self.fields(&entry.value, Subject::Key("expect"), EXPECT_KEYS) else {
            return Expect::default();
        };
        let get = |key: &str| fields.get(key).filter(|entry| !entry.is_null());
        let mut names = |key: &str| self.names(get(key), "steps");
        let (ran, not_reached) = (names("ran"), names("not_reached"));
        let (degraded, tolerated) = (names("degraded"), names("tolerated"));
        Expect {
            status: self.choice(get("status"), STATUSES).and_then(StatusKind::named),
            exit: self.code(get("exit")),
            failed_at: self.name(get("failed_at")),
            error: get("error").and_then(|entry| self.matcher(&entry.value, "error", false)),
            reason: get("reason").and_then(|entry| self.matcher(&entry.value, "reason", false)),
            description: get("description")
                .and_then(|entry| self.matcher(&entry.value, "description", false)),
            restarts: self.whole_number(get("restarts")),
            ran,
            skipped: get("skipped").and_then(|entry| self.skipped(entry)),
            not_reached,
            degraded,
            tolerated,
            outputs: get("outputs").map(|entry| self.outputs(entry)).unwrap_or_default(),
            printed: get("printed").map(|entry| self.by_step(entry)).unwrap_or_default(),
            prompts: get("prompts").map(|entry| self.by_step(entry)).unwrap_or_default(),
            calls: get("calls").and_then(|entry| self.calls(entry)),
            files: get("files").map(|entry| self.expected_files(entry)).unwrap_or_default(),
            checks: get("checks").map(|entry| self.checks(entry)).unwrap_or_default(),
        }
    }

    fn skipped(&mut self, entry: &Entry) -> Option<Vec<(Name, Option<Matcher>)>> {
        match &entry.value.kind {
            Kind::List(_) => {
                let names = self.names(Some(entry), "steps")?;
                Some(names.into_iter().map(|name| (name, None)).collect())
            }
            Kind::Map(_) => {
                let reasons = self.by_step(entry);
                Some(reasons.into_iter().map(|(name, matcher)| (name, Some(matcher))).collect())
            }
            _ => {
                self.wrong_type(
                    entry,
                    FieldType::Described("a list of steps, or a map of steps and reasons"),
                );
                None
            }
        }
    }

    fn by_step(&mut self, entry: &Entry) -> Vec<(Name, Matcher)> {
        let mut matchers = Vec::new();
        for step in self.map_of(Some(entry), "steps") {
            let name = Name { text: step.key.clone(), span: step.key_defined };
            if let Some(matcher) = self.matcher(&step.value, &step.key, false) {
                matchers.push((name, matcher));
            }
        }
        matchers
    }

    fn outputs(&mut self, entry: &Entry) -> Vec<(String, Matcher)> {
        let mut matchers = Vec::new();
        for output in self.map_of(Some(entry), "variables") {
            if let Some(matcher) = self.matcher(&output.value, &output.key, true) {
                matchers.push((output.key.clone(), matcher));
            }
        }
        matchers
    }

    fn expected_files(&mut self, entry: &Entry) -> Vec<(String, Option<Matcher>)> {
        let mut files = Vec::new();
        for file in self.map_of(Some(entry), "paths") {
            if !self.is_inside(&file.key, file.key_defined) {
                continue;
            }
            if file.is_null() {
                files.push((file.key.clone(), None));
            } else if let Some(matcher) = self.matcher(&file.value, &file.key, false) {
                files.push((file.key.clone(), Some(matcher)));
            }
        }
        files
    }

    fn checks(&mut self, entry: &Entry) -> Vec<String> {
        let mut checks = Vec::new();
        for item in self.list(entry, FieldType::ListOf("commands")).unwrap_or_default() {
            match item.scalar() {
                Some(text) => checks.extend(self.bash_text(text, item)),
                None => {
                    self.wrong_node(item, "`checks`", FieldType::Described("a list of commands"));
                }
            }
        }
        checks
    }

    /// A plain value is what must be equal; a map expects more. `any` value may be a map or a list
    /// itself, a text may not.
    fn matcher(&mut self, node: &Node, key: &str, any: bool) -> Option<Matcher> {
        let Kind::Map(entries) = &node.kind else {
            if node.scalar().is_none() && !any {
                self.wrong_node(
                    node,
                    &format!("`{key}`"),
                    FieldType::Described("a string, or a map with `contains` and the like"),
                );
                return None;
            }
            return Some(Matcher::is(node.value()));
        };
        let known = |key: &str| MATCHER_KEYS.contains(&key);
        let near = |key: &str| nearest(key, MATCHER_KEYS.iter().copied()).is_some();
        let is_value = any && !entries.iter().any(|e| known(&e.key) || near(&e.key));
        if is_value {
            return Some(Matcher::is(node.value()));
        }
        let before = self.problems.len();
        let fields = self.fields(node, Subject::Key(key), MATCHER_KEYS)?;
        if any && self.problems.len() > before {
            let last = self.problems.last_mut().expect("one has just come");
            last.help = Some("a map that must be equal is written under `is`".to_owned());
        }
        if entries.is_empty() {
            let span = self.source.line_from(node.span.start);
            self.error("empty-matcher", format!("`{key}` expects nothing"), span, "");
        }
        Some(Matcher {
            is: fields.get("is").map(|entry| entry.value.value()),
            contains: fields.get("contains").map(|entry| self.parts(entry)).unwrap_or_default(),
            lacks: fields.get("lacks").map(|entry| self.parts(entry)).unwrap_or_default(),
            matches: fields.get("matches").and_then(|entry| self.regex(entry)),
        })
    }

    /// A text, or a list of them.
    fn parts(&mut self, entry: &Entry) -> Vec<String> {
        let nodes = match &entry.value.kind {
            Kind::List(items) => items.iter().collect(),
            _ => vec![&entry.value],
        };
        let mut parts = Vec::new();
        for node in nodes {
            match node.scalar() {
                Some(text) if !text.is_empty() => parts.push(text),
                Some(_) => {
                    let message = format!("`{}` with an empty text checks nothing", entry.key);
                    self.error("empty-matcher", message, entry.key_defined, "");
                }
                None => self.wrong_node(
                    node,
                    &format!("`{}`", entry.key),
                    FieldType::Described("a string or a list of strings"),
                ),
            }
        }
        parts
    }

    fn regex(&mut self, entry: &Entry) -> Option<Regex> {
        let text = self.text(entry)?;
        match Regex::new(&text) {
            Ok(regex) => Some(regex),
            Err(error) => {
                let described = error.to_string();
                let why = described.lines().last().unwrap_or("").trim_start_matches("error: ");
                let message = format!("`matches` is not a regular expression: {why}");
                self.error("bad-regex", message, self.source.first_line(entry.value.defined), "");
                None
            }
        }
    }
}
