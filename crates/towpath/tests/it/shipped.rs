//! The recipes that ship are tested with our own `towpath test`: every one has a test file, and
//! every case passes. Of the built-in machines also every transition is taken, and missed when it is
//! another one.

mod verified;

use crate::support::User;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn recipes_below(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of recipes") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            recipes_below(&path, into);
        } else if path.to_string_lossy().ends_with(".yaml") {
            into.push(path);
        }
    }
}

/// Every recipe of a folder has a test file, and every case passes.
fn every_case_passes(folder: &str, recipes_at_least: usize, cases_at_least: usize) {
    let folder = root().join(folder);
    let mut files = Vec::new();
    recipes_below(&folder, &mut files);
    let is_test = |path: &&PathBuf| path.to_string_lossy().ends_with(".test.yaml");
    let recipes: Vec<&PathBuf> = files.iter().filter(|path| !is_test(path)).collect();
    assert!(recipes.len() >= recipes_at_least, "{}: {}", folder.display(), recipes.len());
    for recipe in recipes {
        let own = recipe.with_extension("test.yaml");
        let plain = recipe.parent().is_some_and(|p| p.ends_with("examples"));
        assert!(own.exists() || plain, "{} has no test", recipe.display());
    }
    let printed = User::new().towpath(&["test", folder.to_str().expect("a path"), "--json"]);
    let result = printed.json();
    let cases = result["files"].as_array().expect("files").iter();
    let cases: Vec<_> =
        cases.flat_map(|f| f["cases"].as_array().cloned().unwrap_or_default()).collect();
    let bad: Vec<_> = cases.iter().filter(|case| case["status"] != "passed").collect();
    assert!(bad.is_empty(), "{bad:#?}");
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    assert!(cases.len() >= cases_at_least, "{} cases", cases.len());
}

#[test]
fn every_example_has_a_test_file_and_every_case_passes() {
    every_case_passes("examples", 24, 120);
}

#[test]
fn every_recipe_of_the_language_has_a_test_file_and_every_case_passes() {
    every_case_passes("recipes", 10, 30);
}

#[test]
fn every_shipped_workflow_has_a_test_file_and_every_case_passes() {
    every_case_passes("amplifier-bundle", 17, 300);
}

#[test]
fn every_transition_of_every_built_in_machine_is_taken_by_a_case() {
    let folder = root().join("crates/towpath-recipe/machines");
    let user = User::new();
    let printed = user.towpath(&["test", folder.to_str().expect("a path"), "--mutate", "--json"]);
    let result = printed.json();
    let files = result["files"].as_array().expect("files");
    let mut names: Vec<&str> = files.iter().filter_map(|f| f["recipe"].as_str()).collect();
    let listed = user.towpath(&["list", "--json"]).exits(0).json();
    let listed = listed["recipes"].as_array().expect("recipes").iter();
    let mut machines: Vec<&str> =
        listed.filter(|r| r["kind"] == "machine").filter_map(|r| r["name"].as_str()).collect();
    machines.sort_unstable();
    names.sort_unstable();
    assert_eq!(names, machines, "each has a test file");
    let list = |f: &serde_json::Value, key: &str| f[key].as_array().cloned().unwrap_or_default();
    let bad: Vec<_> =
        files.iter().flat_map(|f| list(f, "cases")).filter(|c| c["status"] != "passed").collect();
    assert!(bad.is_empty(), "{bad:#?}");
    let changes: Vec<_> = files.iter().flat_map(|f| list(f, "mutations")).collect();
    let unnoticed: Vec<_> = changes.iter().filter(|m| m["noticed_by"].is_null()).collect();
    assert!(unnoticed.is_empty(), "{unnoticed:#?}");
    assert_eq!(changes.len(), 108, "as many transitions as the machines have");
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
}
