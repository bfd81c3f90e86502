//! `tools.toml`: a table with one key for each tool. Its value is where the tool comes from, with a
//! version or without: `"cargo:kibi@0.2.2"`, or `{ from = "cargo:kibi", version = "0.2.2" }`.

use crate::recipe_values::check_tool_name;
use crate::sources::SourceRef;
use std::sync::Arc;
use towpath_core::fields::{FieldReader, FileKind, Key, Subject};
use towpath_core::spanned_tree::{Entry, Kind};
use towpath_core::{Diagnostic, Source, parse_toml};

const FILE: FileKind = FileKind {
    name: "a file of tools",
    needs: "`tools`",
    field: "key",
    unknown_code: "unknown-key",
    empty_code: "empty-key",
    map: "a table",
    or: ", ",
    shows_written: true,
};
const TOP: &[Key] = &[Key::required("tools")];
const TOOL: &[Key] = &[Key::required("from"), Key::optional("version")];

/// A tool that a project needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectTool {
    pub name: String,
    pub from: SourceRef,
    /// Exactly this one; none is whatever is the newest when it is locked.
    pub version: Option<String>,
}

/// Reads a file of tools, or reports everything that is wrong with it.
pub fn read_tools_file(source: &Arc<Source>) -> Result<Vec<ProjectTool>, Vec<Diagnostic>> {
    let tree = parse_toml(source);
    let mut reader = FieldReader::new(source, FILE, tree.problems);
    let mut tools = Vec::new();
    if let Some(root) = &tree.root
        && let Some(keys) = reader.fields(root, Subject::Noun("file of tools"), TOP)
        && let Some(entry) = keys.get("tools")
        && let Some(entries) = reader.entries(&entry.value, Subject::Key("tools"))
    {
        tools.extend(entries.iter().filter_map(|entry| tool(&mut reader, entry)));
    }
    if reader.problems.is_empty() { Ok(tools) } else { Err(reader.problems) }
}

fn tool(reader: &mut FieldReader<'_>, entry: &Entry) -> Option<ProjectTool> {
    if let Err(reason) = check_tool_name(&entry.key) {
        reader.error("bad-value", reason, entry.key_defined, "");
        return None;
    }
    let (from, version) = match &entry.value.kind {
        Kind::Map(_) => {
            let keys = reader.fields(&entry.value, Subject::Noun("tool"), TOOL)?;
            let from = reader.string(keys.get("from"));
            let version = reader.string(keys.get("version")).map(str::to_owned);
            (from?.to_owned(), version)
        }
        _ => {
            let text = reader.string(entry)?;
            let (from, version) = SourceRef::split_version(text);
            (from.to_owned(), version.map(str::to_owned))
        }
    };
    let parsed = from.parse::<SourceRef>().map_err(|error| error.to_string());
    let checked = version.as_deref().map_or(Ok(()), crate::sources::check_version);
    match (parsed, checked) {
        (Ok(from), Ok(())) => Some(ProjectTool { name: entry.key.clone(), from, version }),
        (Err(reason), _) | (_, Err(reason)) => {
            let span = reader.source.first_line(entry.value.defined);
            reader.error("bad-value", format!("`{}`: {reason}", entry.key), span, "");
            None
        }
    }
}
