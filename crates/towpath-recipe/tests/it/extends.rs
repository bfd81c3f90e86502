//! Recipes that extend another one.

use crate::temporary_project::{Project, shell};
use towpath_recipe::{Origin, Plan};

fn extending(name: &str, parent: &str, steps: &[(&str, &str)]) -> String {
    let mut text = format!("name: {name}\nextends: {parent}\n");
    if !steps.is_empty() {
        text.push_str("steps:\n");
    }
    for (id, command) in steps {
        text.push_str(&format!("  - id: {id}\n    command: {command}\n"));
    }
    text
}

#[test]
fn a_recipe_is_joined_with_what_it_extends_over_several_levels() {
    let base = "name: base\ncontext: {a: 1, b: 1}\nsteps:\n  - {id: one, command: x}\n  - {id: two, command: y}\n";
    let project = Project::new(&[
        ("in/base.yaml", base),
        ("in/middle.yaml", &extending("middle", "base", &[("three", "z")])),
        ("in/child.yaml", &extending("child", "middle", &[("one", "new"), ("four", "w")])),
        ("in/same.yaml", &extending("same", "base", &[])),
        ("in/empty.yaml", "name: empty\nextends: base\nsteps: []\n"),
    ]);
    let resolved = project.named("in/child.yaml");
    assert_eq!(project.report(&resolved), "");
    let program = resolved.program.unwrap();
    let ids: Vec<&str> = program.root().steps.iter().map(|s| s.id.as_str()).collect();
    assert_eq!(ids, ["one", "two", "three", "four"]);
    assert!(program.root().step_text(&program.root().steps[0]).contains("new"));
    assert!(program.root().step_text(&program.root().steps[1]).contains("command: y"));
    let again = Plan::clone(&program.plan).load().unwrap();
    assert_eq!(again.root().steps.len(), 4, "a stored plan is joined in the same way");
    for file in ["in/same.yaml", "in/empty.yaml"] {
        assert_eq!(project.named(file).program.unwrap().root().steps.len(), 2, "{file}");
    }
}

#[test]
fn a_parent_is_looked_for_beside_the_child_first() {
    let project = Project::new(&[
        ("in/child.yaml", &extending("child", "base", &[])),
        ("in/base.yaml", &shell("base", "beside")),
        ("dir/base.yaml", &shell("base", "searched")),
        ("dir/other.yaml", &shell("other", "x")),
        ("in/far.yaml", &extending("far", "other", &[])),
    ])
    .search("dir", Origin::Given);
    let text = |name: &str| {
        let program = project.named(name).program.unwrap();
        program.root().step_text(&program.root().steps[0]).to_owned()
    };
    assert!(text("in/child.yaml").contains("beside"));
    assert!(text("in/far.yaml").contains("command: x"));
}

#[test]
fn what_is_wrong_with_a_parent_is_reported_at_the_child() {
    let project = Project::new(&[
        ("a.yaml", &extending("a", "b", &[])),
        ("b.yaml", &extending("b", "a", &[])),
        ("lost.yaml", &extending("lost", "bse", &[])),
        ("self.yaml", &extending("self", "self", &[])),
    ]);
    let reported = project.report(&project.named("a.yaml"));
    assert!(reported.contains("extend each other: @/a.yaml → @/b.yaml → @/a.yaml"), "{reported}");
    assert!(project.report(&project.named("self.yaml")).contains("extends-circle"));
    let reported = project.report(&project.named("lost.yaml"));
    assert!(
        reported.contains("recipe-not-found") && reported.contains("@/lost.yaml:2:10"),
        "{reported}"
    );
}

#[test]
fn steps_of_parent_and_child_are_checked_together() {
    let base = "name: base\nsteps:\n  - {id: one, command: x, parallel_group: g, output: v}\n  - {id: two, command: y}\n";
    let child = "name: child\nextends: base\nsteps:\n  - {id: three, command: 'echo {{v}} {{late}}', parallel_group: g}\n";
    let project = Project::new(&[("base.yaml", base), ("child.yaml", child)]);
    let reported = project.report(&project.named("child.yaml"));
    assert!(reported.contains("scattered-group") && reported.contains("base.yaml"), "{reported}");
    let fine = child.replace(", parallel_group: g", "");
    let project = Project::new(&[("base.yaml", base), ("child.yaml", &fine)]);
    let reported = project.report(&project.named("child.yaml"));
    assert!(reported.contains("{{late}}") && !reported.contains("{{v}}, which"), "{reported}");
}

#[test]
fn a_hook_of_the_parent_that_is_replaced_is_not_looked_at() {
    let base =
        "name: base\nhooks:\n  pre_step: echo {{nowhere}}\nsteps:\n  - {id: a, command: x}\n";
    for (own, found) in [("pre_step: echo hello", false), ("post_step: echo hello", true)] {
        let child = format!("name: child\nextends: base\nhooks:\n  {own}\n");
        let project = Project::new(&[("in/base.yaml", base), ("in/child.yaml", &child)]);
        let report = project.report(&project.named("in/child.yaml"));
        assert_eq!(report.contains("nowhere"), found, "{own}: {report}");
    }
}
