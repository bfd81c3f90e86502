//! The warnings about conditions, found again in a stored plan.

use crate::temporary_project::Project;
use towpath_recipe::{Dialect, condition_warnings};

/// `RECIPE STEP: message` of every warning about a condition in the plan of a recipe.
fn warnings(files: &[(&str, &str)]) -> Vec<String> {
    let mut project = Project::new(files);
    project.run_options.dialect = Dialect::RecipeRunner;
    let resolved = project.named("r.yaml");
    let plan = resolved.plan.clone().unwrap_or_else(|| panic!("{}", project.report(&resolved)));
    let found = condition_warnings(&plan).into_iter();
    found.map(|w| format!("{} {}: {}", w.recipe, w.step, w.problem.message)).collect()
}

#[test]
fn they_name_their_step_and_nothing_else_is_among_them() {
    let text = "name: r
context: {env: staging, n: 1}
steps:
  - {id: quotes, command: x, condition: env == prod}
  - {id: never, command: x, condition: 1 == 2}
  - {id: status, command: x, condition: steps.quotes.status == 'success'}
  - {id: sound, command: 'echo {{nothing}}', condition: env == 'prod'}
  - {id: always, command: 'echo {{nothing}}'}
";
    let found = warnings(&[("r.yaml", text)]);
    assert_eq!(
        found,
        [
            "0 quotes: the condition of step `quotes` reads `prod`, which nothing sets: it will be null",
            "0 never: this step can never run: its condition is always false",
            "0 status: no step ever has the status `success`: this comparison is never true",
        ]
    );
}

#[test]
fn those_of_called_and_extended_recipes_too() {
    let base = "name: base\nsteps:\n  - {id: a, command: x, condition: env == prod}\n";
    let called = "name: called\nsteps:\n  - {id: in, command: x, condition: env == test}\n";
    let text =
        "name: r\nextends: base\ncontext: {env: x}\nsteps:\n  - {id: call, recipe: called}\n";
    let found = warnings(&[("base.yaml", base), ("called.yaml", called), ("r.yaml", text)]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("0 a: ") && found[1].contains("in: "), "{found:?}");
}
