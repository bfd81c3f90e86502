//! The schema of state machines. What the table of fields cannot express is here: steps and
//! transitions by their names, the forms of a transition, and a step with a `$ref`, which may
//! leave out what the other step gives.

use super::{OTHERS, definition, reference, schema_head, section};
use crate::field_table::{
    FieldType, Section, StepKind, TRANSITION_FORMS, TransitionForm, fields_of,
};
use crate::read::WORK;
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

/// The transitions by their outcomes, with `each` as the shape of one.
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
    let form = |form: &TransitionForm| {
        let fields = fields_of(Section::Transition).map(|field| field.name);
        let mut refused: Vec<&str> = fields.filter(|name| !form.has(name)).collect();
        refused.sort_unstable();
        let mut properties: Map<String, Value> =
            refused.into_iter().map(|name| (name.to_owned(), json!(false))).collect();
        if let Some(action) = form.action {
            properties.insert("action".to_owned(), json!({ "const": action }));
        }
        json!({ "required": form.required, "properties": properties })
    };
    let forms: Vec<Value> = TRANSITION_FORMS.iter().map(form).collect();
    transition["properties"]["success"]["enum"] = json!([true, false, "ask"]);
    transition.insert("oneOf".to_owned(), json!(forms));
    transition
}
