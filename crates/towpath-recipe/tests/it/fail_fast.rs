//! `fail_fast`: which commands stop at their first failing line, and what is noted where nothing is
//! stated.

use crate::temporary_project::Project;

/// The steps of the first recipe whose commands fail fast.
fn fail_fast(project: &Project) -> Vec<String> {
    let resolved = project.named("r.yaml");
    let program = resolved.program.clone();
    let program = program.unwrap_or_else(|| panic!("{}", project.report(&resolved)));
    let root = program.root();
    let steps = root.steps.iter().filter(|step| root.is_fail_fast(step));
    steps.map(|step| step.id.clone()).collect()
}

#[test]
fn a_step_overrides_its_recipe() {
    let steps = "steps:
  - {id: a, command: x}
  - {id: on, command: x, fail_fast: true}
  - {id: off, command: x, fail_fast: false}
  - {id: ask, prompt: x}
";
    for (stated, expected) in [
        ("", vec!["on"]),
        ("fail_fast: true\n", vec!["a", "on"]),
        ("fail_fast: false\n", vec!["on"]),
    ] {
        let project = Project::new(&[("r.yaml", &format!("name: r\n{stated}{steps}"))]);
        assert_eq!(fail_fast(&project), expected, "{stated}");
    }
}

#[test]
fn what_a_recipe_extends_may_state_it() {
    let base = "name: base\nfail_fast: true\nsteps:\n  - {id: a, command: x}\n";
    for (own, expected) in [("", vec!["a", "b"]), ("fail_fast: false\n", vec![])] {
        let text = format!("name: r\nextends: base\n{own}steps:\n  - {{id: b, command: x}}\n");
        let project = Project::new(&[("base.yaml", base), ("r.yaml", &text)]);
        assert_eq!(fail_fast(&project), expected, "{own}");
    }
}

#[test]
fn a_step_without_a_command_does_not_use_it() {
    let text = "name: r\nsteps:\n  - {id: a, prompt: x, fail_fast: true}\n";
    let project = Project::new(&[("r.yaml", text)]);
    let report = project.report(&project.named("r.yaml"));
    assert!(report.contains("a step of type `agent` does not use `fail_fast`"), "{report}");
}

/// The notes about failures that nothing notices.
fn notes(text: &str) -> Vec<String> {
    let project = Project::new(&[("r.yaml", text)]);
    let report = project.report(&project.named("r.yaml"));
    let notes = report.lines().filter(|line| line.starts_with("note[hidden-failure]"));
    notes.map(str::to_owned).collect()
}

fn of_command(command: &str) -> usize {
    let lines: String = command.lines().map(|line| format!("      {line}\n")).collect();
    notes(&format!("name: r\nsteps:\n  - id: a\n    command: |\n{lines}")).len()
}

#[test]
fn a_failure_that_nothing_notices_is_noted() {
    for command in
        ["make\nmake test", "cat x | sort", "make && cat x | sort", "if a; then b | c; fi"]
    {
        assert_eq!(of_command(command), 1, "{command}");
    }
    for command in [
        "make",
        "make || exit 1",
        "# first\nmake",
        "cat <<'END'\none\ntwo\nEND",
        "make \\\n  test",
        "set -e\nmake\nmake test",
        "set -euo pipefail\ncat x | sort",
        "set -o errexit\nmake\nmake test",
    ] {
        assert_eq!(of_command(command), 0, "{command}");
    }
}

#[test]
fn it_is_noted_once_for_a_recipe_that_states_nothing() {
    let steps = "steps:\n  - {id: a, command: x | y}\n  - {id: b, command: x | y}\n";
    let found = notes(&format!("name: r\n{steps}"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("`a`, `b`") && found[0].contains("add `fail_fast: true`"),
        "{found:?}"
    );
    for stated in ["true", "false"] {
        assert_eq!(notes(&format!("name: r\nfail_fast: {stated}\n{steps}")), Vec::<String>::new());
    }
}
