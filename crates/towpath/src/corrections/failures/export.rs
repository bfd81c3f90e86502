//! Failures for other programs: JSON lines, or CSV with a header.

use super::failure_json;
use towpath_store::ToolCallRow;

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ExportFormat {
    /// One JSON object per line.
    Json,
    Csv,
}

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

pub fn export(rows: &[ToolCallRow], format: ExportFormat) -> String {
    match format {
        ExportFormat::Json => rows.iter().map(|row| format!("{}\n", failure_json(row))).collect(),
        ExportFormat::Csv => {
            let header = COLUMNS.join(",") + "\r\n";
            rows.iter().fold(header, |text, row| text + &csv_line(row))
        }
    }
}

fn csv_line(row: &ToolCallRow) -> String {
    let json = failure_json(row);
    let field = |name: &&str| match &json[*name] {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) => csv_field(text),
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
