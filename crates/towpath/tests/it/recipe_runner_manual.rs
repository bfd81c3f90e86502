//! Every example that the documentation of the step format prints, typed in by a new user of
//! `recipe-runner-rs`, who must see what that documentation shows they see. Programs that the examples
//! only name (`cargo`, `curl`, deploy scripts) are small scripts on the path.

mod conditions;
mod tutorials_and_patterns;
mod typed_command_lines;

use crate::support::{Printed, User};

/// A program of the user's own: on their path, and as `./NAME` too.
fn program(user: &User, name: &str, body: &str) {
    let file = if name.contains('/') { name.to_owned() } else { format!("bin/{name}") };
    user.program(&format!("work/{file}"), &format!("#!/bin/sh\n{body}\n"));
}

fn runner(user: &User, arguments: &[&str]) -> Printed {
    let mut all = vec!["as", "recipe-runner-rs"];
    all.extend(arguments);
    with_path(user, &all)
}

fn with_path(user: &User, arguments: &[&str]) -> Printed {
    let mut command = user.command(arguments);
    let path = std::env::var("PATH").unwrap_or_default();
    let own = user.path("work/bin");
    command.env("PATH", format!("{}:{path}", own.display()));
    Printed::from(command.output().expect("towpath starts"))
}

/// A run whose agents are scripted; the other name has no flag for that.
fn scripted(user: &User, arguments: &[&str], answers: &str) -> Printed {
    user.write("answers.jsonl", answers);
    let mut all = vec!["run"];
    all.extend(arguments);
    all.extend(["--script", "answers.jsonl", "--calls", "calls.jsonl"]);
    with_path(user, &all)
}

fn calls(user: &User) -> Vec<serde_json::Value> {
    let text = user.read("calls.jsonl");
    text.lines().map(|line| serde_json::from_str(line).expect("a call is JSON")).collect()
}

const HELLO: &str = r#"name: "hello-world"
description: "A minimal recipe to verify your setup"
version: "1.0.0"
context:
  greeting: "Hello from the Recipe Runner!"
steps:
  - id: "greet"
    command: "echo '{{greeting}}'"
"#;

#[test]
fn the_first_recipe_prints_its_greeting() {
    let user = User::new().file("hello.yaml", HELLO);
    runner(&user, &["hello.yaml"]).exits(0).shows("Hello from the Recipe Runner!\n");
    let other = ["hello.yaml", "--set", "greeting=Howdy, partner!"];
    runner(&user, &other).exits(0).shows("Howdy, partner!\n");
    let dry = runner(&user, &["hello.yaml", "--dry-run"]).exits(0);
    assert!(dry.stdout.contains("greet"), "{}", dry.stdout);
}

#[test]
fn an_agent_step_feeds_a_condition() {
    let recipe = r#"name: "analyze-project"
description: "Analyze a codebase with an AI agent"
version: "1.0.0"
context:
  repo_path: "."
steps:
  - id: "analyze"
    agent: "amplihack:core:architect"
    prompt: "Analyze the project at {{repo_path}} and summarize its structure"
    output: "analysis"
    parse_json: true
  - id: "report"
    command: "echo 'Analysis complete'"
    condition: "analysis"
"#;
    let user = User::new().file("analyze.yaml", recipe);
    let answers = "{\"text\":\"{\\\"modules\\\": 3}\"}\n";
    scripted(&user, &["analyze.yaml"], answers).exits(0).shows("Analysis complete\n");
    let call = &calls(&user)[0];
    assert!(call["prompt"].as_str().unwrap().starts_with("Analyze the project at . and summarize"));
    assert!(call["system"].as_str().is_some_and(|text| text.len() > 200), "the agent's own prompt");
    let empty = scripted(&user, &["analyze.yaml"], "\"{}\"\n").exits(0);
    empty.reports("report: condition false");
}

