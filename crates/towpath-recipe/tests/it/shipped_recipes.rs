//! The recipes that come with the program, and the examples that people know.

use crate::problems_as_lines::{problems, render};
use std::process::Command;
use towpath_core::{Diagnostic, Map, Severity, Source, Value};
use towpath_recipe::{
    DEMO_ANSWERS, Request, RunOptions, SearchPath, Work, builtin, builtin_names, read, resolve,
};

#[test]
fn every_built_in_resolves_without_a_word() {
    for name in builtin_names() {
        let directory = tempfile::tempdir().unwrap();
        let resolved = resolve(&Request {
            reference: name.to_owned(),
            working_dir: directory.path().to_owned(),
            search: SearchPath::default(),
            inputs: Map::new(),
            run_options: RunOptions::default(),
        });
        let worse = |p: &Diagnostic| p.severity > Severity::Note;
        let problems: Vec<Diagnostic> = resolved.problems.into_iter().filter(worse).collect();
        assert_eq!(render(&problems), "", "{name}");
        assert_eq!(resolved.program.unwrap().root().name, name);
    }
    assert_eq!(builtin("nope"), None);
}

#[test]
fn the_demo_shows_what_there_is() {
    let source = Source::new("built-in demo", builtin("demo").unwrap());
    let demo = read(&source).recipe.unwrap();
    let kinds: Vec<&str> = demo.steps.iter().map(|s| s.work.kind().as_str()).collect();
    assert!(["bash", "agent", "recipe"].iter().all(|kind| kinds.contains(kind)));
    assert!(demo.batches().iter().any(|batch| batch.len() > 1), "a parallel group");
    assert!(demo.steps.iter().any(|s| s.condition.is_some()), "a condition");
}

/// The script that the demo's first step writes.
fn demo_script() -> String {
    let source = Source::new("built-in demo", builtin("demo").unwrap());
    let demo = read(&source).recipe.unwrap();
    let Work::Bash { command } = &demo.steps[0].work else { panic!("the first step is bash") };
    let text = command.text();
    let begin = text.find("<<'END'\n").unwrap() + "<<'END'\n".len();
    text[begin..text.find("\nEND\n").unwrap()].to_owned() + "\n"
}

#[test]
fn the_demo_has_a_bug_and_the_answer_fixes_it() {
    let answers: Vec<Value> =
        DEMO_ANSWERS.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("count-words.sh"), demo_script()).unwrap();
    std::fs::write(directory.path().join("sample.txt"), "two  spaces\n").unwrap();
    let bash = |script: &str| {
        let output =
            Command::new("bash").args(["-c", script]).current_dir(directory.path()).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(bash("bash count-words.sh sample.txt"), "3");
    bash(answers[0]["run"].as_str().unwrap());
    assert_eq!(bash("bash count-words.sh sample.txt"), "2");
    assert_eq!(bash("ls"), "count-words.sh\nsample.txt");
}

#[test]
fn a_well_known_release_recipe_is_understood() {
    let text = r#"name: "ship-release"
description: "CI → Review → Quality Gate → Deploy"
version: "1.0"
context:
  repo_path: "."
  environment: "staging"
hooks:
  on_error: "echo 'Pipeline failed at step: $STEP_ID' >> pipeline.log"
steps:
  # ── Stage 1: Build & Test (sub-recipe) ──
  - id: "ci"
    recipe: "ci-pipeline"
    context:
      repo_path: "{{repo_path}}"
    output: "ci_result"
  - id: "quality-gate"
    recipe: "quality-audit"
    condition: "ci_result and 'PASS' in ci_result"
    context:
      repo_path: "{{repo_path}}"
    output: "audit_result"
  - id: "notify"
    command: |
      echo "Release pipeline complete."
      echo "CI: {{ci_result}}"
      echo "Audit: {{audit_result}}"
"#;
    assert_eq!(
        problems(text),
        "warning[literal-step-id] r.yaml:8:45 `$STEP_ID` single quotes keep `$STEP_ID` as it is | \
         this stays `$STEP_ID` | use double quotes, or write {{step_id}}\n"
    );
}
