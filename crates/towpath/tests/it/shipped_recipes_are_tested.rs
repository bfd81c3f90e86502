//! The recipes that ship are tested with our own `towpath test`: every one has a test file, every case
//! passes, and some case fails when a step does nothing. Of the built-in machines also every transition
//! is taken, and missed when it is another one.

mod commit_what_was_verified;

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

/// Every recipe of a folder has a test file, every case passes, and no change goes unnoticed.
fn every_step_is_tested(folder: &str, recipes_at_least: usize, cases_at_least: usize) {
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
    let printed = tested_with_every_change(&User::new(), &folder);
    assert!(printed.cases >= cases_at_least, "{} cases", printed.cases);
}

struct Tested {
    recipes: Vec<String>,
    cases: usize,
    changes: usize,
}

/// Runs `towpath test --mutate`: every case passes, and every change is noticed.
fn tested_with_every_change(user: &User, folder: &Path) -> Tested {
    let folder = folder.to_str().expect("a path");
    let printed = user.towpath(&["test", folder, "--mutate", "--json"]);
    let result = printed.json();
    let files = result["files"].as_array().expect("files");
    let list = |f: &serde_json::Value, key: &str| f[key].as_array().cloned().unwrap_or_default();
    let all = |key: &str| files.iter().flat_map(|f| list(f, key)).collect::<Vec<_>>();
    let (cases, changes) = (all("cases"), all("mutations"));
    let failed: Vec<_> = cases.iter().filter(|case| case["status"] != "passed").collect();
    assert!(failed.is_empty(), "{failed:#?}");
    let unnoticed: Vec<_> = changes.iter().filter(|m| m["noticed_by"].is_null()).collect();
    assert!(unnoticed.is_empty(), "{unnoticed:#?}");
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    let recipes = files.iter().filter_map(|f| f["recipe"].as_str().map(str::to_owned)).collect();
    Tested { recipes, cases: cases.len(), changes: changes.len() }
}

#[test]
fn every_example_has_a_test_file_and_every_step_is_tested() {
    every_step_is_tested("recipes/examples", 24, 120);
}

#[test]
fn every_recipe_of_the_language_has_a_test_file_and_every_step_is_tested() {
    every_step_is_tested("recipes/testing", 10, 30);
}

#[test]
fn every_shipped_workflow_has_a_test_file_and_every_step_is_tested() {
    every_step_is_tested("recipes/workflows", 17, 300);
}

#[test]
fn every_transition_of_every_built_in_machine_is_taken_by_a_case() {
    let user = User::new();
    let mut tested = tested_with_every_change(&user, &root().join("recipes/machines"));
    let listed = user.towpath(&["list", "--json"]).exits(0).json();
    let listed = listed["recipes"].as_array().expect("recipes").iter();
    let mut machines: Vec<&str> =
        listed.filter(|r| r["kind"] == "machine").filter_map(|r| r["name"].as_str()).collect();
    machines.sort_unstable();
    tested.recipes.sort_unstable();
    assert_eq!(tested.recipes, machines, "each has a test file");
    assert_eq!(tested.changes, 108, "as many transitions as the machines have");
}
