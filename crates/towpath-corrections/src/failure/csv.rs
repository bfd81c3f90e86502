//! Recorded calls as CSV with a header.

use super::failure_query::{FailureRow, Times};
use serde_json::Value;
use towpath_store::ToolCallRow;

const COLUMNS: [&str; 12] = [
    "id",
    "at",
    "host",
    "version",
    "session",
    "directory",
    "tool",
    "program",
    "subcommand",
    "input",
    "exit_code",
    "error",
];

/// The whole text, in the order of the rows.
pub fn csv(rows: &[ToolCallRow], time: Times<'_>) -> String {
    let header = COLUMNS.join(",") + "\r\n";
    rows.iter().fold(header, |text, row| text + &line(&FailureRow::new(row, time)))
}

fn line(row: &FailureRow<'_>) -> String {
    let json = serde_json::to_value(row).unwrap_or_default();
    let field = |name: &&str| match &json[*name] {
        Value::Null => String::new(),
        Value::String(text) => csv_field(text),
        value => value.to_string(),
    };
    COLUMNS.iter().map(field).collect::<Vec<_>>().join(",") + "\r\n"
}

/// Quoted where RFC 4180 requires it. A spreadsheet must not run a field as a formula.
fn csv_field(text: &str) -> String {
    let text = match text.starts_with(['=', '+', '-', '@']) {
        true => format!("'{text}"),
        false => text.to_owned(),
    };
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::csv_field;

    #[test]
    fn a_field_is_quoted_where_it_must_be() {
        assert_eq!(csv_field("git comit"), "git comit");
        assert_eq!(csv_field("echo \"a, b\""), "\"echo \"\"a, b\"\"\"");
        assert_eq!(csv_field("=1+1"), "'=1+1");
    }
}
