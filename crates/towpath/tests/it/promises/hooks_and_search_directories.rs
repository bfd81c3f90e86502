//! Hooks of a recipe, and the directories in which recipes are looked for.

use super::no_network_or_leftover_files::HELLO;
use super::runner;
use crate::support::User;

#[test]
fn hooks_know_their_step_report_when_they_fail_and_leave_skipped_steps_alone() {
    let recipe = r#"name: r
hooks:
  pre_step: echo "before $STEP_ID {{step_id}}"
  post_step: exit 5
  on_error: echo "after $STEP_ID $STEP_STATUS {{error}}"
steps:
  - {id: off, command: echo, condition: "false"}
  - {id: tagged, command: echo, when_tags: [release]}
  - {id: good, command: echo out; echo err >&2}
  - {id: bad, command: exit 3}
"#;
    let user = User::new().file("r.yaml", recipe);
    let printed = runner(&user, &["r.yaml"]).exits(1).shows("\nout\n").reports("err\n");
    let printed =
        printed.reports("before good good\n").reports("good: post_step hook failed: exit 5");
    let printed = printed.reports("after bad failed exit 3\n");
    assert!(!printed.stderr.contains("before off") && !printed.stderr.contains("before tagged"));
}

#[test]
fn the_usual_directories_are_searched_beside_those_that_are_given() {
    let user = User::new()
        .file("recipes/usual.yaml", &HELLO.replace("echo hello", "echo from the usual directory"))
        .file("given/other.yaml", HELLO);
    runner(&user, &["usual", "-R", "given"]).exits(0).shows("\nfrom the usual directory\n");
    runner(&user, &["list", "-R", "given"]).exits(0).shows("\nusual ").shows("other ");
}
