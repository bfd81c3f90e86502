//! From what is asked for to a plan: all problems at once, stored, loaded and hashed.

use crate::temporary_project::{Project, calls, shell};
use towpath_recipe::{Plan, plan_hash};

#[test]
fn problems_of_all_recipes_come_at_once() {
    let project = Project::new(&[
        ("a.yaml", "name: a\nsteps:\n  - {id: x, recipe: b}\n  - {id: y, recipe: c}\n"),
        ("b.yaml", "name: b\nsteps:\n  - {id: x, comand: y}\n"),
        ("c.yaml", "name: c\n"),
    ]);
    let resolved = project.named("a.yaml");
    assert!(resolved.plan.is_none() && resolved.program.is_none());
    let reported = project.report(&resolved);
    assert!(reported.contains("b.yaml:3:13 `comand`"), "{reported}");
    assert!(reported.contains("c.yaml:1:1"), "{reported}");
}

#[test]
fn a_plan_is_stored_and_loaded() {
    let project =
        Project::new(&[("a.yaml", &calls("a", "b")), ("b.yaml", &shell("b", "echo {{x}}"))])
            .set("x=1.10");
    let resolved = project.named("a.yaml");
    let stored = serde_json::to_string(&resolved.plan.unwrap()).unwrap();
    let plan: Plan = serde_json::from_str(&stored).unwrap();
    assert_eq!(plan.inputs["x"].to_string(), "1.10");
    let program = plan.load().unwrap();
    assert_eq!(program.recipes.len(), 2);
    assert_eq!(program.callee(0, "b"), Some(1));
}

#[test]
fn the_hash_covers_texts_and_calls_but_not_inputs() {
    let files: [(&str, &str); 2] = [("a.yaml", &calls("a", "b")), ("b.yaml", &shell("b", "echo"))];
    let hash = |project: &Project| plan_hash(&project.named("a.yaml").plan.unwrap());
    let first = hash(&Project::new(&files));
    assert_eq!(first.len(), 64);
    assert_eq!(first, hash(&Project::new(&files).set("x=1")));
    let changed = Project::new(&files);
    changed.write("b.yaml", &shell("b", "echo changed"));
    assert_ne!(first, hash(&changed));

    let mut plan = Project::new(&files).named("a.yaml").plan.unwrap();
    plan.recipes[0].calls.insert("b".to_owned(), 0);
    assert_ne!(first, plan_hash(&plan));
}

#[test]
fn every_problem_that_can_be_known_comes_in_one_round() {
    let mut project = Project::new(&[
        (
            "r.yaml",
            r#"name: r
contxt_of: x
required_context: [task]
steps:
  - {id: typo, comand: ls, output: made}
  - {id: gate, condition: "made ==", command: 'echo {{made}} {{unasked}}'}
  - {id: shell, command: 'cat <<{{made}}'}
  - {id: who, agent: nobody-knows, prompt: x, model: 1, timeout: soon}
  - {id: needs, recipe: needy, parse_json: maybe}
  - {id: calls, recipe: nowhere, comand: x}
  - {id: deep, recipe: middle}
  - {id: late, command: 'echo {{from_nowhere}}'}
"#,
        ),
        (
            "middle.yaml",
            "name: middle\nsteps:\n  - {id: a, recipe: nirgends, tiemout: 1}\n  - {id: b, agent: \
             ghost, prompt: x}\n",
        ),
        ("needy.yaml", "name: needy\nrequired_context: [what]\nsteps:\n  - {id: a, comand: x}\n"),
    ]);
    project.run_options.to_run = true;
    let reported = project.report(&project.named("r.yaml"));
    let codes: Vec<(&str, &str)> = reported
        .lines()
        .map(|line| {
            let (code, rest) = line.split_once("] ").expect("a code");
            let location = rest.split(' ').next().unwrap_or_default();
            (code.split_once('[').expect("a code").1, location.trim_start_matches("@/"))
        })
        .collect();
    assert_eq!(
        codes,
        [
            ("unknown-field", "r.yaml:2:1"),
            ("unknown-field", "r.yaml:5:16"),
            ("bad-condition", "r.yaml:6:35"),
            ("bad-shell-text", "r.yaml:7:33"),
            ("wrong-type", "r.yaml:8:66"),
            ("wrong-type", "r.yaml:9:44"),
            ("unknown-field", "r.yaml:10:34"),
            ("unknown-field", "needy.yaml:4:13"),
            ("recipe-not-found", "r.yaml:10:25"),
            ("unknown-field", "middle.yaml:3:31"),
            ("agent-not-found", "r.yaml:8:22"),
            ("recipe-not-found", "middle.yaml:3:21"),
            ("agent-not-found", "middle.yaml:4:20"),
            ("missing-input", "r.yaml:9:25"),
            ("missing-input", "the"),
        ],
        "{reported}"
    );
}

#[test]
fn a_broken_recipe_is_looked_at_with_what_it_extends_and_calls() {
    let project = Project::new(&[
        ("r.yaml", "name: r\nextends: base\nsteps:\n  - {id: a, recipe: lost, comand: x}\n"),
        ("base.yaml", "name: base\nsteps:\n  - {id: b, recipe: gone}\n"),
        ("orphan.yaml", "name: o\nextends: nobody\nsteps:\n  - {id: a, comand: 'echo {{x}}'}\n"),
        ("loop.yaml", "name: loop\ntypo: x\nsteps:\n  - {id: a, recipe: loop}\n"),
    ]);
    let reported = project.report(&project.named("r.yaml"));
    for expected in ["`comand`", "there is no recipe `lost`", "there is no recipe `gone`"] {
        assert!(reported.contains(expected), "{reported}");
    }
    let reported = project.report(&project.named("orphan.yaml"));
    assert!(
        reported.contains("`comand`") && reported.contains("there is no recipe `nobody`"),
        "{reported}"
    );
    let reported = project.report(&project.named("loop.yaml"));
    assert!(reported.contains("`typo`") && reported.contains("without end"), "{reported}");
}

/// Each would take many minutes if every placeholder were compared with every other.
#[test]
fn many_placeholders_are_read_in_one_pass() {
    let many = "{{v?}} {{w}}".repeat(30_000);
    let context: String = (0..3_000).map(|n| format!("      k{n}: x\n")).collect();
    let given: String = (0..3_000).map(|n| format!("{{{{k{n}?}}}}")).collect();
    let prompt = format!("name: p\nsteps:\n  - id: a\n    prompt: '{many}'\n");
    let called = format!(
        "name: c\nsteps:\n  - id: a\n    recipe: p\n    context:\n{context}  - id: b\n    prompt: '{given}'\n"
    );
    let project = Project::new(&[("in/p.yaml", &prompt), ("in/c.yaml", &called)]);
    let reported = project.named("in/p.yaml").problems;
    assert_eq!(reported.iter().filter(|p| p.message.contains("which nothing sets")).count(), 1);
    assert!(project.named("in/c.yaml").problems.iter().all(|p| p.message.contains("{{w}}")));
}
