//! Where a run works: a recipe found by name in the project runs in the project's root, and the first
//! line names a directory that is not the current one.

use crate::support::{Printed, User};
use std::fs;

const WHERE: &str = "name: where\nsteps:\n  - {id: print, command: pwd}\n";
const FAILING: &str = "name: failing\nsteps:\n  - {id: print, command: \"pwd; test -e fixed\"}\n";

/// A project with a directory below it, and recipes that are trusted.
fn project() -> User {
    let user = User::new()
        .file(".towpath/recipes/where.yaml", WHERE)
        .file("recipes/failing.yaml", FAILING)
        .file("src/deep/near.yaml", WHERE);
    user.towpath(&["trust", "--yes"]).exits(0);
    user
}

fn root(user: &User) -> String {
    user.path("work").canonicalize().expect("it is there").display().to_string()
}

/// Runs a command in a directory below the project.
fn below(user: &User, arguments: &[&str]) -> Printed {
    let mut command = user.command(arguments);
    Printed::from(command.current_dir(user.path("work/src/deep")).output().expect("it starts"))
}

#[test]
fn a_recipe_found_by_name_in_the_project_runs_in_the_projects_root() {
    let user = project();
    let root = root(&user);
    for arguments in [&["run", "where"][..], &["run", "where", "--quiet"]] {
        assert_eq!(below(&user, arguments).exits(0).stdout, format!("{root}\n"));
    }
    assert_eq!(user.towpath(&["run", "where"]).exits(0).stdout, format!("{root}\n"));
}

#[test]
fn every_directory_for_recipes_of_a_project_has_the_same_root() {
    let user = project();
    assert_eq!(below(&user, &["run", "failing"]).exits(1).stdout, root(&user) + "\n");
}

#[test]
fn the_first_line_names_a_directory_that_is_not_the_current_one() {
    let user = project();
    let root = root(&user);
    let first = |printed: Printed| printed.stderr.lines().next().unwrap_or_default().to_owned();
    let named = first(below(&user, &["run", "where"]).exits(0));
    assert_eq!(named, format!("where · run {} · in {root}", user.run()));
    let here = first(user.towpath(&["run", "where"]).exits(0));
    assert_eq!(here, format!("where · run {} · work", user.run()));
    let dry = below(&user, &["run", "where", "--dry-run"]).exits(0).stdout;
    assert!(dry.starts_with(&format!("where · dry run · in {root}\n")), "{dry}");
}

#[test]
fn a_path_and_a_given_directory_run_where_they_did() {
    let user = project();
    let deep = format!("{}/src/deep\n", root(&user));
    let path = below(&user, &["run", "../../.towpath/recipes/where.yaml"]).exits(0);
    assert_eq!(path.stdout, deep);
    assert_eq!(below(&user, &["run", "where", "-C", "."]).exits(0).stdout, deep);
    let given = below(&user, &["run", "where", "-R", "../../.towpath/recipes"]).exits(0);
    assert_eq!(given.stdout, deep);
    fs::write(user.path("work/src/deep/beside.yaml"), WHERE.replace("where", "beside")).unwrap();
    user.towpath(&["trust", "--yes", "src/deep/beside.yaml"]).exits(0);
    assert_eq!(below(&user, &["run", "beside"]).exits(0).stdout, deep);
}

#[test]
fn the_other_names_run_in_the_current_directory() {
    let user = project();
    let deep = format!("{}/src/deep\n", root(&user));
    let printed = below(&user, &["as", "recipe-runner-rs", "where", "--output-format", "json"]);
    assert_eq!(printed.json()["steps"][0]["output"], deep.trim_end());
}

#[test]
fn a_resume_runs_where_the_run_ran() {
    let user = project();
    let root = root(&user);
    below(&user, &["run", "failing"]).exits(1);
    user.write("fixed", "");
    let run = user.run().to_string();
    let printed = below(&user, &["resume", &run]).exits(0);
    assert_eq!(printed.stdout, format!("{root}\n"));
    printed.reports(&format!("failing · run {run} resumed · in {root}\n"));
}