#[test]
fn the_type_of_a_step_follows_from_its_fields() {
    let recipe = r#"name: types
context: {file: a.rs, diff: "+x"}
steps:
  - id: build
    command: cargo build --release
  - id: review
    agent: code-reviewer
    prompt: "Review {{file}}"
  - id: summarise
    prompt: "Summarise the changes in {{diff}}"
  - id: deploy
    recipe: deploy-production
    context:
      env: staging
  - id: special
    type: bash
    prompt: "This prompt is ignored because type is bash"
    command: echo "explicit wins"
"#;
    let called = "name: deploy-production\nsteps:\n  - {id: go, command: 'echo to {{env}}'}\n";
    let user = User::new().file("types.yaml", recipe).file("deploy-production.yaml", called);
    program(&user, "cargo", "echo cargo $*");
    let printed = scripted(&user, &["types.yaml"], "\"fine\"\n\"short\"\n").exits(0);
    let expected = "cargo build --release\nfine\nshort\nto staging\nexplicit wins\n";
    assert_eq!(printed.stdout, expected, "{}", printed.stderr);
    let prompts: Vec<String> =
        calls(&user).iter().map(|call| call["prompt"].as_str().unwrap().to_owned()).collect();
    assert!(prompts[0].starts_with("Review a.rs\n") && prompts[1].contains("changes in +x"));
}

#[test]
fn placeholders_take_variables_and_their_parts() {
    let recipe = r#"name: placeholders
context:
  project: my-app
  branch: main
  tests_passed: "true"
  deploy:
    target: production
    region: us-east-1
steps:
  - id: greet
    command: echo "Building {{project}} on {{branch}}"
  - id: parts
    command: ./deploy.sh --target {{deploy.target}} --region {{deploy.region}}
  - id: guarded
    condition: "branch == 'main' and tests_passed == 'true'"
    command: ./deploy.sh
"#;
    let user = User::new().file("placeholders.yaml", recipe);
    program(&user, "./deploy.sh", "echo deploy \"$@\"");
    let printed = runner(&user, &["placeholders.yaml"]).exits(0);
    printed
        .shows("Building my-app on main\n")
        .shows("deploy --target production --region us-east-1\n")
        .shows("deploy\n");
    let set = ["placeholders.yaml", "--set", "tests_passed=true"];
    runner(&user, &set).exits(0).shows("deploy\n");
}

#[test]
fn json_of_a_service_is_read_and_may_be_required() {
    let recipe = r#"name: config
steps:
  - id: get-config
    command: curl -s https://api.example.com/config
    output: api_config
    parse_json: true
  - id: use-config
    command: echo "Region is {{api_config.region}}"
"#;
    let strict =
        recipe.replace("parse_json: true", "parse_json: true\n    parse_json_required: true");
    let user = User::new().file("config.yaml", recipe).file("strict.yaml", &strict);
    program(&user, "curl", "echo '{\"region\": \"eu\"}'");
    runner(&user, &["config.yaml"]).exits(0).shows("Region is eu\n");
    runner(&user, &["strict.yaml"]).exits(0).shows("Region is eu\n");
    program(&user, "curl", "echo 502 Bad Gateway");
    let printed = runner(&user, &["config.yaml"]).exits(0);
    assert!(
        printed.stdout.contains("degraded") || printed.stderr.contains("degraded"),
        "{printed:?}"
    );
    let printed = runner(&user, &["strict.yaml"]).exits(1);
    assert!(!printed.stdout.contains("Region"), "the recipe stops: {printed:?}");
}

#[test]
fn a_failed_recipe_is_recovered_by_an_agent() {
    let user = User::new()
        .file("r.yaml", "name: r\nsteps:\n  - id: deploy\n    recipe: deploy-to-staging\n    recovery_on_failure: true\n  - {id: after, command: echo continued}\n")
        .file("deploy-to-staging.yaml", "name: deploy-to-staging\nsteps:\n  - {id: push, command: exit 1}\n");
    scripted(&user, &["r.yaml"], "\"did it\\nSTATUS: COMPLETE\"\n").exits(0).shows("continued\n");
    scripted(&user, &["r.yaml"], "\"could not\"\n").exits(1);
}

#[test]
fn a_model_is_handed_to_the_agent() {
    let recipe = r#"name: models
context: {file_path: a.py}
steps:
  - id: quick-check
    agent: reviewer
    prompt: "Quick lint check on {{file_path}}"
    model: haiku # fast, cheap model for simple tasks
  - id: deep-review
    agent: reviewer
    prompt: "Thorough security review of {{file_path}}"
    model: sonnet # more capable model for complex analysis
"#;
    let user = User::new().file("models.yaml", recipe);
    scripted(&user, &["models.yaml"], "\"a\"\n\"b\"\n").exits(0);
    let models: Vec<_> = calls(&user).iter().map(|call| call["model"].clone()).collect();
    assert_eq!(models, ["haiku", "sonnet"]);
}

