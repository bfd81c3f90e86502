//! Recipes as users of `recipe-runner-rs` have written them: under that name they run, with a warning
//! where our own rules would refuse them; under our own name they are refused with what to write.

use crate::support::{Printed, User};
use serde_json::{Value, json};
use std::fs;

fn runner(user: &User, arguments: &[&str]) -> Printed {
    user.towpath(&[&["as", "recipe-runner-rs"], arguments].concat())
}

/// A program that answers as Claude Code does and keeps what it got.
const FAKE: &str = "#!/bin/sh
cat > prompt.txt
printf '%s\\n' \"$@\" > arguments.txt
echo '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"answered\",\"session_id\":\"s\"}'
";

const AGENT: [&str; 2] = ["--agent-binary", "bin/agent"];

fn with_agent(recipe: &str) -> User {
    let user = User::new().file("r.yaml", recipe);
    user.program("work/bin/agent", FAKE);
    user
}

const VALIDATED: &str = "name: v
context: {task: '', repo: ., notes: ''}
context_validation: {task: nonempty, repo: git_repo, log: path, notes: optional}
steps:
  - {id: a, command: 'echo did {{task}}'}
";

#[test]
fn context_validation_is_checked_before_the_first_step() {
    let user = User::new().file("v.yaml", VALIDATED).file("there.log", "");
    let needs = runner(&user, &["v.yaml"]).exits(2).reports("needs a value for `task`, `log`");
    assert!(!needs.stdout.contains("did"), "nothing ran: {needs:?}");
    let set = ["v.yaml", "--set", "task=x", "--set", "log=gone.log"];
    let wrong = runner(&user, &set).exits(2);
    wrong.reports("`log` is `gone.log`, which does not exist").reports("must be `path`");
    let set = ["v.yaml", "--set", "task=x", "--set", "log=there.log"];
    runner(&user, &set).exits(2).reports("`repo` is `.`, which is in no git repository");
    runner(&user, &[&set[..], &["--dry-run"]].concat()).exits(2).reports("in no git repository");
    user.git("work", &["init", "--quiet"]);
    runner(&user, &set).exits(0).shows("did x\n");
    // The same under our own name: it is a field like any other.
    user.towpath(&[&["run"], &set[..]].concat()).exits(0).shows("did x\n");
    user.towpath(&["run", "v.yaml"]).exits(2).reports("needs a value for `task`, `log`");
}

#[test]
fn a_rule_for_values_that_there_is_not_is_named() {
    let user = User::new().file("v.yaml", &VALIDATED.replace("log: path", "log: pth"));
    let printed = user.towpath(&["validate", "v.yaml"]).exits(2);
    printed.shows("`log` must be `nonempty` or `path` or").shows("did you mean `path`?");
    let printed = runner(&user, &["v.yaml", "--validate-only"]).exits(0);
    printed.reports("warning: `log` must be");
}

#[test]
fn what_only_the_recipe_that_is_run_must_have_is_not_asked_of_called_ones() {
    let user = User::new()
        .file("v.yaml", VALIDATED)
        .file("outer.yaml", "name: outer\nsteps:\n  - {id: call, recipe: v}\n");
    runner(&user, &["outer.yaml"]).exits(0).shows("did \n");
}

#[test]
fn a_child_inherits_the_rules_for_values_and_replaces_them_by_name() {
    let child = "name: c\nextends: v\ncontext_validation: {log: optional}\n";
    let user = User::new().file("v.yaml", VALIDATED).file("c.yaml", child);
    user.git("work", &["init", "--quiet"]);
    runner(&user, &["c.yaml"]).exits(2).reports("needs a value for `task`\n");
    runner(&user, &["c.yaml", "--set", "task=x"]).exits(0).shows("did x\n");
}

