//! The schema of state machines. What the table of fields cannot express is here: steps and
//! transitions by their names, the forms of a transition, and a step with a `$ref`, which may
//! leave out what the other step gives.

use super::{OTHERS, definition, property, reference, schema_head};
use crate::field_table::{FieldType, Section, fields_of};
use crate::read::WORK;
use crate::recipe::StepKind;
use serde_json::{Map, Value, json};

/// Names of steps; `$include`, `$schema` and what belongs to others are beside them.
const STEP_NAMES: &str = "^(?!x-)[A-Za-z0-9_-]+$";

/// The schema of a state machine, draft 2020-12.
pub fn machine_schema() -> Value {
    let mut schema = schema_head("machine", "Towpath state machine");
    schema.extend(section(Section::Machine));
    let step = one_step();
    let parts = [
        (definition(Section::Guardrails), Value::Object(section(Section::Guardrails))),
        (definition(Section::MachineStep), Value::Object(step)),
        (definition(Section::Transition), Value::Object(transition())),
        ("steps", steps()),
    ];
    let parts = parts.into_iter().map(|(name, part)| (name.to_owned(), part));
    schema.insert("$defs".to_owned(), Value::Object(parts.collect()));
    Value::Object(schema)
}

/// The schema of a file of steps that machines include.
fn steps() -> Value {
    let path = json!({ "type": "string", "minLength": 1 });
    json!({
        "type": "object",
        "properties": {
            "$schema": true,
            "$include": { "anyOf": [path, { "type": "array", "items": path }] },
        },
        "patternProperties": {
            STEP_NAMES: { "$ref": reference(Section::MachineStep) },
            OTHERS: true,
        },
        "additionalProperties": false,
    })
}

fn section(section: Section) -> Map<String, Value> {
    let fields = || fields_of(section);
    let mut properties: Map<String, Value> =
        fields().map(|field| (field.name.to_owned(), property(field))).collect();
    properties.insert("$schema".to_owned(), json!(true));
    let mut map = Map::new();
    map.insert("type".to_owned(), json!("object"));
    map.insert("properties".to_owned(), Value::Object(properties));
    map.insert("patternProperties".to_owned(), json!({ OTHERS: true }));
    map.insert("additionalProperties".to_owned(), json!(false));
    let required: Vec<&str> = fields().filter(|f| f.required.is_some()).map(|f| f.name).collect();
    if !required.is_empty() && section != Section::MachineStep {
        map.insert("required".to_owned(), json!(required));
    }
    map
}

/// What follows from each outcome, with another shape for what belongs to nobody else.
pub(super) fn by_outcome(each: Value) -> Value {
    json!({
        "type": "object",
        "properties": { "$schema": true },
        "patternProperties": { OTHERS: true },
        "additionalProperties": each,
    })
}

/// A step refers to another one, or has all that a step needs, with one kind of work. ReadContext a
/// `$ref`, null takes a field away.
fn one_step() -> Map<String, Value> {
    let mut step = section(Section::MachineStep);
    if let Some(Value::Object(properties)) = step.get_mut("properties") {
        for (_, property) in properties.iter_mut().filter(|(name, _)| !name.starts_with('$')) {
            *property = json!({ "anyOf": [property.take(), { "type": "null" }] });
        }
    }
    let refers = json!({ "required": ["$ref"] });
    let whole = WORK.map(|(work, kind)| whole_step(work, kind));
    let forms: Vec<Value> = std::iter::once(refers).chain(whole).collect();
    step.insert("anyOf".to_owned(), json!(forms));
    step
}

fn whole_step(work: &str, kind: StepKind) -> Value {
    let mut properties = Map::new();
    for field in fields_of(Section::MachineStep) {
        if !field.is_used_by(kind) {
            properties.insert(field.name.to_owned(), json!(false));
        } else if matches!(field.kind, FieldType::MapOf(_)) {
            // Only beside a `$ref` there is a transition to take away.
            let each = json!({ "not": { "type": "null" } });
            properties.insert(field.name.to_owned(), by_outcome(each));
        } else if !["model", "context"].contains(&field.name) {
            properties.insert(field.name.to_owned(), json!({ "not": { "type": "null" } }));
        }
    }
    for (other, _) in WORK.iter().filter(|(other, _)| *other != work) {
        properties.insert((*other).to_owned(), json!(false));
    }
    json!({ "required": [work, "outcomes", "onOutcome"], "properties": properties })
}

fn transition() -> Map<String, Value> {
    let mut transition = section(Section::Transition);
    let form = |required: &[&str], refused: &[&str], action: Option<&str>| {
        let mut properties: Map<String, Value> =
            refused.iter().map(|name| ((*name).to_owned(), json!(false))).collect();
        if let Some(action) = action {
            properties.insert("action".to_owned(), json!({ "const": action }));
        }
        json!({ "required": required, "properties": properties })
    };
    let forms = [
        form(&["nextStep"], &["action", "reason", "recipeId", "success"], None),
        form(&["action", "reason"], &["nextStep", "recipeId"], Some("exit")),
        form(&["action", "reason"], &["nextStep", "recipeId", "success"], Some("fail")),
        form(
            &["action", "recipeId"],
            &["nextStep", "reason", "success"],
            Some("restart-new-session"),
        ),
    ];
    transition["properties"]["success"]["enum"] = json!([true, false, "ask"]);
    transition.insert("oneOf".to_owned(), json!(forms));
    transition
}
