//! A recorded call, damaged: lines lost, cut, doubled, swapped, values replaced by others. No reader
//! panics, and none makes a success of it unless its program's own word for success is there.

use jiff::tz::TimeZone;
use proptest::prelude::*;
use serde_json::Value;
use towpath_agent::{Backend, Codex, Copilot, Cursor, End, Exit, Gemini, OpenCode};

struct Recorded {
    backend: Box<dyn Backend>,
    lines: Vec<Value>,
    /// Is this the line that reports that the call went well?
    success: fn(&Value) -> bool,
}

fn recorded(which: usize) -> Recorded {
    let lines = |text: &str| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    match which {
        0 => Recorded {
            backend: Box::new(OpenCode::new("/bin/opencode".into())),
            lines: lines(include_str!("../recorded/opencode.jsonl")),
            success: |line| line["type"] == "step_finish" && line["part"]["reason"] == "stop",
        },
        1 => Recorded {
            backend: Box::new(Copilot::new("/bin/copilot".into())),
            lines: lines(include_str!("../recorded/copilot.jsonl")),
            success: |line| line["type"] == "result" && line["exitCode"] == 0,
        },
        2 => Recorded {
            backend: Box::new(Codex::new("/bin/codex".into(), TimeZone::UTC)),
            lines: lines(include_str!("../recorded/codex.jsonl")),
            success: |line| line["type"] == "turn.completed",
        },
        3 => Recorded {
            backend: Box::new(Gemini::new("/bin/gemini".into())),
            lines: lines(include_str!("../recorded/gemini.jsonl")),
            success: |line| line["type"] == "result" && line["status"] == "success",
        },
        _ => Recorded {
            backend: Box::new(Cursor::new("/bin/cursor-agent".into())),
            lines: lines(include_str!("../recorded/cursor.jsonl")),
            success: |line| line["type"] == "result" && line["is_error"] == false,
        },
    }
}

#[derive(Debug, Clone)]
enum Damage {
    Lose(prop::sample::Index),
    Double(prop::sample::Index),
    Swap(prop::sample::Index, prop::sample::Index),
    Cut(prop::sample::Index, prop::sample::Index),
    Replace(prop::sample::Index, prop::sample::Index, Value),
    Insert(prop::sample::Index, Vec<u8>),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<prop::sample::Index>;
    let other = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
        Just(serde_json::json!([])),
        Just(serde_json::json!({"a": [1]})),
    ];
    prop_oneof![
        1 => at().prop_map(Damage::Lose),
        1 => at().prop_map(Damage::Double),
        1 => (at(), at()).prop_map(|(a, b)| Damage::Swap(a, b)),
        1 => (at(), at()).prop_map(|(a, b)| Damage::Cut(a, b)),
        4 => (at(), at(), other).prop_map(|(a, b, v)| Damage::Replace(a, b, v)),
        1 => (at(), prop::collection::vec(any::<u8>(), 0..40)).prop_map(|(a, b)| Damage::Insert(a, b)),
    ]
}

/// Every position inside a value, as JSON pointers.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, inner)| pointers(inner, &format!("{at}/{name}"), found));
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(number, inner)| pointers(inner, &format!("{at}/{number}"), found)),
        _ => {}
    }
}

fn damaged(lines: &[Value], damages: &[Damage]) -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = lines.iter().map(|line| line.to_string().into_bytes()).collect();
    for damage in damages {
        if lines.is_empty() {
            return lines;
        }
        let count = lines.len();
        match damage {
            Damage::Lose(at) => drop(lines.remove(at.index(count))),
            Damage::Double(at) => lines.push(lines[at.index(count)].clone()),
            Damage::Swap(a, b) => lines.swap(a.index(count), b.index(count)),
            Damage::Insert(at, bytes) => lines.insert(at.index(count), bytes.clone()),
            Damage::Cut(at, length) => {
                let line = &mut lines[at.index(count)];
                line.truncate(length.index(line.len().max(1)));
            }
            Damage::Replace(at, pointer, other) => {
                let line = &mut lines[at.index(count)];
                if let Ok(mut value) = serde_json::from_slice::<Value>(line) {
                    let mut found = Vec::new();
                    pointers(&value, "", &mut found);
                    let pointer = &found[pointer.index(found.len())];
                    *value.pointer_mut(pointer).expect("it was found") = other.clone();
                    *line = value.to_string().into_bytes();
                }
            }
        }
    }
    lines
}

proptest! {
    #[test]
    fn no_reader_panics_or_invents_a_success(
        which in 0..5usize, damages in prop::collection::vec(damage(), 0..8),
        code in prop_oneof![3 => Just(Some(0)), 1 => Just(Some(1)), 1 => Just(None)],
        stderr in ".{0,40}", file in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let recorded = recorded(which);
        let lines = damaged(&recorded.lines, &damages);
        let mut reader = recorded.backend.reader();
        for line in &lines {
            reader.line(line);
        }
        let exit = Exit { code, signal: code.is_none().then_some(9) };
        let files = [("usage.json", file)];
        let reply = reader.end(&End { files: &files, ..End::new(exit, &stderr) });
        let mut values = lines.iter().filter_map(|line| serde_json::from_slice(line).ok());
        let succeeded = values.any(|line| (recorded.success)(&line));
        if reply.result.is_ok() {
            prop_assert!(succeeded);
        }
        // However the process ended.
        if damages.is_empty() {
            prop_assert_eq!(reply.result.as_deref(), Ok("Hello.\n{\"outcome\": \"ok\"}"));
        }
        for usage in [reply.usage, reply.session_total].into_iter().flatten() {
            prop_assert!(usage.cost_usd.is_none_or(|cost| cost >= 0.0));
        }
    }
}
