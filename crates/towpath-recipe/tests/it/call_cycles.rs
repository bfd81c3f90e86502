//! Recipes that call each other in a circle.

use crate::temporary_project::Project;

#[test]
fn a_circle_without_a_condition_is_refused() {
    let project = Project::new(&[
        ("a.yaml", "name: a\nsteps:\n  - {id: x, recipe: b}\n"),
        ("b.yaml", "name: b\nsteps:\n  - {id: y, command: ls}\n  - {id: z, recipe: a}\n"),
        ("self.yaml", "name: self\nsteps:\n  - {id: x, recipe: self}\n"),
        (
            "fine.yaml",
            "name: fine\ncontext: {more: 1}\nsteps:\n  - {id: x, recipe: fine, condition: more}\n",
        ),
        (
            "both.yaml",
            "name: both\ncontext: {more: 1}\nsteps:\n  - {id: x, recipe: both2, condition: more}\n",
        ),
        ("both2.yaml", "name: both2\nsteps:\n  - {id: x, recipe: both}\n"),
    ]);
    let resolved = project.named("a.yaml");
    assert!(resolved.plan.is_none());
    let b = project.path("b.yaml");
    assert_eq!(
        project.report(&resolved),
        format!(
            "error[endless-calls] @/a.yaml:3:21 `b` these recipes call each other without end: \
             a → b → a | calls b | {}:4:21 `a` calls a | give one of these steps a `condition` \
             that ends it\n",
            b.to_str().unwrap()
        )
        .replace(project.path("").to_str().unwrap(), "@/")
    );
    assert!(project.report(&project.named("self.yaml")).contains("self → self"));
    assert_eq!(project.report(&project.named("fine.yaml")), "");
    assert_eq!(project.report(&project.named("both.yaml")), "");
}
