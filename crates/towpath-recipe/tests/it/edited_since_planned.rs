//! What became of a plan's files since it was stored.

use crate::temporary_project::Project;
use std::fs;
use towpath_recipe::{Edit, edited};

#[test]
fn edits_since_a_plan_was_stored() {
    let step = |id: &str, command: &str| format!("  - id: {id}\n    command: {command}\n");
    let text = |steps: &[String]| format!("name: a\nsteps:\n{}", steps.concat());
    let project = Project::new(&[("a.yaml", &text(&[step("x", "ls"), step("y", "ls")]))]);
    let plan = project.named("a.yaml").plan.unwrap();
    let edit = |new: &str| {
        project.write("a.yaml", new);
        edited(&plan).into_iter().map(|e| e.edit).collect::<Vec<_>>()
    };
    assert_eq!(edit(&text(&[step("x", "ls"), step("y", "ls")])), []);
    let steps = |changed: &[&str], added: &[&str], removed: &[&str]| {
        let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        vec![Edit::Steps { changed: owned(changed), added: owned(added), removed: owned(removed) }]
    };
    let new = text(&[step("x", "pwd"), step("z", "ls")]);
    assert_eq!(edit(&new), steps(&["x"], &["z"], &["y"]));
    let new = text(&[step("y", "ls"), "  # moved\n".to_owned(), step("x", "ls")]);
    assert_eq!(edit(&new), steps(&[], &[], &[]));
    assert_eq!(edit("name: a\n"), [Edit::Broken("the recipe has no `steps`".to_owned())]);
    fs::remove_file(project.path("a.yaml")).unwrap();
    assert!(matches!(&edited(&plan)[0].edit, Edit::Gone(why) if why.ends_with("no such file")));
}
