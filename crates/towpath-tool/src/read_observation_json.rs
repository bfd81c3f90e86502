//! From the JSON of a recorded observation to a value. Unknown fields are refused, but for what the test
//! cases add to an observation to describe it.

use crate::observation::{Observation, ProcessEnd, Via};
use crate::static_file_facts::FileFacts;
use std::sync::Arc;
use towpath_core::fields::{FieldReader, FieldType, FileKind, Key, Subject};
use towpath_core::spanned_tree::{Entry, Kind, Node};
use towpath_core::{Diagnostic, Source, parse_json};

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
    let via = reader.choice(present("via"), Via::WORDS).map_or(Via::Exec, Via::from_word);
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
        Kind::Text(text) => ProcessEnd::from_text(text),
        _ => None,
    };
    if end.is_none() {
        reader.wrong_type(entry, END);
    }
    end
}
