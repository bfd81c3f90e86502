//! A recipe: an answer always comes, every place in it is inside the text, an error means that
//! there is no recipe, and no field that nobody knows is passed over.

use super::unknown;
use std::sync::Arc;
use towpath_core::{Diagnostic, Source};
use towpath_recipe::fields::{Section, find_field};
use towpath_recipe::node::{self, Entry, Kind, Node};
use towpath_recipe::{Read, read};

pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if answered(&text).recipe.is_some() {
        let places = unknown::places(&text);
        // All of them would make fuzzing slow; another text tries another step.
        let other = places.get(text.len() % places.len().max(1));
        for place in places.first().into_iter().chain(other) {
            unknown::reported(&place.insert(&text), unknown::FIELD);
        }
    }
}

/// Reads the text and checks what was said about it.
pub fn answered(text: &str) -> Read {
    let source = Source::new("r.yaml", text);
    let read = read(&source);
    let broken = read.problems.iter().any(Diagnostic::is_error);
    assert_eq!(read.recipe.is_none(), broken, "an error means no recipe");
    for label in read.problems.iter().flat_map(|problem| &problem.labels) {
        assert!(label.source.text.get(label.span.range()).is_some(), "{label:?}");
    }
    for field in unknown_fields(&source) {
        unknown::reported_by(&read.problems, &field);
    }
    read
}

/// The fields in the file's tree that the table of fields does not have.
fn unknown_fields(source: &Arc<Source>) -> Vec<String> {
    let tree = node::parse(source);
    let Some(Node { kind: Kind::Map(recipe), .. }) = &tree.root else { return Vec::new() };
    let steps = recipe.iter().find(|entry| entry.key == "steps").map(|entry| &entry.value.kind);
    let strangers = |entries: &[Entry], section| -> Vec<String> {
        let names = entries.iter().map(|entry| entry.key.clone());
        names.filter(|name| find_field(section, name).is_none()).collect()
    };
    let mut found = match steps {
        // Another format, with fields of its own.
        Some(Kind::Map(_)) => return Vec::new(),
        _ => strangers(recipe, Section::Recipe),
    };
    if let Some(Kind::List(steps)) = steps {
        for step in steps {
            if let Kind::Map(entries) = &step.kind {
                found.extend(strangers(entries, Section::Step));
            }
        }
    }
    found
}