#[test]
fn fatal_false_and_nonfatal_are_continue_on_error() {
    for field in ["fatal: false", "nonfatal: true", "continue_on_error: true"] {
        let recipe = format!(
            "name: f\nsteps:\n  - {{id: a, command: exit 3, {field}}}\n  - {{id: b, command: echo after}}\n"
        );
        let user = User::new().file("f.yaml", &recipe);
        runner(&user, &["f.yaml"]).exits(0).shows("after\n").shows("(tolerated)");
        user.towpath(&["run", "f.yaml"]).exits(0).shows("after\n");
    }
    let recipe = "name: f\nsteps:\n  - {id: a, command: exit 3, fatal: true}\n";
    runner(&User::new().file("f.yaml", recipe), &["f.yaml"]).exits(1);
}

const DEAD: &str = "name: dead
metadata: {owner: ann}
steps:
  - {id: a, name: First, description: It greets., command: echo hello}
  - {id: b, recipe: called, sub_context: {who: bob}}
output:
  greeting: '{{a}}'
";

#[test]
fn fields_without_an_effect_are_warnings_under_one_name_and_errors_under_the_other() {
    let called =
        "name: called\ncontext: {who: nobody}\nsteps:\n  - {id: a, command: 'echo {{who}}'}\n";
    let user = User::new().file("dead.yaml", DEAD).file("called.yaml", called);
    let printed = runner(&user, &["dead.yaml"]).exits(0).shows("hello\nnobody\n");
    for field in ["output", "metadata", "name", "description", "sub_context"] {
        assert!(printed.stderr.contains(&format!("warning: `{field}` has no effect")), "{field}");
    }
    assert!(printed.stderr.contains("is its `context`"), "{}", printed.stderr);
    runner(&user, &["dead.yaml", "--validate-only"]).exits(0).shows("has 5 warning(s)");
    runner(&user, &["dead.yaml", "--explain"]).exits(0);
    let listed = runner(&user, &["list", "-R", "."]).exits(0);
    assert!(!listed.stdout.contains("broken"), "{}", listed.stdout);
    let printed = user.towpath(&["run", "dead.yaml"]).exits(2);
    printed.reports("error: unknown field `output`").reports("is its `context`");
    // A slip is no field that never had an effect.
    user.write("slip.yaml", &DEAD.replace("sub_context", "comand"));
    runner(&user, &["slip.yaml"]).exits(2).reports("error: unknown field `comand`");
}

#[test]
fn a_run_with_such_fields_can_be_resumed_by_either_name() {
    let recipe = DEAD.replace("- {id: b, recipe: called,", "- {id: b, command: test -e go,");
    let user = User::new().file("dead.yaml", &recipe);
    runner(&user, &["dead.yaml"]).exits(1);
    user.write("go", "");
    let run = user.run().to_string();
    user.towpath(&["resume", &run]).exits(0);
}

const MODE: &str = "name: m\nsteps:\n  - {id: ask, mode: ANALYZE, prompt: What now}\n";

#[test]
fn a_mode_that_the_agent_does_not_have_is_text_before_the_prompt() {
    let user = with_agent(MODE);
    for more in [&["--validate-only"][..], &["--dry-run"], &["--explain"], &[]] {
        let printed = runner(&user, &[&["r.yaml"], &AGENT[..], more].concat()).exits(0);
        assert!(
            printed.stderr.contains("warning: claude-code has no mode `ANALYZE`"),
            "{more:?}: {printed:?}"
        );
    }
    assert!(
        user.read("prompt.txt").starts_with("Mode: ANALYZE\n\nWhat now"),
        "{user:?}",
        user = user.read("prompt.txt")
    );
    assert!(!user.read("arguments.txt").contains("ANALYZE"), "it is no argument");
    // One that it has is its own flag.
    user.write("r.yaml", &MODE.replace("ANALYZE", "plan"));
    let printed = runner(&user, &["r.yaml", AGENT[0], AGENT[1]]).exits(0);
    assert!(!printed.stderr.contains("has no mode"), "{printed:?}");
    assert!(user.read("arguments.txt").contains("--permission-mode\nplan\n"));
    assert!(user.read("prompt.txt").starts_with("What now"));
}

