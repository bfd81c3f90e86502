//! The recipes that come with the program, damaged by chance as editors, merges and agents damage
//! files: an answer always comes, and a field that nobody knows is never passed over.

use crate::checks::{recipe_reader, unknown_recipe_field};
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use towpath_core::{Diagnostic, Map, Source};
use towpath_recipe::{ReadContext, builtin, builtin_alone, builtin_names, read_in_context};

/// Where recipes for people are; what is not there yet is passed over.
const FOLDERS: [&str; 4] =
    ["recipes/examples", "recipes/testing", "recipes/workflows", "recipes/demo"];

static SHIPPED: LazyLock<Vec<(PathBuf, String)>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for folder in FOLDERS.map(|folder| root.join(folder)) {
        collect(&folder, &mut found);
    }
    found.sort();
    let machines = builtin_names().filter(|name| builtin(name).unwrap().contains("initialStep:"));
    found.extend(machines.map(|name| (name.into(), builtin_alone(name).unwrap().into_owned())));
    found
});

/// The steps that machines share, by their paths.
static SHARED: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("machines/shared");
    let mut found = Vec::new();
    collect(&folder, &mut found);
    let path = |path: PathBuf| format!("shared/{}", path.file_name().unwrap().to_string_lossy());
    found.into_iter().map(|(file, text)| (path(file), text)).collect()
});

fn collect(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("an entry can be read").path();
        let name = path.to_string_lossy();
        if path.is_dir() {
            collect(&path, found);
        } else if name.ends_with(".yaml") && !name.ends_with(".test.yaml") {
            let text = fs::read_to_string(&path).expect("a recipe is text");
            found.push((path, text));
        }
    }
}

#[derive(Debug, Clone)]
enum Damage {
    DeleteLine(Index),
    DuplicateLine(Index),
    SwapLines(Index, Index),
    Indent(Index, usize),
    Unindent(Index, usize),
    ReplaceByte(Index, u8),
    /// A second recipe, from the line on.
    Splice(Index, Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let line = any::<Index>;
    prop_oneof![
        line().prop_map(Damage::DeleteLine),
        line().prop_map(Damage::DuplicateLine),
        (line(), line()).prop_map(|(a, b)| Damage::SwapLines(a, b)),
        (line(), 1..5usize).prop_map(|(at, by)| Damage::Indent(at, by)),
        (line(), 1..5usize).prop_map(|(at, by)| Damage::Unindent(at, by)),
        (line(), any::<u8>()).prop_map(|(at, byte)| Damage::ReplaceByte(at, byte)),
        (line(), line()).prop_map(|(at, other)| Damage::Splice(at, other)),
    ]
}

impl Damage {
    fn done_to(&self, text: &str) -> String {
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        if lines.is_empty() {
            return String::new();
        }
        let count = lines.len();
        match self {
            Damage::DeleteLine(at) => drop(lines.remove(at.index(count))),
            Damage::DuplicateLine(at) => {
                let at = at.index(count);
                lines.insert(at, lines[at].clone());
            }
            Damage::SwapLines(a, b) => lines.swap(a.index(count), b.index(count)),
            Damage::Indent(at, by) => lines[at.index(count)].insert_str(0, &" ".repeat(*by)),
            Damage::Unindent(at, by) => {
                let line = &mut lines[at.index(count)];
                let blank = line.len() - line.trim_start_matches(' ').len();
                line.drain(..blank.min(*by));
            }
            Damage::ReplaceByte(at, byte) => {
                let mut bytes = text.as_bytes().to_vec();
                bytes[at.index(text.len())] = *byte;
                return String::from_utf8_lossy(&bytes).into_owned();
            }
            Damage::Splice(at, other) => {
                lines.truncate(at.index(count));
                lines.push(SHIPPED[other.index(SHIPPED.len())].1.clone());
            }
        }
        lines.concat()
    }
}

fn damaged() -> impl Strategy<Value = String> {
    (any::<Index>(), prop::collection::vec(damage(), 1..8)).prop_map(|(which, damages)| {
        let text = SHIPPED[which.index(SHIPPED.len())].1.clone();
        damages.iter().fold(text, |text, damage| damage.done_to(&text))
    })
}

/// An unknown field in every map of every recipe, not a random one: there are few enough.
#[test]
fn an_unknown_field_in_a_shipped_recipe_is_always_reported() {
    let mut count = 0;
    for (path, text) in SHIPPED.iter() {
        let read = recipe_reader::answered(text);
        assert!(read.recipe.is_some(), "{}: {:?}", path.display(), read.problems);
        let positions = unknown_recipe_field::positions(text);
        let steps = read.recipe.expect("it was read").steps.len();
        assert_eq!(positions.len(), steps + 1, "{}: the recipe and each step", path.display());
        for position in positions {
            unknown_recipe_field::reported(&position.insert(text), unknown_recipe_field::FIELD);
            count += 1;
        }
    }
    assert!(count > 50, "only {count} positions in {} recipes", SHIPPED.len());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_recipe_gets_an_answer(text in damaged()) {
        recipe_reader::answered(&text);
    }

    /// What is still sound after the damage still has no room for an unknown field.
    #[test]
    fn an_unknown_field_in_a_damaged_recipe_is_always_reported(
        text in damaged().prop_filter("is no recipe any more", |text| {
            recipe_reader::answered(text).recipe.is_some()
        }),
        which in any::<Index>(),
    ) {
        let positions = unknown_recipe_field::positions(&text);
        prop_assume!(!positions.is_empty());
        unknown_recipe_field::reported(&positions[which.index(positions.len())].insert(&text), unknown_recipe_field::FIELD);
    }

    /// The problems of a file that a machine includes are reported in that file.
    #[test]
    fn a_damaged_file_of_shared_steps_gets_an_answer(
        which in any::<Index>(),
        damages in prop::collection::vec(damage(), 1..8),
    ) {
        let names: Vec<&String> = SHARED.keys().collect();
        let damaged = names[which.index(names.len())];
        let files = |path: &str| {
            let Some(text) = SHARED.get(path) else {
                return Err(Diagnostic::error("unreadable", path));
            };
            let done = damages.iter().fold(text.clone(), |text, damage| damage.done_to(&text));
            Ok(Source::new(path, if path == damaged { done } else { text.clone() }))
        };
        for name in ["implement-and-review-all", "refine-design", "review-and-commit"] {
            let source = Source::new(name, builtin(name).unwrap());
            let inputs = Map::new();
            let beside = ReadContext::of_files(&files, &inputs);
            let read = read_in_context(&source, &beside);
            let broken = read.problems.iter().any(Diagnostic::is_error);
            prop_assert_eq!(read.recipe.is_none(), broken);
            for label in read.problems.iter().flat_map(|problem| &problem.labels) {
                prop_assert!(label.source.text.get(label.span.range()).is_some(), "{:?}", label);
            }
            for step in read.recipe.iter().flat_map(|recipe| &recipe.steps) {
                prop_assert!(step.source.text.get(step.span.range()).is_some());
            }
        }
    }

    /// Damage after the field was written: while the line is still in the recipe's own map or a
    /// step's, `answered` asks for it.
    #[test]
    fn damage_does_not_hide_an_unknown_field(
        which in any::<Index>(),
        position in any::<Index>(),
        damages in prop::collection::vec(damage(), 1..8),
    ) {
        let text = &SHIPPED[which.index(SHIPPED.len())].1;
        let positions = unknown_recipe_field::positions(text);
        let with = positions[position.index(positions.len())].insert(text);
        recipe_reader::answered(&damages.iter().fold(with, |text, damage| damage.done_to(&text)));
    }
}
