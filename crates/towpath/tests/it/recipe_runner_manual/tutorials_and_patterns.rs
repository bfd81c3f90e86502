//! What ships and is run by the commands that the pages print: the tutorials, and the release that is
//! made of three patterns, as it is on its page.

use super::{program, runner, with_path};
use crate::support::{Printed, User};
use std::fs;
use std::path::Path;

/// Copies a folder of the repository beside the user's files.
fn copied(user: &User, folder: &str) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    for entry in fs::read_dir(from).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        if name.ends_with(".yaml") && !name.ends_with(".test.yaml") {
            let text = fs::read_to_string(&path).expect("a recipe");
            user.write(&format!("{folder}/{name}"), &text);
        }
    }
}

#[test]
fn every_tutorial_runs_by_its_own_command() {
    let user = User::new();
    copied(&user, "examples/tutorials");
    for (line, shown) in [
        ("01-hello-world.yaml", "\nHello, world\n"),
        ("02-variables.yaml", "\nversion 1.10 keeps its zero\n"),
        ("03-conditions.yaml", "[skipped] deploy-production -- condition false\n"),
        ("04-multi-step-pipeline.yaml", "\n3 kinds of fruit:\napple\nfig\npear\n"),
        ("05-working-directories.yaml", "\nbuild/api/result.txt\nbuild/web/result.txt\n"),
        ("06-parse-json.yaml", "\nshop listens on 443, cpu 0.25\n"),
        ("07-error-handling.yaml", "\nlint ended with 3 and printed: 2 warnings\n"),
        ("08-hooks.yaml", "[failed] lint"),
        ("09-tags.yaml --include-tags fast", "\nunit tests\nsmoke test\n"),
        ("10-parallel-groups.yaml", "\nleft met right, right met left\n"),
        ("11-extends.yaml", "\nbuilding shop as final\nchecking links and spelling\n"),
        ("12-recursion-limits.yaml", "[completed] again/print"),
        ("13-timeouts.yaml", "\nslow failed; it printed: started\n"),
        ("14-dry-run.yaml --dry-run", "nothing was run\n"),
    ] {
        let line = format!("examples/tutorials/{line}");
        let arguments: Vec<&str> = line.split(' ').collect();
        runner(&user, &arguments).exits(0).shows(shown);
    }
}

const SHIP: &str = r#"name: "ship-release"
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
  # ── Stage 2: Parallel code reviews ──
  - id: "security-review"
    agent: "amplihack:security"
    parallel_group: "reviews"
    prompt: "Review {{repo_path}} for security vulnerabilities."
    output: "security_findings"
  - id: "architecture-review"
    agent: "amplihack:architect"
    parallel_group: "reviews"
    prompt: "Review {{repo_path}} for architectural issues."
    output: "arch_findings"
  # ── Stage 3: Quality gate (sub-recipe, conditional) ──
  - id: "quality-gate"
    recipe: "quality-audit"
    condition: "ci_result and 'PASS' in ci_result"
    context:
      repo_path: "{{repo_path}}"
    output: "audit_result"
  # ── Stage 4: Deploy (tagged — only runs with --include-tags release) ──
  - id: "deploy"
    recipe: "deploy-pipeline"
    when_tags: ["release"]
    condition: "'PASS' in audit_result"
    context:
      repo_path: "{{repo_path}}"
      environment: "{{environment}}"
    output: "deploy_result"
  # ── Notification ──
  - id: "notify"
    command: |
      echo "Release pipeline complete."
      echo "CI: {{ci_result}}"
      echo "Audit: {{audit_result}}"
      echo "Deploy: {{deploy_result}}"
"#;

/// Each review ends only when the other one has begun.
const REVIEWS: &str = r#"{"match":"security vulnerabilities","text":"no way in","run":"touch ../one; until [ -e ../two ]; do sleep 0.02; done"}
{"match":"architectural issues","text":"sound","run":"touch ../two; until [ -e ../one ]; do sleep 0.02; done"}
"#;

const MAKEFILE: &str = "lint: ; @! grep -rn BAD src\ntest: ; @sh test.sh\n\
                        build: ; @echo app > app.bin\nintegration-test: ; @test -s app.bin\n";

/// A repository with everything committed, and the release beside the patterns that it is made of.
fn shop() -> User {
    let user = User::new()
        .file("Makefile", MAKEFILE)
        .file("src/a.txt", "good\n")
        .file("test.sh", "echo 3 passed\n")
        .file(".gitignore", "app.bin\n*.log\nexamples\n");
    copied(&user, "examples/patterns");
    user.write("examples/patterns/ship.yaml", SHIP);
    user.write("../answers.jsonl", REVIEWS);
    for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "first"]] {
        user.git("work", arguments);
    }
    user
}

fn ships(user: &User, flags: &[&str]) -> Printed {
    let fixed = ["run", "examples/patterns/ship.yaml", "--script", "../answers.jsonl"];
    with_path(user, &[&fixed, flags].concat())
}

#[test]
fn patterns_combine_into_a_release() {
    let user = shop();
    let printed = ships(&user, &[]).exits(0);
    let printed =
        printed.shows("Release pipeline complete.\nCI: PASS ci ").shows("\nAudit: PASS quality");
    let printed = printed
        .reports("deploy: needs tag release")
        .reports("use double quotes, or write {{step_id}}");
    assert!(printed.stdout.ends_with("\nDeploy: \n"), "{}", printed.stdout);
    let deploy = ["--set", "deploy_command=cp app.bin staging.bin"];
    let smoke = ["--set", "smoke_command=test -s staging.bin", "--set", "promote_command=true"];
    let release = ["--include-tags", "release"];
    let printed = ships(&user, &[&deploy[..], &smoke, &release].concat()).exits(0);
    printed.shows("\nDeploy: DEPLOYED ");
    assert_eq!(user.read("staging.bin"), "app\n");
}

#[test]
fn a_release_stops_where_its_tests_fail_and_its_hook_is_marked() {
    let user = shop();
    program(&user, "./test.sh", "exit 1");
    let printed = ships(&user, &["--include-tags", "release"]).exits(1).reports("at step ci/test");
    assert!(!printed.stdout.contains("no way in"), "nobody reviews it: {}", printed.stdout);
    assert_eq!(user.read("pipeline.log"), "Pipeline failed at step: $STEP_ID\n", "as bash has it");
}