const BUILD: &str = r#"name: build-and-test
version: "1.0"
description: Build the project and run tests
author: dev-team
tags: [ci, build]
context:
  build_mode: release
steps:
  - id: clean
    command: cargo clean
  - id: build
    command: cargo build --{{build_mode}}
  - id: test
    command: cargo test --{{build_mode}}
    output: test_results
  - id: report
    command: echo "Tests complete. Results {{test_results}}"
"#;

#[test]
fn a_recipe_of_shell_steps_builds_and_tests() {
    let user = User::new().file("build.yaml", BUILD);
    program(&user, "cargo", "echo ran $*");
    let printed = runner(&user, &["build.yaml", "--progress"]).exits(0);
    printed
        .shows("Tests complete. Results ran test --release\n")
        .reports("[step:start] clean (1/4)\n")
        .reports("[step:complete] clean (1/4) — ok\n")
        .reports("[step:start] report (4/4)\n[step:complete] report (4/4) — ok\n");
}

#[test]
fn a_review_gates_what_follows() {
    let recipe = r#"name: code-review-workflow
version: "1.0"
description: Automated code review with AI agents
context:
  target_branch: main
steps:
  - id: get-diff
    command: git diff {{target_branch}} --stat
    output: diff_summary
  - id: review
    agent: code-reviewer
    prompt: |
      Review the following changes against {{target_branch}}:
      {{diff_summary}}
      Focus on correctness, security, and performance.
    output: review_result
    parse_json: true
  - id: check-approved
    condition: "review_result.approved == true"
    command: echo "Review passed"
  - id: request-changes
    condition: "review_result.approved != true"
    command: echo "Changes requested — see review_result.comments"
"#;
    let user = User::new().file("review.yaml", recipe);
    program(&user, "git", "echo ' a.rs | 2 +-'");
    let yes = scripted(&user, &["review.yaml", "--no-auto-stage"], r#""{\"approved\": true}""#);
    yes.exits(0).shows("Review passed\n").reports("request-changes: condition false");
    assert!(calls(&user)[0]["prompt"].as_str().unwrap().contains("main:\n a.rs | 2 +-\n"));
    let no = scripted(&user, &["review.yaml", "--no-auto-stage"], r#""{\"approved\": false}""#);
    no.exits(0).shows("Changes requested — see review_result.comments\n");
}

#[test]
fn smaller_recipes_compose_into_a_pipeline() {
    let recipe = r#"name: full-pipeline
version: "2.0"
description: End-to-end pipeline composing smaller recipes
context:
  environment: staging
steps:
  - id: lint
    recipe: lint-check
  - id: build
    recipe: build-project
    context:
      build_mode: release
      target: "{{environment}}"
  - id: deploy
    recipe: deploy-service
    context:
      env: "{{environment}}"
      version: "{{build.version}}"
    condition: "environment != 'local'"
"#;
    let build = "name: build-project\nsteps:\n  - {id: make, command: 'echo {{build_mode}} for {{target}}'}\n  - {id: number, command: echo 1.10, output: version}\n";
    let user = User::new()
        .file("pipeline.yaml", recipe)
        .file("lint-check.yaml", "name: lint-check\nsteps:\n  - {id: l, command: echo linted}\n")
        .file("build-project.yaml", build)
        .file("deploy-service.yaml", "name: deploy-service\nsteps:\n  - {id: d, command: 'echo deploy {{version}} to {{env}}'}\n");
    let printed = runner(&user, &["pipeline.yaml"]).exits(0);
    printed.shows("release for staging\n").shows("deploy 1.10 to staging\n");
    let local = runner(&user, &["pipeline.yaml", "--set", "environment=local"]).exits(0);
    assert!(!local.stdout.contains("deploy 1.10"), "{}", local.stdout);
}

#[test]
fn tags_hooks_and_limits_guard_a_pipeline() {
    let recipe = r#"name: guarded-pipeline
version: "1.0"
description: Pipeline with lifecycle hooks and safety limits
author: platform-team
tags: [production, safe]
recursion:
  max_depth: 3
  max_total_steps: 50
hooks:
  pre_step: echo "[$(date -Iseconds)] Starting step"
  post_step: echo "[$(date -Iseconds)] Finished step"
  on_error: |
    echo "FAILED — sending alert"
    curl -s -X POST https://alerts.example.com/hook \
    -d '{"step": "failed", "recipe": "guarded-pipeline"}'
context:
  notify: true
steps:
  - id: preflight
    command: ./scripts/preflight-check.sh
  - id: migrate
    command: ./scripts/migrate.sh
    when_tags: [database]
  - id: deploy
    command: ./scripts/deploy.sh
    when_tags: [deploy]
  - id: smoke-test
    command: ./scripts/smoke-test.sh
    timeout: 120
    when_tags: [deploy]
  - id: notify
    condition: "notify == 'true'"
    command: echo "Pipeline complete"
"#;
    let user = User::new().file("guarded.yaml", recipe);
    for name in ["preflight-check", "migrate", "deploy", "smoke-test"] {
        program(&user, &format!("./scripts/{name}.sh"), &format!("echo {name} ran"));
    }
    program(&user, "curl", "echo alert \"$@\" >> alerts");
    let plain = runner(&user, &["guarded.yaml"]).exits(0);
    assert!(plain.stderr.contains("] Starting step"), "{}", plain.stderr);
    assert!(plain.stdout.contains("preflight-check ran\n"), "{}", plain.stdout);
    assert!(plain.stdout.contains("Pipeline complete\n"), "{}", plain.stdout);
    assert!(!plain.stdout.contains("migrate ran") && !plain.stdout.contains("deploy ran"));
    let deploys = runner(&user, &["guarded.yaml", "--include-tags", "deploy"]).exits(0);
    deploys.shows("deploy ran\nsmoke-test ran\n");
    program(&user, "./scripts/preflight-check.sh", "exit 7");
    runner(&user, &["guarded.yaml"]).exits(1);
    assert!(user.read("alerts").contains("guarded-pipeline"), "the hook has sent an alert");
}

#[test]
fn checks_continue_after_failures_and_are_summed_up() {
    let recipe = r#"name: resilient-checks
version: "1.0"
description: Run multiple checks, collecting results even on failures
context:
  strict: false
steps:
  - id: lint
    command: cargo clippy -- -D warnings
    output: lint_result
    continue_on_error: true
  - id: test
    command: cargo test 2>&1
    output: test_result
    continue_on_error: true
  - id: audit
    command: cargo audit
    output: audit_result
    continue_on_error: true
  - id: gate
    condition: "strict == 'true'"
    command: |
      echo "Lint: {{lint_result}}"
      echo "Test: {{test_result}}"
      echo "Audit: {{audit_result}}"
      # Fail the pipeline in strict mode if any check failed
      exit 1
  - id: summary
    condition: "strict != 'true'"
    command: |
      echo "=== Check Summary ==="
      echo "Lint: {{lint_result}}"
      echo "Test: {{test_result}}"
      echo "Audit: {{audit_result}}"
      echo "Non-strict mode — pipeline continues"
"#;
    let user = User::new().file("checks.yaml", recipe);
    program(&user, "cargo", "echo $1 answered no; [ $1 != clippy ]");
    let printed = runner(&user, &["checks.yaml"]).exits(0);
    printed.shows(
        "=== Check Summary ===\nLint: clippy answered no\nTest: test answered no\nAudit: audit answered no\n",
    );
    runner(&user, &["checks.yaml", "--set", "strict=true"]).exits(1);
}

#[test]
fn values_that_are_set_get_their_types() {
    let recipe = r#"name: set
steps:
  - {id: object, condition: "config.port == 8080", command: 'echo "port {{config.port}}"'}
  - {id: list, condition: "'web' in tags", command: 'echo "tags {{tags}}"'}
  - {id: yes, condition: "release == true", command: echo release}
  - {id: no, condition: "not skip_tests", command: echo tests}
  - {id: whole, condition: "workers > 7", command: 'echo "workers {{workers}}"'}
  - {id: zero, condition: "retries == 0", command: echo no retries}
  - {id: part, condition: "threshold < 1", command: 'echo "threshold {{threshold}}"'}
  - {id: text, condition: "branch == 'main'", command: 'echo "{{message}}"'}
"#;
    let user = User::new().file("set.yaml", recipe);
    let mut arguments = vec!["set.yaml"];
    for set in [
        r#"config={"host": "localhost", "port": 8080}"#,
        r#"tags=["web", "api"]"#,
        "release=true",
        "skip_tests=false",
        "workers=8",
        "retries=0",
        "threshold=0.95",
        "learning_rate=0.001",
        "branch=main",
        "message=deploy to production",
    ] {
        arguments.extend(["--set", set]);
    }
    let printed = runner(&user, &arguments).exits(0);
    for line in [
        "port 8080\n",
        "tags [\"web\",\"api\"]\n",
        "release\n",
        "tests\n",
        "workers 8\n",
        "no retries\n",
        "threshold 0.95\n",
        "deploy to production\n",
    ] {
        assert!(printed.stdout.contains(line), "{line}: {}", printed.stdout);
    }
}

#[test]
fn a_plan_is_explained_with_agents_commands_and_conditions() {
    let recipe = "name: deploy\nversion: 1.2.0\ncontext: {run_tests: true}\nsteps:\n  - {id: build, command: cargo build --release}\n  - {id: test, condition: run_tests == true, command: cargo test}\n  - {id: review, agent: tester, prompt: look}\n  - {id: deploy, command: ./scripts/deploy.sh, when_tags: [release]}\n";
    let user = User::new().file("deploy.yaml", recipe);
    let printed = runner(&user, &["deploy.yaml", "--explain"]).exits(0);
    for part in [
        "Recipe: deploy",
        "Version: 1.2.0",
        "1. build",
        "Command: cargo build --release",
        "2. test",
        "run_tests == true",
        "Agent: tester",
        "4. deploy",
        "release",
    ] {
        assert!(printed.stdout.contains(part), "{part}: {}", printed.stdout);
    }
    let valid = runner(&user, &["deploy.yaml", "--validate-only"]).exits(0);
    assert!(valid.stdout.contains("is valid (4 steps)"), "{}", valid.stdout);
}

#[test]
fn results_are_json_for_scripts_and_audited() {
    let recipe = "name: deploy\nsteps:\n  - {id: good, command: echo fine}\n  - {id: bad, command: 'echo oh >&2; exit 3', continue_on_error: true}\n  - {id: off, command: x, condition: 'false'}\n";
    let user = User::new().file("deploy.yaml", recipe);
    let flags = ["deploy.yaml", "--output-format", "json", "--audit-dir", "audit-logs"];
    let printed = runner(&user, &flags).exits(0);
    let json = printed.json();
    let failed: Vec<_> = json["steps"]
        .as_array()
        .expect("steps, for `.steps[] | select(.status == \"failed\")`")
        .iter()
        .filter(|step| step["status"] == "failed")
        .collect();
    assert_eq!(failed.len(), 1);
    assert!(!json["summary"].is_null() && json["context"].is_null(), "{json}");
    assert_eq!(json["step_results"][0]["step_id"], "good");
    let mut logs = std::fs::read_dir(user.path("work/audit-logs")).expect("a folder");
    let log = logs.next().expect("one log").expect("an entry").path();
    assert!(logs.next().is_none(), "one file for one run");
    let name = log.file_name().expect("a name").to_string_lossy().into_owned();
    assert!(name.starts_with("deploy_20") && name.ends_with(".jsonl"), "{name}");
    let lines = std::fs::read_to_string(log).expect("a log");
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    let statuses: Vec<&str> = lines.iter().map(|l| l["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["Completed", "Failed", "Skipped"]);
    assert_eq!((&lines[0]["step_id"], &lines[0]["output_len"]), (&"good".into(), &4.into()));
    assert!(lines[0]["error"].is_null() && lines[0]["duration_ms"].is_number());
    assert!(lines[0]["run_id"].is_string() && lines[0]["timestamp"].is_string());
}

#[test]
fn hooks_know_their_step() {
    let recipe = r#"name: hooks
hooks:
  pre_step: "echo 'Starting step {{step_id}}'"
  post_step: "echo 'Completed step {{step_id}}'"
  on_error: "notify-send 'Step {{step_id}} failed'"
steps:
  - {id: good, command: echo fine}
  - {id: bad, command: exit 1}
"#;
    let user = User::new().file("hooks.yaml", recipe);
    program(&user, "notify-send", "echo \"$1\" > notified");
    let printed = runner(&user, &["hooks.yaml"]).exits(1);
    assert!(printed.stderr.contains("Starting step good\n"), "{}", printed.stderr);
    assert!(printed.stderr.contains("Completed step good\n"), "{}", printed.stderr);
    assert_eq!(user.read("notified"), "Step bad failed\n");
}

#[test]
fn directories_are_searched_in_their_order_and_codes_report_what_happened() {
    let named = |text: &str| format!("name: mine\nsteps:\n  - {{id: a, command: echo {text}}}\n");
    let user = User::new()
        .file("one/mine.yaml", &named("one"))
        .file("two/mine.yaml", &named("two"))
        .file("broken.yaml", "name: broken\nsteps:\n  - {id: a, comand: x}\n")
        .file("fails.yaml", "name: fails\nsteps:\n  - {id: a, command: exit 9}\n");
    runner(&user, &["mine", "-R", "./one", "--recipe-dir", "./two"]).exits(0).shows("one\n");
    let list = runner(&user, &["list", "-R", "./one", "-R", "./two"]).exits(0);
    assert!(list.stdout.contains("mine") && list.stdout.contains("recipe(s) found."), "{list:?}");
    let mut command = user.command(&["as", "recipe-runner-rs", "mine"]);
    command.env("RECIPE_RUNNER_RECIPE_DIRS", "./two:./one");
    let printed = Printed::from(command.output().expect("towpath starts")).exits(0);
    printed.shows("two\n");
    runner(&user, &["fails.yaml"]).exits(1);
    runner(&user, &["broken.yaml"]).exits(2).reports("did you mean `command`?");
    runner(&user, &["nowhere"]).exits(2);
    runner(&user, &["broken.yaml", "--validate-only"]).exits(2);
}

/// What cannot work as it is printed is reported, with the right form.
#[test]
fn what_cannot_work_as_printed_is_reported() {
    let user = User::new()
        .file("hook.yaml", "name: h\nhooks:\n  on_error: \"echo 'Pipeline failed at step: $STEP_ID' >> pipeline.log\"\nsteps:\n  - {id: a, command: exit 1}\n")
        .file("slash.yaml", "name: s\ncontext: {path: '/home/x'}\nsteps:\n  - id: a\n    condition: \"path.replace('\\\\', '/').startswith('/home')\"\n    command: echo x\n")
        .file("number.yaml", "name: n\ncontext: {count: 42}\nsteps:\n  - {id: a, condition: \"str(count) == '42'\", command: echo equal}\n")
        .file("both.yaml", "name: b\nsteps:\n  - {id: build, agent: builder, command: cargo build --release}\n")
        .file("when.yaml", "name: w\ncontext: {run_tests: true}\nsteps:\n  - {id: test, condition: \"when context.run_tests == true\", command: echo x}\n")
        .file("context.yaml", "name: c\ncontext: {run_tests: true}\nsteps:\n  - {id: test, condition: \"context.run_tests == true\", command: echo x}\n");
    runner(&user, &["hook.yaml"]).exits(1).reports("use double quotes, or write {{step_id}}");
    let slash = runner(&user, &["slash.yaml"]).exits(2);
    assert!(
        slash.stderr.contains("\\\\\\\\") || slash.stderr.contains("backslash"),
        "{}",
        slash.stderr
    );
    runner(&user, &["number.yaml"]).exits(0).shows("equal\n");
    runner(&user, &["both.yaml", "--explain"])
        .exits(2)
        .reports("add `type: agent` or `type: bash`");
    runner(&user, &["when.yaml", "--explain"]).exits(2).reports("leave it out");
    let printed = runner(&user, &["context.yaml", "--explain"]).exits(0);
    printed.reports("did you mean `run_tests`?");
}
