//! What a run offers after it has ended: the resume that helps, and the count of what ran now.

use crate::support::{Printed, Signal, User, signal, until, with_script};
use std::process::Stdio;

const RELEASE: &str = "name: release\nsteps:\n  - {id: build, command: echo built}\n  \
                       - {id: upload, command: \"test -e fixed\"}\n  - {id: announce, command: echo out}\n";

fn failed() -> User {
    let user = User::new().file("release.yaml", RELEASE);
    user.towpath(&["run", "release.yaml"]).exits(1);
    user
}

#[test]
fn the_counts_after_a_resume_are_of_this_part() {
    let user = failed();
    let again = user.towpath(&["resume"]).exits(1);
    again.reports("  1 of 3 steps done, 1 ran now · 1 not reached\n");
    user.write("fixed", "");
    let printed = user.towpath(&["resume"]).exits(0);
    assert!(printed.stderr.ends_with(" · 3 of 3 steps done, 2 ran now\n"), "{}", printed.stderr);
    let run = user.run().to_string();
    let json = user.towpath(&["resume", &run, "--again", "announce", "--json"]).exits(0).json();
    assert_eq!(json["summary"]["ran_now"], 1);
    assert_eq!(json["summary"]["ran"], 3, "of all parts of the run");
}

#[test]
fn a_step_that_may_run_only_once_is_asked_about_as_soon_as_the_run_was_stopped() {
    let recipe =
        "name: pay\nsteps:\n  - {id: pay, effect: once, command: touch began; sleep 600}\n";
    let user = User::new().file("pay.yaml", recipe);
    let mut command = user.command(&["run", "pay.yaml"]);
    let runner = command.stderr(Stdio::piped()).spawn().expect("towpath starts");
    until("the step runs", || user.path("work/began").exists());
    signal(&runner, Signal::INT);
    let ended = Printed::from(runner.wait_with_output().expect("it ends"));
    let run = user.run();
    let question = "was interrupted, and may run only once: did it do its work?\n";
    let answer = format!("yes: towpath resume {run} --done pay\n");
    for printed in [&ended.stderr, &user.towpath(&["show"]).stdout] {
        assert!(printed.contains(question) && printed.contains(&answer), "{printed}");
        assert!(!printed.contains("nothing is lost"), "{printed}");
    }
}

#[test]
fn a_first_run_counts_as_it_did() {
    let user = User::new().file("release.yaml", RELEASE).file("fixed", "");
    user.towpath(&["run", "release.yaml"]).exits(0).reports(" · 3 of 3 steps ran\n");
}

fn lines(printed: &Printed) -> Vec<&str> {
    let hints = ["nothing is lost", "after changing", "with the"];
    let lines = printed.stderr.lines().chain(printed.stdout.lines()).map(str::trim_start);
    lines.filter(|line| hints.iter().any(|hint| line.starts_with(hint))).collect()
}

#[test]
fn after_an_edit_the_edited_recipe_is_offered_first() {
    let user = failed();
    let run = user.run();
    let plain = format!("nothing is lost: towpath resume {run}");
    let change = format!("after changing the recipe: towpath resume {run} --edited");
    assert_eq!(lines(&user.towpath(&["show"])), [plain.as_str(), &change]);
    user.write("release.yaml", &RELEASE.replace("test -e fixed", "true"));
    let edited = format!("with the edited recipe: towpath resume {run} --edited");
    let recorded = format!("with the recipe as it was: towpath resume {run}");
    assert_eq!(lines(&user.towpath(&["show"])), [edited.as_str(), &recorded]);
    let json = user.towpath(&["show", "--json"]).json();
    assert_eq!(json["resume"], format!("towpath resume {run} --edited"));
    let again = user.towpath(&["resume"]).exits(1);
    assert_eq!(lines(&again), [edited.as_str(), &recorded]);
    user.write("release.yaml", &RELEASE.replace("test -e fixed", "test -e other"));
    let fresh = user.towpath(&["run", "release.yaml"]).exits(1);
    fresh.reports(&format!("to resume it: towpath resume {run} --edited\n"));
    user.towpath(&["resume", run.as_str(), "--edited"]).exits(1);
}

#[test]
fn an_edit_that_would_be_refused_is_not_offered() {
    let user = failed();
    let run = user.run();
    let recorded = format!("with the recipe as it was: towpath resume {run}");
    let changed_after_its_end = RELEASE.replacen("command: ", "command: true; ", 1);
    for text in [Some(changed_after_its_end.as_str()), Some("name: [\n"), None] {
        match text {
            Some(text) => user.write("release.yaml", text),
            None => std::fs::remove_file(user.path("work/release.yaml")).expect("it was there"),
        }
        assert_eq!(lines(&user.towpath(&["show"])), [recorded.as_str()]);
        user.towpath(&["resume"]).exits(1).reports("only a new run can use the new one\n");
    }
}

const MACHINE: &str = "
id: circle
label: Circle
description: Goes round
initialStep: look
guardrails: {maxStepVisits: 2}
steps:
  look:
    prompt: Look.
    outcomes: [more, done]
    onOutcome:
      more: {nextStep: look}
      done: {action: exit, reason: fine}
";

#[test]
fn after_a_guardrail_the_flag_that_raises_it_is_offered() {
    let answer = r#"{"text":"{\"outcome\":\"more\"}"}"#;
    let answers = format!("{answer}\n{answer}\n{answer}\n");
    let user = User::new().file("circle.yaml", MACHINE).file("answers.jsonl", &answers);
    let printed = user.towpath(&with_script(&["run", "circle.yaml"]));
    let run = user.run();
    let printed = printed.exits(3);
    assert_eq!(lines(&printed), [format!("nothing is lost: towpath resume {run} --max-visits 3")]);
}

#[test]
fn nothing_is_offered_where_no_resume_can_help() {
    let recipe = "name: sum\ncontext: {n: no number}\nsteps:\n  \
                  - {id: a, command: \"echo $(( {{n}} ))\"}\n";
    let user = User::new().file("sum.yaml", recipe);
    let printed = user.towpath(&["run", "sum.yaml"]).exits(1);
    let run = user.run();
    let change = format!("after changing the recipe: towpath resume {run} --edited");
    assert_eq!(lines(&printed), [change.as_str()], "the same value would end it again");
    assert_eq!(lines(&user.towpath(&["show"])), [change]);
}
