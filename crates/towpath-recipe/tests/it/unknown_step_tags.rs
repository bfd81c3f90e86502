//! Tags that no step has.

use crate::temporary_project::Project;
use towpath_recipe::Tags;

#[test]
fn a_tag_that_no_step_has_is_reported_with_those_that_there_are() {
    let called = "name: called\nsteps:\n  - {id: a, command: echo, when_tags: [release]}\n";
    let root = "name: r\nsteps:\n  - {id: a, command: echo, when_tags: [docs]}\n  - {id: call, recipe: called}\n";
    let reported = |text: &str, include: &[&str], exclude: &[&str]| {
        let mut project = Project::new(&[("r.yaml", text), ("called.yaml", called)]);
        let owned = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect();
        project.run_options.tags = Tags { include: owned(include), exclude: owned(exclude) };
        project.report(&project.named("r.yaml"))
    };
    assert_eq!(reported(root, &["docs", "release"], &["release"]), "");
    assert_eq!(
        reported(root, &["docs", "relase"], &["slow"]),
        "warning[unknown-tag] no step has the tag `relase` | did you mean `release`? there are `docs`, `release` | IncludedTag\n\
         warning[unknown-tag] no step has the tag `slow` | there are `docs`, `release` | ExcludedTag\n"
    );
    let untagged = "name: r\nsteps:\n  - {id: a, command: echo}\n";
    assert!(reported(untagged, &["x"], &[]).contains("no step has a tag"));
    let broken = "name: r\nsteps:\n  - {id: call, recipe: nowhere}\n";
    assert!(!reported(broken, &["x"], &[]).contains("unknown-tag"), "too little is known");
}
