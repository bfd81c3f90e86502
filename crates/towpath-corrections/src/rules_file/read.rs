//! From the text of a file to its rules.

use super::keys::{ANY_KIND, FILE_KEYS, KINDS, KindRow, WORDS};
use super::{AboutRules, RuleInFile, RulesFile, RulesFormat, dp_collection};
use crate::new_rule::{NewRule, RuleError};
use crate::rule::{KindName, RuleKey, RuleKind, SHELL_PARAMETER, SHELL_TOOL};
use crate::tool_call::DEFAULT_HOST;
use std::collections::HashMap;
use std::sync::Arc;
use towpath_core::fields::{FieldReader, FieldType, Fields, FileKind, Key, Subject};
use towpath_core::spanned_tree::{Entry, Kind, Node};
use towpath_core::{Diagnostic, Source, Span, parse_json, parse_toml};

const RULES_FILE: FileKind = FileKind {
    name: "a rules file",
    needs: "`rule`",
    field: "key",
    unknown_code: "unknown-key",
    empty_code: "empty-key",
    map: "a table",
    or: ", ",
    shows_written: true,
};

pub(super) type RuleFields<'n> = Fields<Key, &'n Entry>;

/// Reads a file, or reports everything that is wrong with it. A collection that `dp` has exported is
/// read too.
pub fn read_rules(source: &Arc<Source>, format: RulesFormat) -> Result<RulesFile, Vec<Diagnostic>> {
    let tree = match format {
        RulesFormat::Toml => parse_toml(source),
        RulesFormat::Json => parse_json(source),
    };
    let fields = FieldReader::new(source, RULES_FILE, tree.problems);
    let mut reader = RulesReader { fields, rules: Vec::new(), seen: HashMap::new() };
    let about = tree.root.as_ref().and_then(|root| reader.file(root)).unwrap_or_default();
    let mut problems = reader.fields.problems;
    problems.sort_by_key(|problem| problem.labels.first().map(|label| label.span.start));
    match problems.is_empty() {
        true => Ok(RulesFile { about, rules: reader.rules }),
        false => Err(problems),
    }
}

pub(super) struct RulesReader<'a> {
    pub fields: FieldReader<'a>,
    rules: Vec<RuleInFile>,
    /// The rules so far, with their locations.
    seen: HashMap<RuleKey, Span>,
}

