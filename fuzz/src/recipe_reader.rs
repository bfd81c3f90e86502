//! A recipe: an answer always comes, every location in it is inside the text, an error means that
//! there is no recipe, and no unknown field is passed over.

use super::unknown_recipe_field;
use std::sync::Arc;
use towpath_core::spanned_tree::{Entry, Kind, Node};
use towpath_core::{Diagnostic, Source};
use towpath_recipe::field_table::{RECIPE_FILE, Section, find_field};
use towpath_recipe::parse_yaml;
use towpath_recipe::{Read, read};

pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if answered(&text).recipe.is_some() {
        let positions = unknown_recipe_field::positions(&text);
        // All of them would make fuzzing slow; another text tries another step.
        let other = positions.get(text.len() % positions.len().max(1));
        for position in positions.first().into_iter().chain(other) {
            unknown_recipe_field::reported(&position.insert(&text), unknown_recipe_field::FIELD);
        }
    }
}

/// Reads the text and checks what was reported about it.
pub fn answered(text: &str) -> Read {
    let source = Source::new("r.yaml", text);
    let read = read(&source);
    let broken = read.problems.iter().any(Diagnostic::is_error);
    assert_eq!(read.recipe.is_none(), broken, "an error means no recipe");
    for label in read.problems.iter().flat_map(|problem| &problem.labels) {
        assert!(label.source.text.get(label.span.range()).is_some(), "{label:?}");
    }
    // A list that was written as a map, and a file of another tool, are reported alone.
    let alone = ["steps-map", "other-tool"];
    if read.problems.iter().all(|problem| !alone.contains(&problem.code)) {
        for field in unknown_fields(&source) {
            unknown_recipe_field::reported_by(&read.problems, &field);
        }
    }
    read
}

/// The fields in the file's tree that the table of fields does not have.
fn unknown_fields(source: &Arc<Source>) -> Vec<String> {
    let tree = parse_yaml(source, RECIPE_FILE);
    let Some(Node { kind: Kind::Map(recipe), .. }) = &tree.root else { return Vec::new() };
    let value = |name: &str| recipe.iter().find(|e| e.key == name).map(|e| &e.value.kind);
    let mut found = Vec::new();
    let mut look = |map: Option<&Kind>, section: Section| {
        let Some(Kind::Map(entries)) = map else { return };
        found.extend(strangers(entries, section));
    };
    match value("steps") {
        Some(Kind::Map(steps)) => {
            look(tree.root.as_ref().map(|root| &root.kind), Section::Machine);
            look(value("guardrails"), Section::Guardrails);
            for step in steps.iter().filter(|step| step.key != "$include") {
                look(Some(&step.value.kind), Section::MachineStep);
                for then in transitions(&step.value.kind) {
                    look(Some(&then.value.kind), Section::Transition);
                }
            }
        }
        Some(Kind::List(steps)) if value("initialStep").or(value("guardrails")).is_none() => {
            look(tree.root.as_ref().map(|root| &root.kind), Section::Recipe);
            for step in steps {
                look(Some(&step.kind), Section::Step);
            }
        }
        // Which of the two it was meant to be is not sure.
        _ => {}
    }
    found
}

/// The names of a map that are no fields; machines leave `$schema` and `x-…` to others.
fn strangers(entries: &[Entry], section: Section) -> Vec<String> {
    let others =
        |name: &str| section.is_of_machines() && (name == "$schema" || name.starts_with("x-"));
    let names = entries.iter().map(|entry| entry.key.clone());
    names.filter(|name| find_field(section, name).is_none() && !others(name)).collect()
}

fn transitions(step: &Kind) -> &[Entry] {
    let Kind::Map(fields) = step else { return &[] };
    match fields.iter().find(|field| field.key == "onOutcome").map(|field| &field.value.kind) {
        Some(Kind::Map(entries)) => entries,
        _ => &[],
    }
}
