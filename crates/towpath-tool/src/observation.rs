//! One run of a program under test, as data: what was run, how it ended, what it printed, and what a look
//! at its file has found. A recorded observation is JSON, so that a misjudged program can be reported
//! and become a test. Unknown fields are refused, but for what the test cases add to describe it.

use crate::file_facts::FileFacts;
use serde::{Serialize, Serializer};
use std::sync::Arc;
use towpath_core::fields::{FieldReader, FieldType, FileKind, Key, Subject};
use towpath_core::spanned_tree::{Entry, Kind, Node};
use towpath_core::{Diagnostic, Source, parse_json};
pub use towpath_process::sandbox::EndStatus as ProcessEnd;

const VIA: &[&str] = &["exec", "sh", "bash"];

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Observation {
    /// The base name of the program.
    pub tool: String,
    pub command: String,
    /// How the program was started: `exec`, or through `sh` or `bash` with `-c`.
    pub via: &'static str,
    #[serde(rename = "exit", serialize_with = "serialize_end")]
    pub end: ProcessEnd,
    pub stdout: String,
    pub stderr: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FileFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<String>,
    /// Other names of the tool: of its recipe, its package, its suite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// The directory of the install; it may contain the version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install_path: Option<String>,
    /// The program had a terminal.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub terminal: bool,
}

/// A name that no program has, as long as the tool's.
pub(crate) fn made_up_name(tool: &str) -> String {
    "qzxj".chars().cycle().take(tool.len().max("qzxj".len())).collect()
}

/// The limits of a sandbox, as observations write them.
const LIMITS: &[(ProcessEnd, &str)] = &[
    (ProcessEnd::TimedOut, "timeout"),
    (ProcessEnd::OutputLimit, "output-limit"),
    (ProcessEnd::MemoryLimit, "memory-limit"),
    (ProcessEnd::ProcessLimit, "process-limit"),
];

/// How a process ended, from the text of an observation: `signal:N`, `timeout`, `output-limit`,
/// `memory-limit`, `process-limit` or `exec:ERRNO`. An exit code is a number.
pub(crate) fn end_from_text(text: &str) -> Option<ProcessEnd> {
    match text.split_once(':') {
        Some(("signal", number)) => {
            let number = number.parse().ok().filter(|number| (1..=64).contains(number));
            number.map(ProcessEnd::Signaled)
        }
        Some(("exec", name)) if !name.is_empty() => Some(ProcessEnd::NotStarted(name.to_owned())),
        _ => LIMITS.iter().find(|(_, word)| *word == text).map(|(end, _)| end.clone()),
    }
}

/// The limit that was reached, as observations write it.
pub(crate) fn limit(end: &ProcessEnd) -> Option<&'static str> {
    LIMITS.iter().find(|(limit, _)| limit == end).map(|(_, word)| *word)
}

fn serialize_end<S: Serializer>(end: &ProcessEnd, serializer: S) -> Result<S::Ok, S::Error> {
    match end {
        ProcessEnd::Exited(code) => serializer.serialize_i32(*code),
        ProcessEnd::Signaled(number) => serializer.serialize_str(&format!("signal:{number}")),
        ProcessEnd::NotStarted(name) => serializer.serialize_str(&format!("exec:{name}")),
        end => serializer.serialize_str(limit(end).unwrap_or_default()),
    }
}

impl Observation {
    /// A run that began: everything else is as usual.
    pub fn new(tool: &str, arguments: &[&str], end: ProcessEnd) -> Observation {
        let words: Vec<&str> = [tool].into_iter().chain(arguments.iter().copied()).collect();
        Observation {
            tool: tool.to_owned(),
            command: words.join(" "),
            via: VIA[0],
            end,
            stdout: String::new(),
            stderr: String::new(),
            file: None,
            expected_version: None,
            aliases: Vec::new(),
            install_path: None,
            terminal: false,
        }
    }

    /// Whether it was started under a name that no program has.
    pub(crate) fn is_renamed(&self) -> bool {
        self.command.split(' ').next() == Some(&made_up_name(&self.tool))
    }

