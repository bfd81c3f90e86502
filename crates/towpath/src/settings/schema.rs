//! The JSON Schema of a settings file, for editors, made from the tables of keys that reading uses.
//! A project's file may have some of these keys only; reading refuses the others.

use super::{CORRECTION_KEYS, MODE_WORDS, MODEL_KEYS, PERMISSION_WORDS, TOOL_KEYS, USER_KEYS};
use serde_json::{Map, Value, json};
use towpath_agent::BACKENDS;
use towpath_core::fields::LONGEST_TIME;

/// The schema of a settings file, draft 2020-12.
pub fn settings_schema() -> Value {
    let mut schema = towpath_recipe::schema_head("settings", "Towpath settings");
    schema.extend(table(USER_KEYS, key));
    Value::Object(schema)
}

/// A table with these keys and no others.
fn table(keys: &[&str], shape: fn(&str) -> Value) -> Map<String, Value> {
    let properties: Map<String, Value> =
        keys.iter().map(|key| ((*key).to_owned(), shape(key))).collect();
    let table = [
        ("type", json!("object")),
        ("properties", Value::Object(properties)),
        ("additionalProperties", json!(false)),
    ];
    table.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn key(name: &str) -> Value {
    match name {
        "max_agents" => json!({ "type": "integer", "minimum": 1 }),
        "recipe_dirs" => {
            json!({ "type": "array", "items": { "type": ["string", "number", "boolean"] } })
        }
        "step_timeout" | "idle_timeout" | "retry_wait" => {
            json!({ "type": "number", "exclusiveMinimum": 0, "maximum": LONGEST_TIME.as_secs() })
        }
        "models" => {
            let models = table(MODEL_KEYS, |_| json!({ "type": "string", "pattern": r"\S" }));
            let names = backend_names();
            json!({ "type": "object", "propertyNames": names, "additionalProperties": models })
        }
        "backend" => backend_names(),
        "programs" => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        "corrections" => Value::Object(table(CORRECTION_KEYS, |name| match name {
            "mode" => json!({ "enum": MODE_WORDS }),
            _ => json!({ "enum": PERMISSION_WORDS }),
        })),
        "tools" => Value::Object(table(TOOL_KEYS, |name| match name {
            "model" => json!({ "type": "boolean" }),
            "cool_down" => json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX }),
            _ => json!({ "type": "string", "pattern": r"^https?://\S+$" }),
        })),
        _ => json!({ "type": "string" }),
    }
}

/// Every name that a backend has: its id, or its program's.
fn backend_names() -> Value {
    let names = BACKENDS.iter().flat_map(|row| row.programs.iter().chain([&row.id]));
    json!({ "enum": names.collect::<std::collections::BTreeSet<_>>() })
}
