//! A dry run reports what would run and does nothing: no step, no hook, no record.

use crate::explain;
use crate::support::User;
use serde_json::json;

const SHIP: &str = "
name: ship
context:
  mode: debug
hooks:
  pre_step: touch hooked
  post_step: touch hooked
steps:
  - id: build
    command: touch ran && echo built for {{mode}}
  - id: docs
    condition: mode == 'release'
    command: touch ran
  - id: test
    condition: \"'built' in build\"
    command: echo testing {{build}}
  - id: ci
    recipe: checks
    context:
      what: \"{{mode}}\"
  - id: deploy
    when_tags: [release]
    command: touch ran
  - id: dead
    condition: mode in []
    command: touch ran
";

const CHECKS: &str = "
name: checks
required_context: [what]
steps:
  - id: lint
    command: echo lint {{what}}
  - id: slow
    condition: what == 'release'
    command: touch ran
";

fn user() -> User {
    User::new().file("ship.yaml", SHIP).file("checks.yaml", CHECKS)
}

#[test]
fn a_dry_run_reports_what_would_run_and_why_the_rest_would_not() {
    let user = user();
    let printed = user.towpath(&["run", "ship.yaml", "--dry-run"]).exits(0);
    assert_eq!(
        printed.stdout,
        "ship · dry run · work

  runs     build   bash    touch ran && echo built for debug
           with pre_step and post_step
  skipped  docs    bash    touch ran
           condition false
  may run  test    bash    echo testing ‹build›
           depends on ‹build› · with pre_step and post_step
  runs     ci      recipe  checks
           with pre_step and post_step
  runs       lint  bash    echo lint debug
  skipped    slow  bash    touch ran
             condition false
  skipped  deploy  bash    touch ran
           needs tag release
  never    dead    bash    touch ran
           its condition is always false

2 of 6 steps would run · 1 may run (test) · 2 skipped (docs, deploy) · 1 never runs (dead) · \
nothing was run
"
    );
    assert!(printed.stderr.contains("this step can never run"), "{}", printed.stderr);
}

#[test]
fn a_dry_run_runs_no_step_no_hook_and_leaves_no_record() {
    let user = user();
    for arguments in [
        &["run", "ship.yaml", "--dry-run", "--audit-dir", "audit"][..],
        &["as", "recipe-runner-rs", "ship.yaml", "--dry-run", "--audit-dir", "audit"],
        &["as", "recipe-runner-rs", "ship.yaml", "--dry-run", "--output-format", "json"],
    ] {
        user.towpath(arguments).exits(0);
    }
    let left = |name: &str| user.path("work").join(name).exists();
    assert!(!left("ran") && !left("hooked") && !left("audit"));
    assert!(!user.path("home").exists(), "nothing was recorded");
}

