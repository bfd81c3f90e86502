//! Inputs that a user set and nothing reads.

use crate::temporary_project::Project;

#[test]
fn inputs_that_nothing_reads() {
    let project = Project::new(&[
        ("a.yaml", "name: a\ncontext: {color: red}\nsteps:\n  - {id: x, recipe: b}\n"),
        ("b.yaml", "name: b\nsteps:\n  - {id: x, command: ls, condition: size > 1}\n"),
    ])
    .set("colour=blue")
    .set("size=2")
    .set("color=green");
    assert_eq!(
        project.report(&project.named("a.yaml")),
        "warning[unread-input] `colour` was set, but nothing declares or reads it | did you mean \
         `color`?\n"
    );
}
