//! `--list-commands`: what a document would run.

use crate::environment::Environment;
use crate::terminal::format::{clean, count};
use crate::terminal::out;
use crate::terminal::table::{Cell, Table};
use crate::terminal::terminal_width_and_colours::{Screen, Tint};
use serde_json::{Value, json};
use towpath_document::Command;

/// Prints the commands in the order in which they would run.
pub fn print(env: &Environment, commands: &[Command]) {
    if commands.is_empty() {
        return out::line("this document runs no commands");
    }
    let mut table = Table::new(&["LINE", "CALLS", "COMMAND"]);
    for command in commands {
        let line = format!("{}:{}", command.file, command.line);
        let name = command.name.as_ref().map_or("–".to_owned(), |name| format!("${name}"));
        let mut lines = command.shown.lines();
        let first = clean(lines.next().unwrap_or_default());
        let more = lines.count();
        table.row(vec![
            Cell::tinted(line, Tint::None),
            Cell::tinted(name, Tint::None),
            Cell::tinted(first, Tint::None),
        ]);
        if more > 0 {
            table.below(format!("and {}", count(more, "more line")), Tint::Dim);
        }
    }
    table.print(&Screen::new(env));
}

pub fn json(commands: &[Command]) -> Value {
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
    json!({ "schema": 1, "commands": commands })
}