impl RulesReader<'_> {
    fn file(&mut self, root: &Node) -> Option<AboutRules> {
        if dp_collection::is_one(root) {
            return self.collection(root);
        }
        let fields = self.fields.fields(root, Subject::Noun("rules file"), FILE_KEYS)?;
        for item in self.fields.list(fields.get("rule"), FieldType::ListOf("rules"))? {
            self.rule(item);
        }
        Some(self.about(&fields))
    }

    pub fn about(&mut self, fields: &RuleFields<'_>) -> AboutRules {
        let mut text = |name| self.fields.string(fields.get(name)).map(str::to_owned);
        AboutRules { name: text("name"), description: text("description"), author: text("author") }
    }

    fn rule(&mut self, node: &Node) {
        let Some(row) = self.kind(node) else { return };
        let before = self.fields.problems.len();
        let Some(fields) = self.fields.fields(node, Subject::Noun(row.noun), row.keys) else {
            return;
        };
        let kind = self.rule_kind(row.kind, &fields);
        let message = self.text(&fields, "message");
        let directory = self.text(&fields, "directory");
        let enabled = self.fields.bool(fields.get("enabled")).unwrap_or(true);
        let force = self.fields.bool(fields.get("force")).unwrap_or(false);
        let rule = NewRule { kind, message, directory };
        let rule = RuleInFile { rule, enabled, force, span: node.span };
        match self.fields.problems.len() == before {
            true => self.add(rule, &fields),
            // What is missing was reported: only what is written can be wrong, too.
            false => self.check(&rule, &fields, false),
        }
    }

    /// The row of the rule's kind. Without one, the other keys are checked as far as they can be.
    fn kind(&mut self, node: &Node) -> Option<&'static KindRow> {
        let entries = self.fields.entries(node, Subject::Noun("rule"))?;
        let Some(entry) = entries.iter().find(|entry| entry.key == "kind") else {
            self.fields.fields(node, Subject::Noun("rule"), ANY_KIND);
            return None;
        };
        let Some(word) = self.fields.choice(entry, WORDS) else {
            self.fields.fields(node, Subject::Noun("rule"), ANY_KIND);
            return None;
        };
        KINDS.iter().find(|row| row.kind.as_str() == word)
    }

    fn rule_kind(&mut self, kind: KindName, fields: &RuleFields<'_>) -> RuleKind {
        let mut text = |name| self.text(fields, name);
        let (from, to) = (text("from").unwrap_or_default(), text("to").unwrap_or_default());
        let script = self.with_plain_line_ends(fields.get("to"), &to);
        let mut text = |name| self.text(fields, name);
        let command = text("command");
        let host = text("host").unwrap_or_else(|| DEFAULT_HOST.to_owned());
        let valued = text("valued").unwrap_or_default();
        let tool = text("tool").unwrap_or_else(|| SHELL_TOOL.to_owned());
        let parameter = text("parameter").unwrap_or_else(|| SHELL_PARAMETER.to_owned());
        match kind {
            KindName::ToolName => RuleKind::ToolName { from, to, host },
            KindName::ToolRecipe => RuleKind::ToolRecipe { from, script, host },
            KindName::Flag => {
                RuleKind::Flag { command: command.unwrap_or_default(), from, to, valued }
            }
            KindName::Command => RuleKind::Command { from, to },
            KindName::Literal => match command {
                Some(command) => self.literal(fields, command, from, to),
                None => RuleKind::ParameterLiteral { tool, parameter, from, to },
            },
            KindName::Regex => RuleKind::Regex { tool, parameter, from, to },
            KindName::Recipe => {
                let template = self.fields.bool(fields.get("template")).unwrap_or(true);
                let timeout = self.fields.count(fields.get("timeout")).map(u64::from);
                RuleKind::Recipe { from, to: script, template, timeout }
            }
            KindName::Refuse => {
                let option = self.text(fields, "option").unwrap_or_default();
                RuleKind::Refuse { from, option }
            }
        }
    }

    /// A script of a file with the line ends of Windows: bash would take the `\r` for a character.
    /// One that is escaped was meant.
    fn with_plain_line_ends(&self, entry: Option<&Entry>, script: &str) -> String {
        let written = entry.map(|entry| entry.value.defined);
        let written = written.and_then(|span| self.fields.source.text.get(span.start..span.end));
        match written.is_some_and(|text| text.contains("\r\n")) {
            true => script.replace("\r\n", "\n"),
            false => script.to_owned(),
        }
    }

    fn literal(
        &mut self,
        fields: &RuleFields<'_>,
        command: String,
        from: String,
        to: String,
    ) -> RuleKind {
        for name in ["tool", "parameter"] {
            if let Some(entry) = fields.get(name) {
                let message = format!("a literal rule has `command` or `{name}`, not both");
                self.fields.error("bad-rule", message, entry.key_defined, "");
            }
        }
        RuleKind::Literal { command, from, to }
    }

    pub fn text(&mut self, fields: &RuleFields<'_>, name: &str) -> Option<String> {
        self.fields.string(fields.get(name)).map(str::to_owned)
    }

    /// Checks a rule as if it were created, and that it is there once.
    pub fn add(&mut self, rule: RuleInFile, fields: &RuleFields<'_>) {
        let before = self.fields.problems.len();
        self.check(&rule, fields, true);
        let span = self.fields.source.line_from(rule.span.start);
        if let Some(first) = self.seen.insert(rule.rule.kind.key(), span) {
            let problem = Diagnostic::error("same-rule", "the same rule is here twice")
                .at(self.fields.source, span, "again here")
                .at(self.fields.source, first, "first here")
                .help("the kind, `from` and what they belong to make a rule; take one of them out");
            self.fields.problem(problem);
            return;
        }
        if self.fields.problems.len() == before {
            self.rules.push(rule);
        }
    }

    /// Reports everything for which the rule would be refused. `whole`: it has all of its keys.
    fn check(&mut self, rule: &RuleInFile, fields: &RuleFields<'_>, whole: bool) {
        for error in rule.rule.problems(rule.force) {
            let blamed = self.blamed(&error, fields).or(whole.then_some(rule.span));
            let Some(span) = blamed else { continue };
            let span = self.fields.source.first_line(span);
            let help = error.can_be_forced().then_some("with `force = true` it is accepted");
            let problem = Diagnostic::error("bad-rule", error.to_string());
            let problem = problem.at(self.fields.source, span, "");
            self.fields.problem(match help {
                Some(help) => problem.help(help),
                None => problem,
            });
        }
    }

    /// The value that an error is about.
    fn blamed(&self, error: &RuleError, fields: &RuleFields<'_>) -> Option<Span> {
        let value = |entry: &Entry| match &entry.value.kind {
            Kind::Text(text) => text.clone(),
            _ => String::new(),
        };
        let found = |test: &dyn Fn(&str) -> bool| {
            let mut texts = fields.iter().filter(|(_, e)| matches!(e.value.kind, Kind::Text(_)));
            texts.find(|(_, entry)| test(&value(entry))).map(|(_, entry)| entry)
        };
        let entry = match error {
            RuleError::Empty { what } => {
                let key = match what.as_str() {
                    "the message" => "message",
                    "the tool" => "tool",
                    "the parameter" => "parameter",
                    "the text to look for" => "from",
                    "the command" => "command",
                    _ => "to",
                };
                fields.get(key).filter(|entry| matches!(entry.value.kind, Kind::Text(_)))
            }
            RuleError::NotWords { text }
            | RuleError::NotAFlag { text }
            | RuleError::NotLetters { letters: text }
            | RuleError::BadRegex { pattern: text, .. }
            | RuleError::SelfAlias { from: text } => found(&|value| value == text),
            RuleError::NoHook { .. } => fields.get("host"),
            RuleError::NoGroup { .. }
            | RuleError::BadTemplate { .. }
            | RuleError::BadPosition
            | RuleError::NotBash { .. } => fields.get("to"),
        };
        entry.map(|entry| entry.value.defined)
    }
}
