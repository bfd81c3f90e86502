//! `requires`: what is read, what is refused and where, and what a whole plan requires.

use crate::problems_as_lines::problems;
use crate::temporary_project::Project;
use towpath_recipe::{PlanRequirement, Program, Tags};

fn program(project: &Project) -> Program {
    let resolved = project.named("r.yaml");
    resolved.program.clone().unwrap_or_else(|| panic!("{}", project.report(&resolved)))
}

/// `jq>=1.6 (r, step a of r)`, one line each.
fn required(program: &Program) -> String {
    let line = |requirement: &PlanRequirement| {
        let by: Vec<String> = requirement.required_by.iter().map(ToString::to_string).collect();
        format!("{requirement} ({})\n", by.join(", "))
    };
    program.requirements().iter().map(line).collect()
}

#[test]
fn what_is_no_requirement_is_refused_with_its_location() {
    let file = r#"name: x
requires: [git, "jq>=1.6, <2", 7, "{{tool}}", ""]
steps:
  - id: a
    command: x
    requires:
      - "jq==1.6"
      - >-
        jq
        ~1
  - {id: b, command: x, requires: ripgrep}
  - {id: c, command: x, requires: {jq: '1.6'}}
  - {id: d, prompt: x, requires: null}
"#;
    let expected = r#"error[bad-requirement] r.yaml:2:20 `>=1.6, <2` one requirement has one version | write two: `jq>=1.6` and `jq<2`
error[wrong-type] r.yaml:2:32 `7` a requirement must be a string, this is a number | write a program's name
error[not-a-template] r.yaml:2:36 `{{tool}}` `requires` takes no `{{…}}` | write the program itself
error[bad-requirement] r.yaml:2:47 `` there is no name of a program | a name has letters, digits, `.`, `_`, `+` and `-`, as in `jq` or `g++`
error[bad-requirement] r.yaml:7:12 `==1.6` there is no operator `==` | use `=`, `>=`, `>`, `<=` or `<`, as in `jq>=1.6`
error[bad-requirement] r.yaml:10:9 `~1` there is no operator `~` | use `=`, `>=`, `>`, `<=` or `<`, as in `jq>=1.6`
error[wrong-type] r.yaml:11:35 `ripgrep` `requires` must be a list such as `[git, "jq>=1.6"]`, not `ripgrep` | write `[ripgrep]`
error[wrong-type] r.yaml:12:35 `{` `requires` must be a list such as `[git, "jq>=1.6"]`, this is a map
error[empty-field] r.yaml:13:24 `requires` `requires` has no value | give it a list such as `[git, "jq>=1.6"]`, or take it out
"#;
    assert_eq!(problems(file), expected);
}

#[test]
fn a_machine_and_its_steps_require_programs_too() {
    let machine = |requires: &str, step: &str| {
        format!(
            "id: m\nlabel: M\ndescription: m\ninitialStep: a\nguardrails: {{}}\nrequires: {requires}\nsteps:\n  a:\n    command: make\n    requires: {step}\n    outcomes: [success, failure]\n    onOutcome:\n      success: {{action: exit, reason: done}}\n      failure: {{action: restart-new-session, recipeId: other}}\n"
        )
    };
    assert_eq!(
        problems(&machine("[git!]", "[5]")),
        "error[bad-requirement] r.yaml:6:15 `!` there is no operator `!` | use `=`, `>=`, `>`, `<=` or `<`, as in `jq>=1.6`\n\
         error[wrong-type] r.yaml:10:16 `5` Step 'a': a requirement must be a string, this is a number | write a program's name\n"
    );
    let other = machine("['make<5']", "[tar]").replace("id: m", "id: other");
    let project = Project::new(&[
        ("m.yaml", &machine("[git]", "['make>=4']")),
        ("other.yaml", &other.replace("recipeId: other", "recipeId: m")),
        ("r.yaml", "name: r\nsteps:\n  - {id: go, recipe: m, requires: [git]}\n"),
    ]);
    assert_eq!(
        required(&program(&project)),
        "git (step go of r, m)\nmake>=4,<5 (step a of m, other)\ntar (step a of other)\n"
    );
}

#[test]
fn the_whole_plan_counts_and_what_tags_leave_out_does_not() {
    let files = [
        (
            "r.yaml",
            "name: r\nextends: base\nrequires: ['jq<2']\nsteps:\n\
             \x20 - {id: never, condition: 'false', command: x, requires: [cargo]}\n\
             \x20 - {id: doc, when_tags: [docs], recipe: docs, requires: [hugo]}\n\
             \x20 - {id: call, recipe: called}\n",
        ),
        (
            "base.yaml",
            "name: base\nrequires: ['jq>=1.6']\nsteps:\n  - {id: first, command: x, requires: [sed, 'jq>=1.6']}\n",
        ),
        (
            "called.yaml",
            "name: called\nrequires: [awk]\nsteps:\n  - {id: a, prompt: x, requires: ['jq=1.7']}\n",
        ),
        ("docs.yaml", "name: docs\nrequires: [pandoc]\nsteps:\n  - {id: a, command: x}\n"),
    ];
    let mut project = Project::new(&files);
    let without = "jq>=1.6,<2,=1.7 (r, r, step first of r, step a of called)\n\
                   sed (step first of r)\ncargo (step never of r)\nawk (called)\n";
    assert_eq!(required(&program(&project)), without);
    project.run_options.tags = Tags { include: vec!["docs".to_owned()], exclude: Vec::new() };
    let with = required(&program(&project));
    assert!(with.contains("hugo (step doc of r)\n") && with.contains("pandoc (docs)\n"), "{with}");
    // What is recorded with a run requires the same.
    let plan = (*program(&project).plan).clone();
    assert_eq!(required(&plan.load().expect("it was checked")), with);
}

#[test]
fn all_that_is_required_of_a_program_must_be_met_by_one_version() {
    let text = "name: r\nrequires: ['jq>=1.6']\nsteps:\n  - {id: a, command: x, requires: ['jq<2', '7z']}\n";
    let project = Project::new(&[("r.yaml", text)]);
    let requirements = program(&project).requirements();
    let meets = |version: &str| requirements[0].is_met_by(&version.parse().expect(version));
    assert_eq!(["1.5", "1.6", "1.9.9", "2.0"].map(meets), [false, true, true, false]);
    assert!(requirements[1].is_met_by(&"0.1".parse().expect("a version")));
}
