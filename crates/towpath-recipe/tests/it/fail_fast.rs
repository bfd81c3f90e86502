//! `fail_fast`: which failures end a command, and what is noted where they go unnoticed.

use crate::temporary_project::Project;
use std::process::Command;
use towpath_recipe::{Dialect, FailFast};

fn in_dialect(dialect: Dialect, files: &[(&str, &str)]) -> Project {
    let mut project = Project::new(files);
    project.run_options.dialect = dialect;
    project
}

/// The steps of the first recipe with a command, each with the failures that end it.
fn fail_fast(project: &Project) -> Vec<(String, FailFast)> {
    let resolved = project.named("r.yaml");
    let program = resolved.program.clone();
    let program = program.unwrap_or_else(|| panic!("{}", project.report(&resolved)));
    let root = program.root();
    let steps = root.steps.iter().filter(|step| step.work.kind().as_str() == "bash");
    steps.map(|step| (step.id.clone(), root.fails_on(Some(step)))).collect()
}

#[test]
fn a_step_overrides_its_recipe() {
    let steps = "steps:
  - {id: a, command: x}
  - {id: on, command: x, fail_fast: true}
  - {id: off, command: x, fail_fast: false}
  - {id: ask, prompt: x}
";
    use Dialect::{AgentRecipes, RecipeRunner, Towpath};
    use FailFast::{Off, On, Strict};
    for (dialect, stated, expected) in [
        (Towpath, "", On),
        (RecipeRunner, "", Off),
        (AgentRecipes, "", Off),
        (Towpath, "fail_fast: true\n", Strict),
        (RecipeRunner, "fail_fast: true\n", Strict),
        (Towpath, "fail_fast: false\n", Off),
    ] {
        let text = format!("name: r\n{stated}{steps}");
        let project = in_dialect(dialect, &[("r.yaml", &text)]);
        let found = fail_fast(&project);
        let found: Vec<_> = found.iter().map(|(id, on)| (id.as_str(), *on)).collect();
        assert_eq!(found, [("a", expected), ("on", Strict), ("off", Off)], "{dialect:?} {stated}");
    }
}

#[test]
fn what_a_recipe_extends_may_state_it() {
    let base = "name: base\nfail_fast: true\nsteps:\n  - {id: a, command: x}\n";
    for (own, expected) in [("", FailFast::Strict), ("fail_fast: false\n", FailFast::Off)] {
        let text = format!("name: r\nextends: base\n{own}steps:\n  - {{id: b, command: x}}\n");
        let project = Project::new(&[("base.yaml", base), ("r.yaml", &text)]);
        let expected = ["a", "b"].map(|id| (id.to_owned(), expected));
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
fn notes(dialect: Dialect, text: &str) -> Vec<String> {
    let project = in_dialect(dialect, &[("r.yaml", text)]);
    let report = project.report(&project.named("r.yaml"));
    let notes = report.lines().filter(|line| line.starts_with("note[hidden-failure]"));
    notes.map(str::to_owned).collect()
}

fn of_command(dialect: Dialect, command: &str) -> usize {
    let lines: String = command.lines().map(|line| format!("      {line}\n")).collect();
    notes(dialect, &format!("name: r\nsteps:\n  - id: a\n    command: |\n{lines}")).len()
}

#[test]
fn it_is_noted_once_for_a_recipe_and_not_where_the_last_line_decides() {
    let steps =
        "steps:\n  - {id: a, command: export v=$(x)}\n  - {id: b, command: export v=$(x)}\n";
    let found = notes(Dialect::Towpath, &format!("name: r\n{steps}"));
    assert!(matches!(&found[..], [one] if one.contains("`a`, `b`")), "{found:?}");
    let off = format!("name: r\nfail_fast: false\n{steps}");
    assert_eq!(notes(Dialect::Towpath, &off), Vec::<String>::new());
}

/// Each text is run by bash, too: what is noted ends well after a failure, and nothing else does.
#[test]
fn what_bash_does_not_see_is_noted() {
    for (command, hidden) in [
        ("for i in 1 2; do false && break; done\necho after", true),
        ("while true; do false && break; break; done\nfalse", false),
        ("n=0\nuntil [ $n = 2 ]; do n=$((n + 1)); false && break; done\necho after", true),
        ("if true; then for i in 1; do false && break; done; echo after; fi", true),
        ("for i in 1 2; do false && break; done", false),
        ("for i in 1 2; do false && break; [ $i -lt 2 ] || exit 1; done\necho after", false),
        ("export v=$(false)\necho after", true),
        ("f() { local v=$(false); echo $v; }\nf", true),
        ("readonly v=`false`", true),
        ("v=$(false)\necho after", false),
        ("export v=$((1 + 1))\nfalse", false),
    ] {
        assert_eq!(of_command(Dialect::Towpath, command), usize::from(hidden), "{command}");
        let ran = Command::new("bash").args(["-eo", "pipefail", "-c", command]).output().unwrap();
        assert_eq!(ran.status.success(), hidden, "{command}");
    }
}

#[test]
fn the_way_to_try_again_fails_after_the_last_try() {
    let text = "name: r\nsteps:\n  - {id: a, retry: 3, command: x}\n";
    let project = Project::new(&[("r.yaml", text)]);
    let report = project.report(&project.named("r.yaml"));
    let (_, way) = report.split_once("write `").unwrap();
    let (way, _) = way.split_once('`').unwrap();
    let run = |command: &str| {
        let way = way.replace("COMMAND", command);
        let script = format!("{way}; echo after");
        let ran = Command::new("bash").args(["-eo", "pipefail", "-c", &script]).output().unwrap();
        (ran.status.success(), String::from_utf8(ran.stdout).unwrap())
    };
    assert_eq!(run("! echo tried"), (false, "tried\ntried\ntried\n".to_owned()));
    assert_eq!(run("echo tried"), (true, "tried\nafter\n".to_owned()));
}
