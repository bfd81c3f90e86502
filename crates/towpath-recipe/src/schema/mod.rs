//! The JSON Schemas of recipes, for editors, made from the one table of fields. They know the
//! shape of a file: which fields there are and what type each has. What only reading finds (names
//! that nothing sets, conditions, bash) is left to validation.

mod machine;

pub use machine::machine_schema;

use crate::field_table::{Field, FieldType, LONGEST_TIME, Names, Section, fields_of};
use serde_json::{Map, Value, json};

/// `jq`, `jq>=1.6`: every requirement has this form.
const REQUIREMENT: &str =
    r"^\s*[A-Za-z0-9_][A-Za-z0-9._+-]*\s*((=|>=|>|<=|<)\s*[vV]?[0-9][A-Za-z0-9.+:~_-]*\s*)?$";

/// `90s`, `5m`, `1.5h`, and never none.
const TIME: &str = r"^(?=[0-9.]{1,12}[smh]$)(?=.*[1-9])[0-9]+(\.[0-9]+)?[smh]$";

/// How a schema of ours begins. Its id is a name and no address: nothing is published there.
pub fn schema_head(format: &str, title: &str) -> Map<String, Value> {
    let head = [
        ("$schema", "https://json-schema.org/draft/2020-12/schema"),
        ("$id", &format!("urn:towpath:schema:{format}")),
        ("title", title),
    ];
    head.into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect()
}

/// The schema of a step recipe, draft 2020-12.
pub fn steps_schema() -> Value {
    let mut schema = schema_head("steps", "Towpath step recipe");
    schema.extend(section(Section::Recipe));
    let parts = [Section::Recursion, Section::Hooks, Section::Step];
    let parts = parts.map(|part| (definition(part).to_owned(), Value::Object(section(part))));
    schema.insert("$defs".to_owned(), Value::Object(parts.into_iter().collect()));
    Value::Object(schema)
}

/// A map of the file: its fields and no others.
fn section(section: Section) -> Map<String, Value> {
    let fields = || fields_of(section);
    let mut properties: Map<String, Value> =
        fields().map(|field| (field.name.to_owned(), property(field))).collect();
    let required: Vec<&str> = fields().filter(|f| f.required.is_some()).map(|f| f.name).collect();
    let (of_machines, of_recipes) = (section.is_of_machines(), section == Section::Recipe);
    if of_machines {
        properties.insert("$schema".to_owned(), json!(true));
    }
    // `hooks:` with nothing below it is no hooks; a recipe or a step must be there.
    let may_be_nothing = matches!(section, Section::Recursion | Section::Hooks);
    let mut map = Map::new();
    map.insert("type".to_owned(), maybe("object", may_be_nothing));
    map.insert("properties".to_owned(), Value::Object(properties));
    if !of_machines && !required.is_empty() {
        map.insert("required".to_owned(), json!(required));
    }
    if of_machines || of_recipes {
        map.insert("patternProperties".to_owned(), json!({ OTHERS: true }));
    }
    map.insert("additionalProperties".to_owned(), json!(false));
    // A step of a machine may leave out what its `$ref` gives.
    if of_machines && !required.is_empty() && section != Section::MachineStep {
        map.insert("required".to_owned(), json!(required));
    }
    map
}

/// Keys that are left to other programs.
const OTHERS: &str = "^x-";

fn property(field: &Field) -> Value {
    let mut property = match shape(field) {
        Value::Object(shape) => shape,
        _ => Map::new(),
    };
    if let Some(names) = field.names {
        let pattern = json!(pattern(names));
        let (keyword, value) = match field.kind {
            FieldType::Map => ("propertyNames", json!({ "pattern": pattern })),
            FieldType::TextList => {
                let types = ["string", "number", "boolean"];
                ("items", json!({ "type": types, "pattern": pattern }))
            }
            _ => ("pattern", pattern),
        };
        property.insert(keyword.to_owned(), value);
    }
    property.insert("description".to_owned(), json!(described(field)));
    Value::Object(property)
}

fn described(field: &Field) -> String {
    let mut described = field.doc.to_owned();
    if field.required.is_some() {
        described.push_str(" Required.");
    }
    let types: Vec<&str> = field.used_by.iter().map(|step| step.as_str()).collect();
    if !types.is_empty() {
        described.push_str(&format!(" Used by steps of type {}.", types.join(", ")));
    }
    described
}