#[test]
fn under_our_own_name_such_a_mode_is_refused_wherever_the_recipe_is_read() {
    let user = with_agent(MODE);
    for arguments in [
        &["validate"][..],
        &["explain"],
        &["run", "--dry-run"],
        &["run", "--agent-path", "bin/agent"],
    ] {
        let printed = user.towpath(&[arguments, &["r.yaml"]].concat()).exits(2);
        let text = format!("{}{}", printed.stdout, printed.stderr);
        assert!(text.contains("claude-code has no mode `ANALYZE`"), "{arguments:?}: {text}");
    }
    assert_eq!(user.read("prompt.txt"), "", "nobody was asked");
}

fn asking(agent: &str) -> String {
    format!("name: r\nsteps:\n  - {{id: ask, agent: '{agent}', prompt: What now}}\n")
}

#[test]
fn agents_are_found_in_the_layout_of_the_bundle() {
    let user = with_agent(&asking("amplihack:specialized:database"));
    user.write("amplifier-bundle/agents/specialized/database.md", "Know your tables.");
    user.git("work", &["init", "--quiet"]);
    runner(&user, &["r.yaml", AGENT[0], AGENT[1]]).exits(0);
    assert!(user.read("arguments.txt").contains("Know your tables."));
    // By its name alone, in whichever category it is.
    user.write("r.yaml", &asking("amplihack:database"));
    runner(&user, &["r.yaml", AGENT[0], AGENT[1]]).exits(0);
    assert!(user.read("arguments.txt").contains("Know your tables."));
    user.towpath(&["validate", "r.yaml"]).exits(0);
    // In another category than the reference has it, as that program looks for it.
    user.write("r.yaml", &asking("amplihack:core:database"));
    let printed = runner(&user, &["r.yaml", AGENT[0], AGENT[1]]).exits(0);
    assert!(!printed.stderr.contains("there is no agent"), "{printed:?}");
    user.towpath(&["validate", "r.yaml"]).exits(2);
}

#[test]
fn built_in_agents_are_in_the_category_core() {
    for name in ["builder", "reviewer", "tester", "architect"] {
        let user = with_agent(&asking(&format!("amplihack:core:{name}")));
        user.towpath(&["validate", "r.yaml"]).exits(0);
        user.write("r.yaml", &asking(&format!("amplihack:{name}")));
        user.towpath(&["validate", "r.yaml"]).exits(0);
    }
}

#[test]
fn an_agent_without_a_file_works_without_instructions() {
    for reference in ["foundation:zen-architect", "amplihack:amplihack:core:builder"] {
        let user = with_agent(&asking(reference));
        let printed = runner(&user, &["r.yaml", AGENT[0], AGENT[1]]).exits(0);
        assert!(printed.stderr.contains("works without instructions"), "{printed:?}");
        assert!(!user.read("arguments.txt").contains("system-prompt"), "{reference}");
        user.towpath(&["validate", "r.yaml"]).exits(2);
    }
}

#[test]
fn an_agent_program_is_chosen_by_its_name() {
    let user = with_agent("name: r\nsteps:\n  - {id: ask, mode: NONE, prompt: What now}\n");
    for (name, backend) in [
        ("claude", "claude-code"),
        ("codex", "codex"),
        ("copilot", "github-copilot"),
        ("gemini", "gemini"),
        ("opencode", "opencode"),
    ] {
        let arguments = ["as", "recipe-runner-rs", "r.yaml", "--validate-only"];
        let flag = user.towpath(&[&arguments[..], &["--agent-binary", name]].concat()).exits(0);
        flag.reports(&format!("warning: {backend} has no mode `NONE`"));
        let mut command = user.command(&arguments);
        command.env("AMPLIHACK_AGENT_BINARY", name);
        let variable = Printed::from(command.output().expect("it starts")).exits(0);
        variable.reports(&format!("warning: {backend} has no mode `NONE`"));
        // The path of one of them is that one.
        let path = user.program(&format!("work/other/{name}"), FAKE);
        let path = path.to_str().expect("our paths are text");
        let flag = user.towpath(&[&arguments[..], &["--agent-binary", path]].concat()).exits(0);
        flag.reports(&format!("warning: {backend} has no mode `NONE`"));
    }
}

