//! The input of a tool use, for a reader that has room for more than one line: a long command, and
//! an edit as a diff. Fields of tools are known by the names that agent programs use for them.

use crate::activity_line::{self, is_shortened};
use crate::call_progress::CallProgress;
use serde_json::Value;

const BEFORE: &[&str] = &["old_string", "oldString", "old_str"];
const AFTER: &[&str] = &["new_string", "newString", "new_str"];
const WHOLE: &[&str] = &["content", "contents", "file_text"];

/// A tool use: its line, and what the line has no room for.
pub(crate) fn tool_use(name: &str, input: &Value) -> impl Iterator<Item = CallProgress> {
    std::iter::once(CallProgress::Doing(activity_line::tool_use(name, input)))
        .chain(of_input(input))
}

fn of_input(input: &Value) -> Vec<CallProgress> {
    let command = text(input, &["command"]).filter(|command| is_shortened(command));
    let edits = input.get("edits").and_then(Value::as_array);
    let edits = edits.map_or_else(|| std::slice::from_ref(input), Vec::as_slice);
    let diffs = edits.iter().filter_map(edit).filter(|diff| !diff.is_empty());
    let command = command.map(|command| CallProgress::Input(command.to_owned()));
    command.into_iter().chain(diffs.map(CallProgress::Diff)).collect()
}

fn text<'a>(input: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| input.get(name)?.as_str())
}

fn edit(input: &Value) -> Option<String> {
    match (text(input, BEFORE), text(input, AFTER)) {
        (Some(before), Some(after)) => Some(diff(before, after)),
        _ => text(input, WHOLE).map(|whole| diff("", whole)),
    }
}

/// The lines of both texts, those at the begin and the end that are equal only once.
fn diff(before: &str, after: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    let equal = |(a, b): &(&&str, &&str)| a == b;
    let first = before.iter().zip(&after).take_while(equal).count();
    let most = before.len().min(after.len()) - first;
    let ends = before.iter().rev().zip(after.iter().rev());
    let last = ends.take(most).take_while(equal).count();
    let (gone, come) = (before.len() - last, after.len() - last);
    let parts = [(' ', &before[..first]), ('-', &before[first..gone]), ('+', &after[first..come])];
    let parts = parts.into_iter().chain([(' ', &after[come..])]);
    parts
        .flat_map(|(sign, lines)| lines.iter().map(move |line| format!("{sign}{line}\n")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_edit_is_a_diff_whatever_its_fields_are_called() {
        let diff = |text: &str| CallProgress::Diff(text.to_owned());
        for input in [
            json!({"file_path": "a", "old_string": "one\ntwo\nend", "new_string": "one\n2\nend"}),
            json!({"filePath": "a", "oldString": "one\ntwo\nend", "newString": "one\n2\nend"}),
            json!({"edits": [{"old_str": "one\ntwo\nend", "new_str": "one\n2\nend"}]}),
        ] {
            assert_eq!(of_input(&input), [diff(" one\n-two\n+2\n end\n")], "{input}");
        }
        assert_eq!(of_input(&json!({"content": "a\nb\n"})), [diff("+a\n+b\n")]);
        assert_eq!(of_input(&json!({"old_string": "a", "new_string": ""})), [diff("-a\n")]);
        let moved = json!({"old_string": "x\nx", "new_string": "x\nx\nx"});
        assert_eq!(of_input(&moved), [diff(" x\n x\n+x\n")]);
        assert_eq!(of_input(&json!({"pattern": "x"})), []);
    }

    #[test]
    fn a_command_is_given_whole_where_its_line_is_not() {
        assert_eq!(of_input(&json!({"command": "cargo test"})), []);
        let long = "cat <<X\none\nX".to_owned();
        assert_eq!(of_input(&json!({ "command": long })), [CallProgress::Input(long)]);
    }
}