    /// The exit code of a process that ended by itself.
    pub fn exit_code(&self) -> Option<i32> {
        match self.end {
            ProcessEnd::Exited(code) => Some(code),
            _ => None,
        }
    }

    /// What was given to the program.
    pub fn arguments(&self) -> Vec<String> {
        let words = crate::command_words::command_words(&self.command)
            .unwrap_or_else(|_| self.command.split_whitespace().map(str::to_owned).collect());
        words.into_iter().skip(1).collect()
    }
}

const OBSERVATION: FileKind = FileKind {
    name: "an observation",
    needs: "`tool`, `command`, `exit`, `stdout` and `stderr`",
    field: "field",
    unknown_code: "unknown-field",
    empty_code: "empty-field",
    map: "an object",
    or: ", ",
    shows_written: true,
};

const FIELDS: &[Key] = &[
    Key::required("tool"),
    Key::required("command"),
    Key::optional("via"),
    Key::required("exit"),
    Key::optional("stdout"),
    Key::optional("stderr"),
    Key::optional("file"),
    Key::optional("expected_version"),
    Key::optional("aliases"),
    Key::optional("install_path"),
    Key::optional("terminal"),
    // What a test case notes about itself.
    Key::optional("id"),
    Key::optional("why"),
    Key::optional("seed_rule"),
    Key::optional("seed_all_four"),
    Key::optional("tsuku_code"),
    Key::optional("verdict"),
    Key::optional("pattern"),
    Key::optional("version_found"),
    Key::optional("identity"),
    Key::optional("next_probe"),
];

const END: FieldType = FieldType::Described(
    "an exit code, \"signal:N\", \"timeout\", \"output-limit\", \"memory-limit\" or \"exec:ERRNO\"",
);

/// Reads an observation, or reports everything that is wrong with it.
pub fn read_observation(source: &Arc<Source>) -> Result<Observation, Vec<Diagnostic>> {
    let tree = parse_json(source);
    let mut reader = FieldReader::new(source, OBSERVATION, tree.problems);
    let observation = tree.root.as_ref().and_then(|root| observation(&mut reader, root));
    match observation {
        Some(observation) if reader.problems.is_empty() => Ok(observation),
        _ => Err(reader.problems),
    }
}

fn observation(reader: &mut FieldReader<'_>, root: &Node) -> Option<Observation> {
    let fields = reader.fields(root, Subject::Noun("observation"), FIELDS)?;
    let present = |name| fields.get(name).filter(|entry| !entry.is_null());
    let mut text = |name| reader.string(present(name)).map(str::to_owned);
    let (tool, command) = (text("tool"), text("command"));
    let (stdout, stderr) = (text("stdout"), text("stderr"));
    let (file, expected_version) = (text("file"), text("expected_version"));
    let install_path = text("install_path");
    let via = reader.choice(present("via"), VIA).unwrap_or(VIA[0]);
    let end = fields.get("exit").and_then(|entry| process_end(reader, entry));
    let aliases = reader.texts(present("aliases"), FieldType::TextList).unwrap_or_default();
    let terminal = reader.bool(present("terminal")).unwrap_or(false);
    Some(Observation {
        tool: tool?,
        command: command?,
        via,
        end: end?,
        stdout: stdout.unwrap_or_default(),
        stderr: stderr.unwrap_or_default(),
        file: file.map(|description| FileFacts::from_description(&description)),
        expected_version,
        aliases: aliases.into_iter().map(|(alias, _)| alias).collect(),
        install_path,
        terminal,
    })
}

fn process_end(reader: &mut FieldReader<'_>, entry: &Entry) -> Option<ProcessEnd> {
    let end = match &entry.value.kind {
        Kind::Number(number) => {
            let code = number.to_string().parse().ok().filter(|code| (0..=255).contains(code));
            code.map(ProcessEnd::Exited)
        }
        Kind::Text(text) => end_from_text(text),
        _ => None,
    };
    if end.is_none() {
        reader.wrong_type(entry, END);
    }
    end
}
