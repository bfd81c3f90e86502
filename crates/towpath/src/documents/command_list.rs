//! `--list-commands`: everything that a document would run, and every file that it reads.

use super::read_document_files::ReadFile;
use crate::session::trust::visible;
use crate::terminal::out;
use serde_json::{Value, json};
use towpath_document::Command;

/// Prints the commands in the order in which they would run, whole, and then the files.
pub fn print(commands: &[Command], files: &[ReadFile]) {
    let mut rows = vec![("LINE".to_owned(), "CALLS".to_owned(), "COMMAND")];
    rows.extend(commands.iter().map(|command| {
        let name = command.name.as_ref().map_or("–".to_owned(), |name| format!("${name}"));
        (visible(&format!("{}:{}", command.file, command.line)), name, command.shown.as_str())
    }));
    let width = |column: fn(&(String, String, &str)) -> usize| rows.iter().map(column).max();
    let line = width(|row| row.0.chars().count()).unwrap_or_default();
    let name = width(|row| row.1.chars().count()).unwrap_or_default();
    if commands.is_empty() {
        rows.clear();
        out::line("this document runs no commands");
    }
    for (at, calls, command) in rows {
        let mut head = format!("{at:line$}  {calls:name$}  ");
        for part in command.split('\n') {
            out::line(format!("{head}{}", visible(part)).trim_end());
            head = " ".repeat(line + name + 4);
        }
    }
    if !files.is_empty() {
        out::line("\nFILES THAT IT READS");
    }
    for file in files {
        let note = if file.refused { "  (outside of the project: not read)" } else { "" };
        out::line(format!("{}{note}", visible(&file.name)));
    }
}

pub fn json(commands: &[Command], files: &[ReadFile]) -> Value {
    let commands: Vec<Value> = commands
        .iter()
        .map(|command| {
            json!({
                "file": command.file,
                "line": command.line,
                "name": command.name,
                "command": command.shown,
            })
        })
        .collect();
    let files: Vec<Value> =
        files.iter().map(|file| json!({ "file": file.name, "read": !file.refused })).collect();
    json!({ "schema": 1, "commands": commands, "files": files })
}
