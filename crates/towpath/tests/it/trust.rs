//! `towpath trust`: what is found in a working tree runs after consent, and asks again when it changes.

use crate::read_only_commands::{CI, TESTS, project};
use crate::support::Printed;
use crate::support::User;

#[test]
fn what_is_found_in_a_tree_runs_once_it_is_trusted_and_asks_again_when_it_changes() {
    let user = project().file("fixed", "");
    let printed = user.towpath(&["run", "ci"]).exits(5);
    let command = "towpath trust --yes .towpath/recipes/ci.yaml";
    assert_eq!(
        printed.stderr,
        format!(
            "error: .towpath/recipes/ci.yaml was found in the working tree and is not trusted; to \
             see what it would run: towpath trust .towpath/recipes/ci.yaml; to trust it: \
             {command}\n"
        )
    );
    let shown = user.towpath(&["trust", ".towpath/recipes/ci.yaml"]).exits(5).stdout;
    for text in ["  build, bash:\n      echo building {{mode}}; echo one", "echo connection"] {
        assert!(shown.contains(text), "no {text:?} in:\n{shown}");
    }
    user.towpath(&["trust", "--yes", ".towpath/recipes/ci.yaml"])
        .exits(0)
        .prints("trusted: .towpath/recipes/ci.yaml (recipe ci, 4 steps, calls 1 more)\n");
    user.towpath(&["run", "ci"]).exits(0);
    user.write(".towpath/recipes/tests.yaml", &TESTS.replace("unit ok", "unit fine"));
    user.towpath(&["run", "ci"])
        .exits(5)
        .reports("has changed since it was trusted just now")
        .reports(command);
    user.towpath(&["trust", "--yes"]).exits(0);
    user.towpath(&["run", "ci"]).exits(0);
    user.towpath(&["trust", "--revoke", ".towpath/recipes/ci.yaml"])
        .exits(0)
        .prints("no longer trusted: .towpath/recipes/ci.yaml\n");
    user.towpath(&["run", "ci"]).exits(5);
}

#[test]
fn the_same_text_in_another_tree_is_not_trusted_there() {
    let user = project()
        .file("other/.towpath/recipes/ci.yaml", CI)
        .file("other/.towpath/recipes/tests.yaml", TESTS);
    user.towpath(&["trust", "--yes"]).exits(0);
    user.towpath(&["run", "ci"]).exits(1);
    user.towpath(&["run", "ci", "-C", "other"]).exits(5);
    user.towpath(&["trust", "--yes", "other/.towpath/recipes/ci.yaml"]).exits(0);
    user.towpath(&["run", "ci", "-C", "other"]).exits(1);
}

#[test]
fn a_projects_settings_apply_once_they_are_trusted() {
    let user = User::new().file(".towpath/settings.toml", "max_agents = 3\n");
    let agents = |printed: &Printed| printed.json()["settings"]["max_agents"]["value"].clone();
    let printed = user.towpath(&["settings", "--json"]).exits(0);
    assert_eq!(agents(&printed), 10);
    assert_eq!(
        printed.stderr,
        "warning: .towpath/settings.toml is not trusted and is not used; to see it: towpath trust \
         .towpath/settings.toml\n"
    );
    user.towpath(&["trust", "--yes", ".towpath/settings.toml"]).exits(0);
    let printed = user.towpath(&["settings", "--json"]).exits(0);
    assert_eq!((agents(&printed), printed.stderr.as_str()), (3.into(), ""));
    user.write(".towpath/settings.toml", "max_agents = 4\n");
    let printed = user.towpath(&["settings", "--json"]).exits(0).reports("has changed since");
    assert_eq!(agents(&printed), 10);
}

#[test]
fn with_a_hash_only_what_was_shown_is_trusted() {
    let user = User::new()
        .file(".towpath/recipes/ci.yaml", "name: ci\nsteps: [{id: a, command: 'true'}]\n");
    let path = ".towpath/recipes/ci.yaml";
    let shown = user.towpath(&["trust", "--json", path]).json();
    let hash = shown["things"][0]["hash"].as_str().expect("a hash").to_owned();
    user.write(path, "name: ci\nsteps: [{id: a, command: 'echo other'}]\n");
    let refused = user.towpath(&["trust", "--yes", "--hash", &hash, path]).exits(5);
    refused.reports("it has changed since it was shown");
    user.towpath(&["run", "ci"]).exits(5);
    user.write(path, "name: ci\nsteps: [{id: a, command: 'true'}]\n");
    user.towpath(&["trust", "--yes", "--hash", &hash, path]).exits(0);
    user.towpath(&["run", "ci"]).exits(0);
}

#[test]
fn list_names_the_files_that_trust_alone_does_not_show() {
    let user = User::new().file("r.yaml", "name: r\nsteps:\n  - {id: a, command: echo hi}\n");
    let hint = "to see what they would run: towpath trust";
    user.towpath(&["list"]).exits(0).reports(&format!("{hint} r.yaml\n"));
    user.towpath(&["trust", "r.yaml"]).exits(5).shows("echo hi");
    user.write(".towpath/recipes/s.yaml", "name: s\nsteps:\n  - {id: a, command: echo}\n");
    user.towpath(&["list"]).exits(0).reports(&format!("{hint}\n"));
}
