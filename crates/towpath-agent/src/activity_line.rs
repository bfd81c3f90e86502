//! One line for the user about what the agent does now. Only shown, never decided upon.

use serde_json::Value;

/// Longer than any terminal is wide; a command may contain a whole file.
const LONGEST: usize = 200;

/// The input field that describes a tool use best, the first that exists.
const DESCRIPTIVE_FIELDS: &[&str] =
    &["command", "file_path", "notebook_path", "pattern", "url", "query", "path", "description"];

/// `Bash cargo tree`, from the tool's name and its input.
pub(crate) fn tool_use(name: &str, input: &Value) -> String {
    tool(name, DESCRIPTIVE_FIELDS.iter().find_map(|field| input.get(field)?.as_str()).unwrap_or(""))
}

/// `Bash cargo tree`, from the tool's name and what it is used on.
pub(crate) fn tool(name: &str, on: &str) -> String {
    match first_line(on) {
        "" => short(name),
        on if is_path(on) => format!("{} {}", short(name), end_of(on)),
        on => short(&format!("{name} {on}")),
    }
}

/// Whether the line of a tool use has only a part of this.
pub(crate) fn is_shortened(on: &str) -> bool {
    first_line(on) != on.trim() || on.chars().count() > LONGEST
}

/// The last line that is not blank.
pub(crate) fn last_line(text: &str) -> Option<String> {
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(short)
}

/// `overloaded, try 3 of 10 in 9 s`.
pub(crate) fn retry(event: &Value) -> String {
    let number = |field: &str| event.get(field).and_then(Value::as_f64);
    let reason = event.get("error").and_then(Value::as_str).unwrap_or("error").replace('_', " ");
    let mut text = short(&reason);
    if let Some(attempt) = number("attempt") {
        text += &format!(", try {attempt}");
        if let Some(all) = number("max_retries") {
            text += &format!(" of {all}");
        }
    }
    if let Some(delay) = number("retry_delay_ms") {
        text += &format!(" in {} s", (delay / 1000.0).ceil());
    }
    text
}

fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("")
}

/// One word that names a file: its end is the most useful.
fn is_path(on: &str) -> bool {
    on.contains('/') && !on.contains("://") && !on.contains(char::is_whitespace)
}

fn end_of(path: &str) -> String {
    match path.char_indices().nth_back(LONGEST) {
        Some((before, c)) => format!("…{}", &path[before + c.len_utf8()..]),
        None => path.to_owned(),
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_tool_use_in_one_line() {
        for (name, input, expected) in [
            ("Bash", json!({"description": "Look", "command": "cargo tree"}), "Bash cargo tree"),
            ("Bash", json!({"command": "\n  cat <<X\nlong\nX"}), "Bash cat <<X"),
            ("Read", json!({"file_path": "src/lib.rs", "limit": 5}), "Read src/lib.rs"),
            ("Grep", json!({"pattern": "fn main", "path": "src"}), "Grep fn main"),
            ("TaskStop", json!({}), "TaskStop"),
            ("Odd", json!("text"), "Odd"),
            ("Odd", json!({"command": 7}), "Odd"),
        ] {
            assert_eq!(tool_use(name, &input), expected);
        }
        let long = tool_use("Bash", &json!({"command": "ü".repeat(500)}));
        assert_eq!(long.chars().count(), LONGEST + 1);
        let deep = format!("/{}/lib.rs", "ü".repeat(500));
        let line = tool_use("Read", &json!({ "file_path": deep }));
        assert!(line.starts_with("Read …ü") && line.ends_with("/lib.rs"), "{line}");
    }

    #[test]
    fn the_last_line_that_is_not_empty() {
        assert_eq!(last_line("one\n two \n\n"), Some("two".into()));
        assert_eq!(last_line(" \n"), None);
    }

    #[test]
    fn a_retry_with_as_much_as_is_known() {
        let full = json!({"attempt": 3, "max_retries": 10, "retry_delay_ms": 8421.5,
                          "error": "rate_limit"});
        assert_eq!(retry(&full), "rate limit, try 3 of 10 in 9 s");
        assert_eq!(retry(&json!({})), "error");
    }
}