fn shape(field: &Field) -> Value {
    match field.kind {
        FieldType::Text if field.section.is_of_machines() => string(),
        FieldType::Template | FieldType::Shell if field.section.is_of_machines() => string(),
        FieldType::Text => {
            // What describes a recipe may be left empty.
            let may_be_nothing = field.section == Section::Recipe && field.required.is_none();
            let types = ["string", "number", "boolean", "null"];
            json!({ "type": types[..if may_be_nothing { 4 } else { 3 }] })
        }
        FieldType::Template | FieldType::Shell | FieldType::Condition => text(),
        FieldType::Bool => json!({ "type": "boolean" }),
        FieldType::Count => json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX }),
        FieldType::CountOrZero => json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX }),
        FieldType::Seconds => seconds(),
        FieldType::Time => {
            json!({ "anyOf": [seconds(), { "type": "string", "pattern": TIME }] })
        }
        FieldType::TextList if field.section.is_of_machines() => {
            json!({ "type": "array", "minItems": 1, "items": string() })
        }
        FieldType::TextList => json!({ "type": maybe("array", true), "items": text() }),
        FieldType::Requirements => {
            json!({ "type": "array", "items": { "type": "string", "pattern": REQUIREMENT } })
        }
        FieldType::Map => match part(field) {
            Some(part) => json!({ "$ref": reference(part) }),
            None => json!({ "type": maybe("object", true) }),
        },
        FieldType::ListOf(_) => {
            json!({ "type": "array", "minItems": 1, "items": { "$ref": reference(Section::Step) } })
        }
        FieldType::MapOf(_) if field.section == Section::Machine => {
            json!({ "$ref": "#/$defs/steps" })
        }
        FieldType::MapOf(_) => {
            let transition = json!({ "$ref": reference(Section::Transition) });
            machine::by_outcome(json!({ "anyOf": [transition, { "type": "null" }] }))
        }
        // A tier that is null is none.
        FieldType::Choice(words) if field.name == "model" => {
            json!({ "enum": words.iter().map(|w| json!(w)).chain([Value::Null]).collect::<Vec<_>>() })
        }
        FieldType::Choice(words) => json!({ "type": "string", "enum": words }),
        FieldType::TextMap => {
            json!({ "type": maybe("object", true), "additionalProperties": text() })
        }
        FieldType::ChoiceMap(words) => {
            json!({ "type": maybe("object", true), "additionalProperties": { "enum": words } })
        }
        FieldType::Any | FieldType::Described(_) => json!({}),
    }
}

fn seconds() -> Value {
    json!({ "type": "number", "exclusiveMinimum": 0, "maximum": LONGEST_TIME.as_secs() })
}

/// A string that is not empty.
fn string() -> Value {
    json!({ "type": "string", "pattern": "\\S" })
}

/// A number or a boolean counts as the text it is written with.
fn text() -> Value {
    json!({ "type": ["string", "number", "boolean"] })
}

fn maybe(kind: &str, nothing: bool) -> Value {
    if nothing { json!([kind, "null"]) } else { json!(kind) }
}

/// The part of the table that a field's own map is made of.
fn part(field: &Field) -> Option<Section> {
    let parts = [Section::Recursion, Section::Hooks, Section::Guardrails];
    let own = matches!(field.section, Section::Recipe | Section::Machine);
    parts.into_iter().find(|part| own && definition(*part) == field.name)
}

fn reference(part: Section) -> String {
    format!("#/$defs/{}", definition(part))
}

fn definition(part: Section) -> &'static str {
    match part {
        Section::Recipe => "recipe",
        Section::Recursion => "recursion",
        Section::Hooks => "hooks",
        Section::Step | Section::MachineStep => "step",
        Section::Machine => "machine",
        Section::Guardrails => "guardrails",
        Section::Transition => "transition",
    }
}

fn pattern(names: Names) -> &'static str {
    match names {
        Names::NotBlank => r"\S",
        Names::Step => "^[A-Za-z0-9_-]+$",
        // Letters of any script, which not every validator knows, digits, `_` and `-`.
        Names::Variable => r"^[^\s!-/:-@\[-^`{-~][^\s!-,./:-@\[-^`{-~]*$",
        Names::KebabCase => "^[a-z0-9]+(-[a-z0-9]+)*$",
    }
}
