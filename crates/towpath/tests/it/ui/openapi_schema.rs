//! Answers compared with `openapi.json`: types, required keys, and no key that is not described.

use serde_json::Value;

pub fn openapi() -> Value {
    serde_json::from_str(include_str!("../../../../towpath-server/openapi.json")).expect("JSON")
}

/// Checks an answer of this method and path, as the file writes the path.
#[track_caller]
pub fn check(method: &str, path: &str, status: u16, answer: &Value) {
    let file = openapi();
    let responses = &file["paths"][path][method]["responses"];
    assert!(responses.is_object(), "{method} {path} is not described");
    let status = status.to_string();
    let described = if responses[&status].is_object() { &status } else { "default" };
    let schema = &responses[described]["content"]["application/json"]["schema"];
    let mut problems = Vec::new();
    compare(&file, schema, answer, "answer", &mut problems);
    assert!(problems.is_empty(), "{method} {path}:\n{}\n{answer:#}", problems.join("\n"));
}

fn compare(file: &Value, schema: &Value, value: &Value, at: &str, problems: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let schema = file.pointer(&reference[1..]).expect("a reference leads to a schema");
        return compare(file, schema, value, at, problems);
    }
    let Some(types) = types(schema) else {
        return problems.push(format!("{at}: the schema has no type: {schema}"));
    };
    let found = type_of(value);
    if !types.iter().any(|known| *known == found || (*known == "number" && found == "integer")) {
        return problems.push(format!("{at}: expected {types:?}, found {value}"));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        problems.push(format!("{at}: {value} is none of {allowed:?}"));
    }
    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
        compare(file, &schema["items"], item, &format!("{at}[{number}]"), problems);
    }
    let Some(object) = value.as_object() else { return };
    for key in schema["required"].as_array().into_iter().flatten() {
        let key = key.as_str().expect("a key");
        if !object.contains_key(key) {
            problems.push(format!("{at}: {key} is missing"));
        }
    }
    for (key, value) in object {
        match &schema["properties"][key] {
            Value::Null if schema["additionalProperties"] == false => {
                problems.push(format!("{at}: {key} is not described"));
            }
            Value::Null => {}
            schema => compare(file, schema, value, &format!("{at}.{key}"), problems),
        }
    }
}

fn types(schema: &Value) -> Option<Vec<&str>> {
    match &schema["type"] {
        Value::String(one) => Some(vec![one]),
        Value::Array(several) => several.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(number) if number.to_string().contains(['.', 'e', 'E']) => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[test]
fn wrong_answers_are_found() {
    let right = serde_json::json!({ "schema": 1, "questions": [] });
    check("get", "/api/v1/questions", 200, &right);
    let file = openapi();
    let schema = &file["components"]["schemas"]["Questions"];
    for wrong in [
        serde_json::json!({ "schema": 1 }),
        serde_json::json!({ "schema": 1.5, "questions": [] }),
        serde_json::json!({ "schema": 1, "questions": [], "more": 1 }),
        serde_json::json!({ "schema": 1, "questions": [{}] }),
        serde_json::json!([]),
    ] {
        let mut problems = Vec::new();
        compare(&file, schema, &wrong, "answer", &mut problems);
        assert!(!problems.is_empty(), "{wrong}");
    }
}
