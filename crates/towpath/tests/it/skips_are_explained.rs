//! A step that was skipped because of a condition with a warning is named at the end of the run, and
//! `towpath show RUN STEP` shows what the condition read.

use crate::support::User;
use serde_json::json;

/// No step ever has the status `success`.
const STATUS: &str = "name: r
context: {env: prod}
steps:
  - {id: build, command: echo built}
  - {id: deploy, command: echo deployed, condition: env == 'prod' and steps.build.status == 'success'}
  - {id: after, command: echo later, output: env}
";

#[test]
fn the_end_of_a_run_names_a_skip_that_was_perhaps_not_meant() {
    let user = User::new().file("r.yaml", STATUS);
    let printed = user.towpath(&["run", "r.yaml"]).exits(0);
    let run = user.run();
    let end = printed.stderr.split("1 skipped (deploy: condition false)").nth(1).expect("its end");
    for words in [
        "deploy  was skipped, and its condition has a warning",
        "no step ever has the status `success`: this comparison is never true",
        "did you mean 'completed'?",
        &format!("what it compared: towpath show {run} deploy"),
    ] {
        assert!(end.contains(words), "{words}\n{}", printed.stderr);
    }
}

#[test]
fn also_after_a_failure_and_a_resume() {
    let failing = STATUS.replace("echo later", "test -e there");
    let user = User::new().file("r.yaml", &failing);
    let words = "deploy  was skipped, and its condition has a warning";
    user.towpath(&["run", "r.yaml"]).exits(1).reports(words);
    user.write("there", "");
    user.towpath(&["resume", user.run().as_str()]).exits(0).reports(words);
}

#[test]
fn a_skip_that_was_meant_is_only_counted() {
    let user = User::new().file("r.yaml", &STATUS.replace("'success'", "'failed'"));
    let printed = user.towpath(&["run", "r.yaml"]).exits(0);
    assert!(printed.stderr.contains("1 skipped (deploy: condition false)"), "{}", printed.stderr);
    assert!(!printed.stderr.contains("was skipped"), "{}", printed.stderr);
    let tagged = STATUS.replace("'success'}", "'success', when_tags: [release]}");
    let user = User::new().file("r.yaml", &tagged);
    let printed = user.towpath(&["run", "r.yaml"]).exits(0);
    assert!(!printed.stderr.contains("was skipped"), "{}", printed.stderr);
}

/// A later step has changed `env`: what is shown is what the condition read.
#[test]
fn show_prints_the_condition_with_the_values_that_it_read() {
    let user = User::new().file("r.yaml", STATUS);
    user.towpath(&["run", "r.yaml", "-q"]).exits(0);
    let run = user.run();
    let shown = user.towpath(&["show", run.as_str(), "deploy"]).exits(0);
    assert_eq!(
        shown.stdout,
        "deploy · skipped · condition false

condition
  env == 'prod' and steps.build.status == 'success'
    env                 \"prod\"
    steps.build.status  \"completed\"
  no step ever has the status `success`: this comparison is never true
  did you mean 'completed'?
  a step's status is completed, degraded, recovered, failed or skipped

bash
  echo deployed
"
    );
    let json = user.towpath(&["show", run.as_str(), "deploy", "--json"]).exits(0).json();
    assert_eq!(
        json["condition"]["values"],
        json!({ "env": "\"prod\"", "steps.build.status": "\"completed\"" })
    );
    assert_eq!(json["condition"]["warnings"][0]["code"], "unknown-status");
    user.towpath(&["show", run.as_str(), "deplo"]).exits(2).reports("did you mean `deploy`?");
}
