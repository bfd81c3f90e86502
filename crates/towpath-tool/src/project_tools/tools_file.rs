//! `tools.toml`: a table with one key for each tool. Its value is where the tool comes from, with a
//! version or without: `"cargo:kibi@0.2.2"`, or `{ from = "cargo:kibi", version = "0.2.2" }`; a file at an
//! address may have a `sha256`. `"system"` is the program that the system has.

use crate::recipe_values::{check_tool_name, sha256};
use crate::sources::{SourceKind, SourceRef, can_be_replaced, check_version};
use std::fmt;
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

/// A tool that a project needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectTool {
    pub name: String,
    pub from: ToolSource,
    /// Exactly this one; none is whatever is the newest when it is locked.
    pub version: Option<String>,
    /// The file at an address must have this hash.
    pub sha256: Option<String>,
}

/// The word for programs of the system.
pub const SYSTEM: &str = "system";

/// Where a project's tool comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolSource {
    System,
    Package(SourceRef),
}

impl fmt::Display for ToolSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolSource::System => f.write_str(SYSTEM),
            ToolSource::Package(source) => source.fmt(f),
        }
    }
}

impl ToolSource {
    fn read(from: &str, version: Option<&str>, hash: Option<&str>) -> Result<ToolSource, String> {
        if from == SYSTEM {
            return match version.or(hash) {
                Some(_) => Err("a program of the system is what it is: no version, no hash".into()),
                None => Ok(ToolSource::System),
            };
        }
        let source: SourceRef = from.parse().map_err(|error| format!("{error}"))?;
        version.map_or(Ok(()), check_version)?;
        hash.map_or(Ok(()), sha256)?;
        let is_address = source.kind() == SourceKind::Url;
        if hash.is_some() && !is_address {
            return Err(format!("sha256 is for url: sources; {source} has hashes of its own"));
        }
        if hash.is_none() && is_address && can_be_replaced(source.name()) {
            let danger = "anybody between you and an http address can replace the file";
            return Err(format!("{danger}; use https, or give the file's sha256"));
        }
        Ok(ToolSource::Package(source))
    }
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
        Ok(from) => Some(ProjectTool { name: entry.key.clone(), from, version, sha256 }),
        Err(reason) => {
            let span = reader.source.first_line(entry.value.defined);
            reader.error("bad-value", format!("`{}`: {reason}", entry.key), span, "");
            None
        }
    }
}
