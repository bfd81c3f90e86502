//! The JSON Schema of a test file, for editors, made from the tables of keys that reading uses. What it
//! refuses, reading refuses too.

use super::agent_call_list::{CALL_KEYS, KINDS, SESSIONS};
use super::answers_and_stubs::{ANSWER_KEYS, FAULTS, STUB_KEYS};
use super::case_and_defaults::{CASE_KEYS, DEFAULT_KEYS};
use super::expect::{EXPECT_KEYS, MATCHER_KEYS, STATUSES};
use super::machine_flags::MACHINE_KEYS;
use super::{FILE_KEYS, Key};
use serde_json::{Value, json};
use towpath_recipe::schema_head;

/// A relative path that stays below its directory.
const PATH: &str = r"^(?!/)(?!(.*/)?\.\.(/|$))";

/// The schema of a test file, draft 2020-12.
pub fn test_file_schema() -> Value {
    let mut schema = schema_head("test", "Towpath test file");
    if let Value::Object(file) = map(&names(FILE_KEYS), file_key) {
        schema.extend(file);
    }
    schema.insert("required".to_owned(), json!(["cases"]));
    let mut case = map(&names(CASE_KEYS), case_key);
    case["required"] = json!(["name"]);
    let mut call = map(CALL_KEYS, call_key);
    call["minProperties"] = json!(1);
    let mut matcher = map(MATCHER_KEYS, matcher_key);
    matcher["minProperties"] = json!(1);
    let definitions = json!({
        "case": case,
        "defaults": map(&names(DEFAULT_KEYS), case_key),
        "machine": map(MACHINE_KEYS, machine_key),
        "answer": map(ANSWER_KEYS, answer_key),
        "stub": map(STUB_KEYS, stub_key),
        "expect": map(EXPECT_KEYS, expect_key),
        "call": call,
        "matcher": matcher,
    });
    schema.insert("$defs".to_owned(), definitions);
    Value::Object(schema)
}

fn names(keys: &[Key]) -> Vec<&'static str> {
    keys.iter().map(|key| key.name).collect()
}

/// A map with these keys and no others.
fn map(keys: &[&str], shape: fn(&str) -> Value) -> Value {
    let properties: serde_json::Map<String, Value> =
        keys.iter().map(|key| ((*key).to_owned(), shape(key))).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn file_key(key: &str) -> Value {
    match key {
        "cases" => json!({ "type": "array", "minItems": 1, "items": part("case") }),
        "defaults" => or_nothing(part("defaults")),
        _ => text(),
    }
}

fn case_key(key: &str) -> Value {
    or_nothing(match key {
        // Only the name must be there.
        "name" => return json!({ "type": TEXT, "pattern": r"^\s*\S[^\n]*\s*$" }),
        "include_tags" | "exclude_tags" => texts(),
        "files" => files(),
        "git" => json!({ "type": "boolean" }),
        "env" => {
            let each = or_nothing(text());
            let names = json!({ "pattern": "^[^=]+$" });
            json!({ "type": "object", "propertyNames": names, "additionalProperties": each })
        }
        "agents" => {
            let one = any_of(&[text(), part("answer")]);
            each(any_of(&[one.clone(), json!({ "type": "array", "items": one }), nothing()]))
        }
        "stubs" => each(any_of(&[text(), part("stub"), nothing()])),
        "set" => json!({ "type": "object" }),
        "machine" | "expect" => part(key),
        _ => text(),
    })
}

fn machine_key(key: &str) -> Value {
    or_nothing(if key.starts_with("max_") { whole_number() } else { text() })
}

fn answer_key(key: &str) -> Value {
    match key {
        "answer" => json!(true),
        "fault" => json!({ "enum": FAULTS }),
        "until" => {
            json!({ "type": ["string", "integer"], "pattern": r"^[+-]?\d{4,6}-?\d\d-?\d\d" })
        }
        "files" => or_nothing(files()),
        _ => text(),
    }
}

fn stub_key(key: &str) -> Value {
    match key {
        "exit" => exit_code(),
        "files" => or_nothing(files()),
        _ => text(),
    }
}

fn expect_key(key: &str) -> Value {
    or_nothing(match key {
        "status" => json!({ "enum": STATUSES }),
        "exit" => exit_code(),
        "restarts" => whole_number(),
        "error" | "reason" | "description" => matcher(),
        "ran" | "not_reached" | "degraded" | "tolerated" | "checks" => texts(),
        "skipped" => any_of(&[texts(), each(matcher())]),
        "outputs" => each(matcher_of_any_value()),
        "printed" | "prompts" => each(matcher()),
        "calls" => {
            let one = any_of(&[text(), part("call")]);
            any_of(&[whole_number(), json!({ "type": "array", "items": one })])
        }
        "files" => json!({
            "type": "object",
            "propertyNames": { "pattern": PATH },
            "additionalProperties": or_nothing(matcher()),
        }),
        _ => text(),
    })
}

fn call_key(key: &str) -> Value {
    or_nothing(match key {
        "kind" => json!({ "enum": KINDS }),
        "session" => json!({ "enum": SESSIONS }),
        _ => text(),
    })
}

fn matcher_key(key: &str) -> Value {
    let filled = json!({ "type": TEXT, "minLength": 1 });
    match key {
        "is" => json!(true),
        "matches" => text(),
        _ => any_of(&[filled.clone(), json!({ "type": "array", "items": filled })]),
    }
}

fn matcher() -> Value {
    any_of(&[text(), part("matcher")])
}

/// A map is a matcher if it has a key of one, else a value.
fn matcher_of_any_value() -> Value {
    let has: Vec<Value> = MATCHER_KEYS.iter().map(|key| json!({ "required": [key] })).collect();
    json!({ "if": { "type": "object", "anyOf": has }, "then": part("matcher") })
}

const TEXT: [&str; 3] = ["string", "number", "boolean"];

fn text() -> Value {
    json!({ "type": TEXT })
}

fn texts() -> Value {
    json!({ "type": "array", "items": text() })
}

fn whole_number() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX })
}

fn exit_code() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": 255 })
}

fn files() -> Value {
    let names = json!({ "pattern": PATH });
    json!({ "type": "object", "propertyNames": names, "additionalProperties": or_nothing(text()) })
}

fn each(value: Value) -> Value {
    json!({ "type": "object", "additionalProperties": value })
}

fn part(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn nothing() -> Value {
    json!({ "type": "null" })
}

fn or_nothing(value: Value) -> Value {
    any_of(&[value, nothing()])
}

fn any_of(forms: &[Value]) -> Value {
    json!({ "anyOf": forms })
}
