//! The first line of a new file in a project, by which editors find its schema. The schema is a file of the
//! project too, so that whoever has the project has it; one that is there already is not touched.

use crate::environment::{Environment, is_project};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use towpath_core::Value;
use towpath_core::files;

/// What a new file begins with, and the schema's file if it was created.
#[derive(Debug, Default)]
pub struct SchemaLine {
    pub line: String,
    pub created: Option<PathBuf>,
}

/// The line for a file of a format. Outside of a project there is no line: the file would have to name a
/// directory of this machine, or bring a schema along.
pub fn schema_line(
    file: &Path,
    format: &str,
    schema: &Value,
    env: &Environment,
) -> Result<SchemaLine, (PathBuf, Error)> {
    let root = env.project_root(&env.current);
    let home = root.join(".towpath");
    let Ok(below) = file.strip_prefix(&home) else { return Ok(SchemaLine::default()) };
    if !is_project(&root) {
        return Ok(SchemaLine::default());
    }
    let name = format!("{format}.schema.json");
    let up = "../".repeat(below.components().count() - 1);
    let line = format!("# yaml-language-server: $schema={up}{name}\n");
    let path = home.join(name);
    let text = serde_json::to_string_pretty(schema).expect("a JSON value can be written");
    match files::create(&path, format!("{text}\n").as_bytes()) {
        Ok(()) => Ok(SchemaLine { line, created: Some(path) }),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Ok(SchemaLine { line, created: None })
        }
        Err(error) => Err((path, error)),
    }
}
