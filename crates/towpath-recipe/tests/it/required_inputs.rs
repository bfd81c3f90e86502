//! Inputs that a recipe requires, of the user and of its callers.

use crate::temporary_project::Project;

#[test]
fn required_variables_are_asked_for_all_at_once_before_a_run() {
    let recipe = "name: r\nrequired_context: [task, branch, mode]\ncontext: {mode: fast, branch: ''}\nsteps:\n  - {id: a, command: 'echo {{task}}'}\n";
    let mut project = Project::new(&[("r.yaml", recipe)]);
    let looked = project.named("r.yaml");
    assert!(looked.plan.is_some(), "looking at it needs no values");
    project.run_options.to_run = true;
    let reported = project.report(&project.named("r.yaml"));
    assert_eq!(
        reported,
        "error[missing-input] the recipe needs a value for `task`, `branch` | GiveValues([\"task\", \"branch\"])\n"
    );
    assert!(project.set("task=x").set("branch=main").named("r.yaml").plan.is_some());
}

#[test]
fn a_variable_can_be_set_by_another_name_that_the_recipe_has_for_it() {
    let parent = "name: p\ncontext_aliases: {topic: question}\nsteps:\n  - {id: a, command: 'echo {{question}}'}\n";
    let recipe =
        "name: r\nextends: p\nrequired_context: [question]\ncontext_aliases: {why: question}\n";
    let with = |sets: &[&str]| {
        let mut project = Project::new(&[("p.yaml", parent), ("r.yaml", recipe)]);
        project.run_options.to_run = true;
        let project = sets.iter().fold(project, |project, set| project.set(set));
        let resolved = project.named("r.yaml");
        let inputs = resolved.plan.as_ref().map(|plan| plan.inputs.clone());
        (serde_json::to_value(inputs).unwrap(), project.report(&resolved))
    };
    for name in ["question", "why", "topic"] {
        let (inputs, reported) = with(&[&format!("{name}=x")]);
        assert_eq!((inputs, reported.as_str()), (serde_json::json!({ "question": "x" }), ""));
    }
    let (inputs, reported) = with(&["question=x", "why=y"]);
    assert_eq!(inputs["question"], "x", "its own name wins");
    assert!(reported.contains("`why` was set, but nothing declares or reads it"), "{reported}");
    let bad = "name: r\ncontext_aliases: {a: [b], c.d: e}\nsteps:\n  - {id: a, command: echo}\n";
    let project = Project::new(&[("r.yaml", bad)]);
    let reported = project.report(&project.named("r.yaml"));
    assert!(reported.contains("`a` must be a string"), "{reported}");
    assert!(reported.contains("`c.d` cannot be a variable"), "{reported}");
}

const NEEDY: &str = "name: needy\nrequired_context: [task, mode]\ncontext: {mode: fast}\nsteps:\n  - {id: a, command: 'echo {{task}} {{mode}}'}\n";

/// What is reported about a caller of `needy` before it runs.
fn of_caller(text: &str, sets: &[&str]) -> String {
    let mut project = Project::new(&[("r.yaml", text), ("needy.yaml", NEEDY)]);
    project.run_options.to_run = true;
    let project = sets.iter().fold(project, |project, set| project.set(set));
    project.report(&project.named("r.yaml"))
}

#[test]
fn what_a_called_recipe_requires_and_nothing_gives_is_reported_at_the_call() {
    let calls = |more: &str| format!("name: r\nsteps:\n  - {{id: call, recipe: needy{more}}}\n");
    let problem = "[missing-input] @/r.yaml:3:24 `needy` step `call` calls `needy`, which needs a value for `task`";
    let (error, warning) = (format!("error{problem}"), format!("warning{problem}"));
    let (error, warning) = (error.as_str(), warning.as_str());
    assert_eq!(
        of_caller(&calls(""), &[]),
        format!(
            "{error} | nothing gives it a value before this | set it in the step's `context` | GiveValues([\"task\"])\n"
        )
    );
    for (more, expected) in [
        (", context: {task: ''}", error),
        (", context: {task: null, mode: ''}", "which needs a value for `task`, `mode`"),
        (", condition: steps", warning),
        (", continue_on_error: true", warning),
    ] {
        let reported = of_caller(&calls(more), &[]);
        assert!(reported.contains(expected), "{more}: {reported}");
    }
    for (more, sets) in [
        ("", &["task=x"][..]),
        (", context: {task: x}", &[]),
        (", context: {task: '{{other}}'}", &["other=x"]),
        (", when_tags: [release]", &[]),
    ] {
        assert_eq!(of_caller(&calls(more), sets), "", "{more}");
    }
    assert!(of_caller(&calls(""), &["task="]).contains(error), "an empty value is none");
    assert!(of_caller(&calls(""), &["task=x", "mode="]).contains("needs a value for `mode`"));
}

#[test]
fn what_an_earlier_step_or_a_caller_above_may_give_counts_as_given() {
    for given in [
        "context: {task: x}\nsteps:\n",
        "steps:\n  - {id: task, command: echo x}\n",
        "steps:\n  - {id: first, command: echo x, output: task}\n",
        "steps:\n  - {id: between, recipe: setter}\n",
    ] {
        let text = format!("name: r\n{given}  - {{id: call, recipe: needy}}\n");
        let setter = "name: setter\nsteps:\n  - {id: s, command: echo x, output: task}\n";
        let mut project =
            Project::new(&[("r.yaml", &text), ("needy.yaml", NEEDY), ("setter.yaml", setter)]);
        project.run_options.to_run = true;
        assert_eq!(project.report(&project.named("r.yaml")), "", "{given}");
    }
    let late = "name: r\nsteps:\n  - {id: call, recipe: needy}\n  - {id: task, command: echo x}\n";
    assert!(of_caller(late, &[]).contains("error[missing-input]"));
    let requires = "name: r\nrequired_context: [task]\nsteps:\n  - {id: call, recipe: needy}\n";
    let reported = of_caller(requires, &[]);
    assert!(
        reported.starts_with("error[missing-input] the recipe needs a value for `task`"),
        "{reported}"
    );
    assert_eq!(reported.lines().count(), 1, "it is reported once: {reported}");
    let middle = "name: middle\nsteps:\n  - {id: call, recipe: needy}\n";
    for (more, expected) in [
        ("", "error["),
        ("condition: steps, ", "warning["),
        ("recovery_on_failure: true, ", "warning["),
    ] {
        let root = format!("name: r\nsteps:\n  - {{id: top, {more}recipe: middle}}\n");
        let files = [("r.yaml", root.as_str()), ("middle.yaml", middle), ("needy.yaml", NEEDY)];
        let mut project = Project::new(&files);
        project.run_options.to_run = true;
        let reported = project.report(&project.named("r.yaml"));
        assert!(
            reported.starts_with(expected) && reported.contains("middle.yaml:3:24"),
            "{reported}"
        );
        let project = project.set("task=x");
        assert_eq!(project.report(&project.named("r.yaml")), "");
    }
}

#[test]
fn who_only_looks_is_warned_for_the_value_may_still_be_given() {
    let text = "name: r\nsteps:\n  - {id: call, recipe: needy, when_tags: [release]}\n";
    let project = Project::new(&[("r.yaml", text), ("needy.yaml", NEEDY)]);
    let looked = project.named("r.yaml");
    assert!(looked.plan.is_some());
    assert!(
        project.report(&looked).starts_with("warning[missing-input]"),
        "{}",
        project.report(&looked)
    );
}