#[test]
fn inputs_and_tags_change_what_would_run() {
    let user = user();
    let arguments =
        ["run", "ship.yaml", "--dry-run", "--json", "--set", "mode=release", "--include-tags"];
    let json = user.towpath(&[&arguments[..], &["release"]].concat()).exits(0).json();
    assert_eq!((&json["schema"], &json["dry_run"]), (&json!(1), &json!(true)));
    let statuses: Vec<&str> =
        json["steps"].as_array().unwrap().iter().map(|s| s["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["runs", "runs", "unknown", "runs", "runs", "never"]);
    assert_eq!(json["steps"][0]["text"], "touch ran && echo built for release");
    assert_eq!(json["steps"][2]["unknown"], json!(["build"]));
    assert_eq!(json["steps"][3]["children"][1]["status"], "runs");
    assert_eq!(json["summary"]["runs"], 4);
    assert_eq!(json["problems"][0]["code"], "never-runs");
}

#[test]
fn of_a_called_machine_only_the_first_step_is_sure() {
    let step = |name: &str| {
        format!(
            "  {name}: {{command: 'true', outcomes: [success, failure], onOutcome: {{success: {{action: exit, reason: r}}, failure: {{action: exit, reason: r}}}}}}\n"
        )
    };
    let machine = format!(
        "id: m\nlabel: L\ndescription: d\nguardrails: {{}}\ninitialStep: a\nsteps:\n{}{}",
        step("a"),
        step("orphan")
    );
    let user = User::new()
        .file("m.yaml", &machine)
        .file("r.yaml", "name: r\nsteps:\n  - {id: call, recipe: m}\n  - {id: after, command: 'echo {{call.reason}}'}\n");
    let json = user.towpath(&["run", "r.yaml", "--dry-run", "--json"]).exits(0).json();
    let reported = |step: &serde_json::Value| format!("{} {}", step["path"], step["status"]);
    let children = json["steps"][0]["children"].as_array().expect("a list");
    assert_eq!(
        children.iter().map(reported).collect::<Vec<_>>(),
        ["\"call/a\" \"runs\"", "\"call/orphan\" \"never\""]
    );
    assert_eq!(json["steps"][1]["unknown"], serde_json::json!(["call.reason"]));
}

#[test]
fn a_bad_recipe_and_a_missing_input_are_exit_2() {
    let user = user().file("typo.yaml", "name: t\nsteps:\n  - id: a\n    comand: echo\n");
    user.towpath(&["run", "typo.yaml", "--dry-run"]).exits(2).reports("did you mean `command`?");
    let printed = user.towpath(&["run", "checks.yaml", "--dry-run"]).exits(2);
    let printed = printed.reports("the recipe needs a value for `what`");
    assert_eq!(printed.stdout, "");
    user.towpath(&["run", "checks.yaml", "--dry-run", "--set", "what=x"]).exits(0);
}

#[test]
fn what_would_fail_for_certain_is_reported_and_what_follows_never_runs() {
    let recipe = "
name: sum
context: { n: three }
steps:
  - { id: add, command: \"echo $(( {{n}} + 1 ))\" }
  - { id: after, command: echo }
";
    let user = User::new().file("sum.yaml", recipe);
    let printed = user.towpath(&["run", "sum.yaml", "--dry-run"]).exits(0);
    assert!(printed.stdout.contains("fails  add"), "{}", printed.stdout);
    assert!(printed.stdout.contains("must be an integer"), "{}", printed.stdout);
    assert!(printed.stdout.contains("`add` before it always fails"), "{}", printed.stdout);
    user.towpath(&["run", "sum.yaml"]).exits(1);
}

#[test]
fn an_agent_program_that_is_missing_is_reported_before_the_run_needs_it() {
    let recipe = "name: ask\nsteps:\n  - { id: ask, prompt: look }\n";
    let user = User::new().file("ask.yaml", recipe);
    let mut command = user.command(&["run", "ask.yaml", "--dry-run"]);
    command.env("PATH", "/nowhere").env_remove("CLAUDE_CLI_PATH");
    let printed = crate::support::Printed::from(command.output().unwrap()).exits(0);
    printed.reports("warning: `claude` was not found");
}

#[test]
fn steps_that_can_never_run_are_warnings_with_their_location() {
    let recipe = "
name: r
steps:
  - id: off
    condition: \"1 > 2 and x\"
    command: echo
  - id: wrong
    condition: \"int('x') == 1\"
    command: echo
";
    let user = User::new().file("r.yaml", recipe);
    let json = user.towpath(&["validate", "r.yaml", "--json"]).exits(0).json();
    let found: Vec<(&str, u64)> = json["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| (p["code"].as_str().unwrap(), p["line"].as_u64().unwrap()))
        .collect();
    assert_eq!(found, [("never-runs", 5), ("always-fails", 8)]);
    user.towpath(&["validate", "r.yaml", "--strict"]).exits(2);
    let explained = user.towpath(&["explain", "r.yaml", "--json"]).exits(0).json();
    assert_eq!(explained["problems"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_dry_run_of_a_machine_shows_its_steps_and_transitions() {
    let user = User::new().file("ship.yaml", explain::SHIP);
    let printed = user.towpath(&["run", "ship.yaml", "--dry-run"]).exits(0);
    assert_eq!(
        printed.stdout,
        "ship · dry run · work

  runs     test  bash   make test
           success → ship · failure → fix
  may run  fix   agent  Fix what the tests found.
           depends on what the steps before it report
           complete → test · stuck → exit needs-help · other → fail user-provided-other
  may run  ship  agent  Ship it.
           depends on what the steps before it report
           shipped → exit shipped · next → restart ship · other → fail user-provided-other

1 of 3 steps would run · 2 may run (fix, ship) · nothing was run
"
    );
    let json = user.towpath(&["run", "ship.yaml", "--dry-run", "--json"]).exits(0).json();
    assert_eq!((&json["dry_run"], &json["machine"]["initial"]), (&json!(true), &json!("test")));
    assert!(!user.has_journal(), "a dry run leaves nothing");
}
