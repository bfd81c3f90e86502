//! `tools.toml`: a table with one key for each tool. Its value is where the tool comes from, with a
//! version or without: `"cargo:kibi@0.2.2"`, or `{ from = "cargo:kibi", version = "0.2.2" }`; a file at an
//! address may have a `sha256`. `"system"` is the program that the system has.

use crate::recipe_values::check_tool_name;
use crate::sources::SourceRef;
use crate::tool_request::{ToolRequest, ToolSource};
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
const TOOL: &[Key] = &[Key::required("from"), Key::optional("version"), Key::optional("sha256")];

/// Reads a file of tools, or reports everything that is wrong with it.
pub fn read_tools_file(source: &Arc<Source>) -> Result<Vec<ToolRequest>, Vec<Diagnostic>> {
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

fn tool(reader: &mut FieldReader<'_>, entry: &Entry) -> Option<ToolRequest> {
    if let Err(reason) = check_tool_name(&entry.key) {
        reader.error("bad-value", reason, entry.key_defined, "");
        return None;
    }
    let (from, version, sha256) = match &entry.value.kind {
        Kind::Map(_) => {
            let keys = reader.fields(&entry.value, Subject::Noun("tool"), TOOL)?;
            let from = reader.string(keys.get("from"));
            let version = reader.string(keys.get("version")).map(str::to_owned);
            let sha256 = reader.string(keys.get("sha256")).map(str::to_lowercase);
            (from?.to_owned(), version, sha256)
        }
        _ => {
            let text = reader.string(entry)?;
            let (from, version) = SourceRef::split_version(text);
            (from.to_owned(), version.map(str::to_owned), None)
        }
    };
    match ToolSource::read(&from, version.as_deref(), sha256.as_deref()) {
        Ok(from) => Some(ToolRequest { name: entry.key.clone(), from, version, sha256 }),
        Err(reason) => {
            let span = reader.source.first_line(entry.value.defined);
            reader.error("bad-value", format!("`{}`: {reason}", entry.key), span, "");
            None
        }
    }
}