#[test]
fn recipes_of_an_installed_bundle_are_found() {
    let recipe = |word: &str| format!("name: tour\nsteps:\n  - {{id: a, command: echo {word}}}\n");
    let user = User::new();
    let install = |folder: &str, text: &str| {
        let folder = user.path(folder);
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("tour.yaml"), text).expect("a file");
    };
    install(".amplihack/amplifier-bundle/recipes", &recipe("installed"));
    runner(&user, &["tour"]).exits(0).shows("installed\n");
    install("elsewhere/amplifier-bundle/recipes", &recipe("elsewhere"));
    let mut command = user.command(&["as", "recipe-runner-rs", "tour"]);
    command.env("AMPLIHACK_HOME", user.path("elsewhere"));
    Printed::from(command.output().expect("it starts")).exits(0).shows("elsewhere\n");
}

#[test]
fn a_recipe_may_forbid_calls_with_a_depth_of_zero() {
    let recipe = "name: r\nrecursion: {max_depth: 0}\nsteps:\n  - {id: a, command: echo alone}\n";
    let user = User::new()
        .file("r.yaml", recipe)
        .file("calls.yaml", &recipe.replace("command: echo alone", "recipe: called"))
        .file("called.yaml", "name: called\nsteps:\n  - {id: a, command: echo called}\n");
    runner(&user, &["r.yaml"]).exits(0).shows("alone\n");
    runner(&user, &["calls.yaml"]).exits(1).shows("max_depth");
}

#[test]
fn the_result_has_the_value_of_a_step_that_gives_json() {
    let recipe = "name: j
steps:
  - {id: json, command: \"echo 'see: {\\\"n\\\": [1, 2]}'\", parse_json: true}
  - {id: none, command: echo nothing, parse_json: true}
  - {id: text, command: \"echo '{}'\"}
";
    let user = User::new().file("j.yaml", recipe);
    let printed = runner(&user, &["j.yaml", "--output-format", "json"]).exits(0);
    let result: Value = serde_json::from_str(&printed.stdout).expect("JSON");
    let steps = &result["step_results"];
    assert_eq!(steps[0]["value"], json!({ "n": [1, 2] }));
    assert_eq!(steps[0]["output"], "see: {\"n\": [1, 2]}");
    assert_eq!(steps[1].get("value"), Some(&Value::Null));
    assert_eq!(steps[2].get("value"), None);
}

#[test]
fn a_manifest_of_the_other_program_is_read() {
    let user = User::new().file("recipes/a.yaml", "hello\n").file(
        "recipes/_recipe_manifest.json",
        "{\"a\": \"5891b5b522d5df08\", \"gone\": \"5891b5b522d5df08\"}",
    );
    let printed = user.towpath(&["recipes", "check", "recipes"]).exits(1);
    printed.shows("deleted   gone.yaml\n").shows("1 change in");
}

#[test]
fn a_value_that_nothing_knows_is_named_with_the_one_that_is_missing() {
    let recipe = "name: q\nrequired_context: [question]\nsteps:\n  - {id: a, command: 'echo {{question}}'}\n";
    let user = User::new().file("q.yaml", recipe);
    for name in [&["run"][..], &["as", "recipe-runner-rs"]] {
        let printed = user.towpath(&[name, &["q.yaml", "--set", "qestion=why"]].concat()).exits(2);
        printed.reports("needs a value for `question`; nothing knows `qestion`, which was set");
    }
}
