//! What replaces agents and commands: answers and stubs, by step.

use super::Reader;
use super::field_values::Fields;
use crate::suite::{Answer, Answers, Name, Stub};
use towpath_core::fields::{FieldType, Subject};
use towpath_core::spanned_tree::{Entry, Kind, Node};
use towpath_core::text_of;

pub(super) const ANSWER_KEYS: &[&str] =
    &["answer", "outcome", "description", "files", "run", "fault", "until"];
pub(super) const STUB_KEYS: &[&str] = &["stdout", "stderr", "exit", "files"];
pub(super) const FAULTS: &[&str] = &[
    "auth",
    "limit",
    "overloaded",
    "bad_request",
    "unknown_session",
    "too_long",
    "crash",
    "timeout",
];

impl Reader<'_> {
    pub(super) fn agents(&mut self, entry: &Entry) -> Vec<(Name, Answers)> {
        let mut agents = Vec::new();
        for step in self.map_of(Some(entry), "steps and answers") {
            let name = Name { text: step.key.clone(), span: step.key_defined };
            let answers = match &step.value.kind {
                Kind::List(items) => {
                    let each = items.iter().map(|item| self.answer(item, &step.key));
                    Answers::InOrder(each.collect::<Vec<_>>().into_iter().flatten().collect())
                }
                _ => match self.answer(&step.value, &step.key) {
                    Some(answer) => Answers::Always(answer),
                    None => continue,
                },
            };
            agents.push((name, answers));
        }
        agents
    }

    fn answer(&mut self, node: &Node, step: &str) -> Option<Answer> {
        if let Some(text) = node.scalar() {
            return Some(Answer { text: Some(text), ..Answer::default() });
        }
        if !matches!(node.kind, Kind::Map(_)) {
            self.wrong_node(
                node,
                &format!("an answer of `{step}`"),
                FieldType::Described("a string or a map"),
            );
            return None;
        }
        let fields = self.fields(node, Subject::Noun("answer"), ANSWER_KEYS)?;
        let answer = Answer {
            text: self.answer_text(&fields),
            fault: self.choice(fields.get("fault"), FAULTS),
            until: fields.get("until").and_then(|entry| self.until(entry)),
            files: self.files(fields.get("files")),
            run: self.bash(fields.get("run")),
        };
        if let Some(until) = fields.get("until")
            && fields.get("fault").is_none()
        {
            let message = "`until` needs a `fault`".to_owned();
            self.error("no-fault", message, until.key_defined, "");
        }
        let silent = ["answer", "outcome", "fault", "files", "run"]
            .iter()
            .all(|key| fields.get(key).is_none() && !fields.has_misspelt(key));
        if silent {
            let span = self.source.line_from(node.span.start);
            let message =
                "an answer needs `answer`, `outcome`, `files`, `run` or `fault`".to_owned();
            self.error("no-answer", message, span, "");
        }
        Some(answer)
    }

    /// What the agent answers: its words, and on the last line the outcome that it reports.
    fn answer_text(&mut self, fields: &Fields<'_>) -> Option<String> {
        let words = fields.get("answer").and_then(|entry| self.words(entry));
        let outcome = self.text(fields.get("outcome"));
        let description = self.text(fields.get("description"));
        let Some(outcome) = outcome else {
            if let Some(entry) = fields.get("description") {
                let message = "`description` needs an `outcome`".to_owned();
                self.error("no-outcome", message, entry.key_defined, "");
            }
            return words;
        };
        let mut report = serde_json::json!({ "outcome": outcome });
        if let Some(description) = description {
            report["otherDescription"] = description.into();
        }
        let before = words.map_or(String::new(), |words| format!("{words}\n\n"));
        Some(format!("{before}{report}"))
    }

    /// An answer may be written as the JSON that it is.
    fn words(&mut self, entry: &Entry) -> Option<String> {
        if entry.is_null() {
            return Some(String::new());
        }
        Some(text_of(&entry.value.value()))
    }

    fn until(&mut self, entry: &Entry) -> Option<towpath_core::Value> {
        let value = entry.value.value();
        let time = |text: &str| text.parse::<jiff::Timestamp>().is_ok();
        let sound = value.is_i64() || value.as_str().is_some_and(time);
        if !sound {
            self.wrong_type(
                entry,
                FieldType::Described("a time such as 2030-01-31T12:00:00Z, or unix seconds"),
            );
        }
        sound.then_some(value)
    }

    pub(super) fn stubs(&mut self, entry: &Entry) -> Vec<(Name, Stub)> {
        let mut stubs = Vec::new();
        for step in self.map_of(Some(entry), "steps and commands") {
            let name = Name { text: step.key.clone(), span: step.key_defined };
            if let Some(stub) = self.stub(step) {
                stubs.push((name, stub));
            }
        }
        stubs
    }

    fn stub(&mut self, step: &Entry) -> Option<Stub> {
        if let Some(text) = step.value.scalar() {
            return self.bash_text(text, &step.value).map(Stub::Bash);
        }
        if !matches!(step.value.kind, Kind::Map(_)) {
            self.wrong_type(step, FieldType::Described("a command, or a map"));
            return None;
        }
        let fields = self.fields(&step.value, Subject::Noun("stub"), STUB_KEYS)?;
        let mut text = |key: &str| self.bash(fields.get(key));
        let (stdout, stderr) = (text("stdout"), text("stderr"));
        Some(Stub::Prints {
            stdout: stdout.unwrap_or_default(),
            stderr: stderr.unwrap_or_default(),
            exit: self.code(fields.get("exit")).unwrap_or(0),
            files: self.files(fields.get("files")),
        })
    }
}
