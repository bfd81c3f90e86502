//! The built-in machines: their shape is exactly the catalogue's, their prompts contain what they
//! must, and what several of them share is written once.

mod independent_resolver;

use independent_resolver::{Steps, case_file, resolved, shared, stems, written};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const REVIEW_COMMIT: [&str; 3] = ["code-review", "fix", "commit"];

fn prompt(step: &Value) -> &str {
    step["prompt"].as_str().expect("a step has a prompt")
}

fn steps(recipe: &Value) -> &Steps {
    recipe["steps"].as_object().unwrap()
}

/// Every prompt of every built-in, with its machine and step.
fn each_step(mut look: impl FnMut(&str, &Value)) {
    for id in stems("") {
        for (name, step) in steps(&resolved(&id)) {
            look(&format!("{id}/{name}"), step);
        }
    }
}

/// The pieces of a prompt between single backticks, with line ends as blanks.
fn quoted(prompt: &str) -> Vec<String> {
    let pieces = prompt.split('`').skip(1).step_by(2);
    pieces.map(|piece| piece.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn every_prompt_makes_its_points() {
    let text = case_file("prompt-points.jsonl");
    let mut rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let announced = rows.next().unwrap()["cases"].as_u64().unwrap();
    let rows: Vec<Value> = rows.collect();
    assert_eq!(rows.len() as u64, announced);
    let mut missed = Vec::new();
    let mut covered = BTreeSet::new();
    for row in &rows {
        let (recipe, step) = (row["recipe"].as_str().unwrap(), row["step"].as_str().unwrap());
        let prompt = prompt(&resolved(recipe)["steps"][step]).to_lowercase();
        let contains = |words: &Value| {
            let words = words.as_array().unwrap();
            words.iter().any(|word| prompt.contains(&word.as_str().unwrap().to_lowercase()))
        };
        let kept = match (row.get("any_of"), row.get("none_of")) {
            (Some(words), None) => contains(words),
            (None, Some(words)) => !contains(words),
            _ => panic!("{row}"),
        };
        if !kept {
            missed.push(format!("{} {recipe}/{step}: {}", row["id"], row["point"]));
        }
        covered.insert(format!("{recipe}/{step}"));
    }
    assert_eq!(missed, Vec::<String>::new());
    each_step(|step_path, _| assert!(covered.contains(step_path), "{step_path} has no points"));
}

#[test]
fn every_machine_is_the_one_of_the_catalogue() {
    let catalogue: Value = serde_json::from_str(&case_file("builtin-machines.json")).unwrap();
    let recipes = catalogue["recipes"].as_array().unwrap();
    let mut ids: Vec<&str> = recipes.iter().map(|r| r["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(stems(""), ids);
    for expected in recipes {
        let mut actual = resolved(expected["id"].as_str().unwrap());
        for step in actual["steps"].as_object_mut().unwrap().values_mut() {
            step.as_object_mut().unwrap().shift_remove("prompt").expect("a step has a prompt");
            // The catalogue does not know whether an exit is a success.
            for transition in step["onOutcome"].as_object_mut().unwrap().values_mut() {
                transition.as_object_mut().unwrap().shift_remove("success");
            }
        }
        // As text, because the order of steps and outcomes is part of it.
        let text = |value: &Value| serde_json::to_string_pretty(value).unwrap();
        assert_eq!(text(&actual), text(expected));
    }
}

#[test]
fn only_what_was_done_is_a_success_and_questions_are_the_users() {
    let mut stated = BTreeSet::new();
    for id in stems("") {
        for step in steps(&resolved(&id)).values() {
            for transition in step["onOutcome"].as_object().unwrap().values() {
                if let Some(success) = transition.get("success") {
                    stated.insert(format!("{} {success}", transition["reason"].as_str().unwrap()));
                }
            }
        }
    }
    let expected = [
        "clarification-needed \"ask\"",
        "conflicts-require-human-intervention false",
        "design-document-not-found false",
        "implementation-blocked false",
        "no-design-document-found false",
    ];
    assert_eq!(stated.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

/// Shape, names and bounds by the rules themselves, whatever the catalogue has.
#[test]
fn every_machine_is_consistent() {
    for id in stems("") {
        let recipe = resolved(&id);
        let steps = steps(&recipe);
        assert_eq!(recipe["id"], json!(id));
        assert!(steps.contains_key(recipe["initialStep"].as_str().unwrap()), "{id}");
        for limit in ["maxStepVisits", "maxTotalSteps"] {
            assert!(recipe["guardrails"][limit].as_u64().unwrap() > 0, "{id}");
        }
        for (name, step) in steps {
            let outcomes: Vec<&str> =
                step["outcomes"].as_array().unwrap().iter().map(|o| o.as_str().unwrap()).collect();
            let transitions = step["onOutcome"].as_object().unwrap();
            let keys: Vec<&str> = transitions.keys().map(String::as_str).collect();
            assert_eq!(keys, outcomes, "{id}/{name}");
            assert_eq!(outcomes.last(), Some(&"other"), "{id}/{name}");
            for transition in transitions.values() {
                if let Some(next) = transition.get("nextStep") {
                    assert!(steps.contains_key(next.as_str().unwrap()), "{id}/{name} → {next}");
                }
            }
        }
    }
}

#[test]
fn shared_steps_are_the_same_everywhere() {
    let source = shared("review-commit-steps");
    assert_eq!(source.keys().collect::<Vec<_>>(), REVIEW_COMMIT);
    for id in ["review-and-commit", "implement-and-review"] {
        let recipe = resolved(id);
        for name in REVIEW_COMMIT {
            assert_eq!(recipe["steps"][name], source[name], "{id}/{name}");
        }
    }
    let implement = &shared("implement-steps")["implement"];
    for id in ["implement-and-review", "implement-and-review-all"] {
        assert_eq!(&resolved(id)["steps"]["implement"], implement, "{id}");
    }
    let design = &shared("design-steps")["commit"];
    for id in ["document-design", "refine-design"] {
        assert_eq!(prompt(&resolved(id)["steps"]["commit"]), prompt(design), "{id}");
    }
}

#[test]
fn implementing_all_differs_in_one_transition() {
    let mut all = resolved("implement-and-review-all");
    let one = resolved("implement-and-review");
    assert_eq!(
        all["steps"]["commit"]["onOutcome"]["committed"],
        json!({ "action": "restart-new-session", "recipeId": "implement-and-review-all" })
    );
    all["steps"]["commit"]["onOutcome"]["committed"] =
        one["steps"]["commit"]["onOutcome"]["committed"].clone();
    assert_eq!(all["steps"], one["steps"]);
    assert_eq!(all["guardrails"], one["guardrails"]);
    assert_eq!(all["initialStep"], one["initialStep"]);
}

/// Equal text could be a copy; this is about where it is written.
#[test]
fn what_is_shared_is_written_once() {
    let reference =
        |file: &str, step: &str| json!({ "$ref": format!("shared/{file}.yaml#/{step}") });
    let include = json!(["shared/implement-steps.yaml", "shared/review-commit-steps.yaml"]);
    assert_eq!(
        written("review-and-commit")["steps"],
        json!({ "$include": "shared/review-commit-steps.yaml" })
    );
    assert_eq!(written("implement-and-review")["steps"], json!({ "$include": include }));
    let mut commit = reference("review-commit-steps", "commit");
    commit["onOutcome"] = json!({ "committed": {
        "action": "restart-new-session", "recipeId": "implement-and-review-all" } });
    assert_eq!(
        written("implement-and-review-all")["steps"],
        json!({ "$include": include, "commit": commit })
    );
    assert_eq!(written("document-design")["steps"]["commit"], reference("design-steps", "commit"));
    assert_eq!(stems("shared"), ["design-steps", "implement-steps", "review-commit-steps"]);
}

#[test]
fn every_prompt_describes_when_to_choose_each_outcome() {
    each_step(|step_path, step| {
        let (_, ending) = prompt(step)
            .split_once("\n## Outcome\n")
            .unwrap_or_else(|| panic!("{step_path}: no outcome section"));
        let explained: Vec<&str> = ending
            .lines()
            .filter_map(|line| line.strip_prefix("- `")?.split_once("`:").map(|(name, _)| name))
            .collect();
        assert_eq!(json!(explained), step["outcomes"], "{step_path}");
    });
}

#[test]
fn every_prompt_is_ready_to_send() {
    each_step(|step_path, step| {
        let text = prompt(step);
        assert_eq!(text, text.trim(), "{step_path}: the engine adds the blank line");
        assert!(!text.contains("{{"), "{step_path}: nothing is filled in");
        assert!(!text.contains('\t') && !text.contains('\r'), "{step_path}");
        assert!(text.lines().all(|line| line == line.trim_end()), "{step_path}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 101),
            "{step_path}: too wide to diff"
        );
        assert_eq!(text.matches('`').count() % 2, 0, "{step_path}: an open backtick");
        let most = if step.get("model") == Some(&json!("haiku")) { 3_000 } else { 5_200 };
        assert!(text.len() <= most, "{step_path}: {} bytes", text.len());
        let review = step["outcomes"].as_array().unwrap().contains(&json!("no-issues"));
        assert!(!review || text.contains("## Review checklist\n"), "{step_path}");
        assert!(!review || text.contains("re-review"), "{step_path}");
    });
}

/// What an agent is asked to run exists, and neither hangs in an editor nor loses work.
#[test]
fn every_command_is_a_real_and_safe_one() {
    const GIT: &[&str] = &[
        "add",
        "branch",
        "commit",
        "diff",
        "fetch",
        "grep",
        "log",
        "ls-files",
        "pull",
        "push",
        "range-diff",
        "rebase",
        "reflog",
        "rev-parse",
        "show",
        "status",
        "symbolic-ref",
    ];
    const BD: &[&str] = &[
        "blocked", "close", "create", "delete", "dep", "dolt", "init", "list", "ready", "show",
        "update",
    ];
    let mut seen = BTreeSet::new();
    each_step(|step_path, step| {
        for command in quoted(prompt(step)) {
            let mut words = command.split(' ').skip_while(|word| word.contains("EDITOR="));
            let known = match words.next() {
                Some("git") => GIT,
                Some("bd") => BD,
                _ => continue,
            };
            let Some(verb) = words.next() else { continue };
            assert!(known.contains(&verb), "{step_path}: {command}");
            seen.insert(verb.to_owned());
            let opens_an_editor = command.contains("rebase -i") || command.contains("--continue");
            assert!(!opens_an_editor || command.starts_with("GIT_"), "{step_path}: {command}");
            let lossy = ["reset", "clean", "stash", "checkout", "-A", "--force", "--no-verify"];
            let deleting = command.starts_with("bd delete");
            let loses = words.clone().chain([verb]).any(|word| lossy.contains(&word));
            assert!(deleting || !loses, "{step_path}: {command}");
        }
        let flat = prompt(step).split_whitespace().collect::<Vec<_>>().join(" ");
        for (asked, allowed) in [
            ("`bd init`", "Do not run `bd init`"),
            ("`git push --force-with-lease`", "if a person decides so"),
            ("`bd delete", "only those created in this conversation"),
        ] {
            assert!(!flat.contains(asked) || flat.contains(allowed), "{step_path}: {asked}");
        }
    });
    let known: BTreeSet<String> = GIT.iter().chain(BD).map(|verb| (*verb).to_owned()).collect();
    assert_eq!(seen, known, "a command that no prompt uses any more");
}

/// No prompt takes it for granted that there is git, beads, or a branch called main.
#[test]
fn prompts_describe_what_to_do_without_git_beads_or_main() {
    let text = |id: &str, step: &str| prompt(&resolved(id)["steps"][step]).to_owned();
    each_step(|step_path, step| {
        let needs_git = prompt(step).contains("`git commit") || prompt(step).contains("git push`");
        let is_first_look = prompt(step).contains("git is missing");
        let relies_on_it = step_path.ends_with("/fix") || step_path.ends_with("/complete");
        assert!(!needs_git || is_first_look || relies_on_it, "{step_path}");
    });
    assert!(text("review-and-commit", "code-review").contains("git is missing"));
    assert!(text("implement-and-review", "implement").contains("Without git"));
    for (id, step) in [
        ("implement-and-review", "implement"),
        ("break-down-tasks", "create-epic"),
        ("break-down-tasks", "create-tasks"),
        ("break-down-tasks", "review-tasks"),
        ("break-down-tasks", "fix-tasks"),
    ] {
        assert!(text(id, step).contains("Without `bd`"), "{id}/{step}");
        assert!(text(id, step).contains("TASKS.md"), "{id}/{step}");
    }
    let rebase = text("rebase", "rebase");
    let parts =
        ["## Context", "refs/remotes/origin/HEAD", "`main`", "`master`", "list the branches"];
    let found: Vec<usize> = parts.iter().map(|p| rebase.find(p).expect(p)).collect();
    assert!(found.is_sorted(), "the order in which the target is looked for");
}

/// The page of the catalogue draws every machine, one line per transition; `other` is written once.
#[test]
fn the_page_has_every_transition_and_no_other() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/catalogue.md");
    let page = std::fs::read_to_string(page).unwrap();
    for id in stems("") {
        let (_, section) =
            page.split_once(&format!("\n## {id}\n")).unwrap_or_else(|| panic!("{id}"));
        let drawn = section.split("```").nth(1).unwrap().strip_prefix("text\n").unwrap();
        assert_eq!(drawn, transitions(&resolved(&id)), "{id}");
    }
}

fn transitions(recipe: &Value) -> String {
    let mut lines = String::new();
    for (name, step) in steps(recipe) {
        for (outcome, transition) in step["onOutcome"].as_object().unwrap() {
            let part = |field: &str| transition.get(field).and_then(Value::as_str);
            let target = match (part("nextStep"), part("reason"), part("recipeId")) {
                (Some(next), None, None) => next.to_owned(),
                (None, Some(reason), None) => match transition.get("success") {
                    Some(Value::Bool(false)) => format!("fail {reason}"),
                    Some(Value::String(ask)) => format!("{ask} {reason}"),
                    _ => format!("exit {reason}"),
                },
                (None, None, Some(other)) => format!("restart {other}"),
                _ => panic!("{transition}"),
            };
            if outcome != "other" {
                lines += &format!("{name}: {outcome} → {target}\n");
            }
        }
    }
    lines
}
