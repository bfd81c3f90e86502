//! `towpath test` for machines: what a case can be given, what it can expect, how a miss is reported, and
//! which changes nobody would notice.

use crate::support::{Printed, User};
use serde_json::json;

const MACHINE: &str = "id: fix
label: Fix
description: Looks and fixes
initialStep: look
guardrails: {}
context: { what: greeting.txt }
steps:
  look:
    prompt: Look at {{what}}.
    outcomes: [fine, broken, other]
    onOutcome:
      fine: { nextStep: check }
      broken: { nextStep: fix }
      other: { action: exit, reason: user-provided-other }
  fix:
    prompt: Fix it.
    model: haiku
    outcomes: [fixed, other]
    onOutcome:
      fixed: { action: restart-new-session, recipeId: fix }
      other: { action: exit, reason: user-provided-other }
  check:
    command: no-such-program
    outcomes: [success, failure]
    onOutcome:
      success: { action: exit, reason: checked }
      failure: { action: exit, reason: not-checked }
";

fn test(cases: &str, flags: &[&str]) -> Printed {
    let user = User::new().file("fix.yaml", MACHINE).file("fix.test.yaml", cases);
    user.towpath(&[&["test", "fix.yaml"], flags].concat())
}

/// One case, given in its keys.
fn case(keys: &str) -> Printed {
    let keys: String = keys.lines().map(|line| format!("    {line}\n")).collect();
    test(&format!("cases:\n  - name: it\n{keys}"), &[])
}

#[track_caller]
fn passes(keys: &str) {
    case(keys).exits(0);
}

#[track_caller]
fn misses(keys: &str, reported: &str) {
    let printed = case(keys).exits(1);
    let reported: String = reported.lines().map(|line| format!("      {line}\n")).collect();
    assert!(printed.stdout.contains(&reported), "{}", printed.stdout);
}

#[test]
fn a_case_can_expect_the_way_the_end_and_the_calls() {
    passes(
        "set: {what: notes.txt}
machine: {model: opus, max_restarts: 1, context: Only the words.}
agents:
  look: [{outcome: broken}, Hm., {answer: All is well., outcome: fine}]
  fix: {outcome: fixed, files: {notes.txt: Hello}}
stubs: {check: 'true'}
expect:
  ran: [look, fix, look, check]
  not_reached: []
  reason: checked
  restarts: 1
  printed: {fix: {contains: fixed}}
  prompts: {look: {contains: [Only the words., Look at notes.txt.], lacks: greeting}}
  files: {notes.txt: Hello}
  calls:
    - {step: look, kind: prompt, model: opus, session: new}
    - {step: fix, kind: prompt, model: haiku, session: resumed}
    - {step: look, kind: prompt, model: opus, session: new}
    - {step: look, kind: reminder, session: resumed}",
    );
}

#[test]
fn a_case_can_expect_every_other_end() {
    passes("agents: {look: {outcome: fine}}\nexpect: {ran: [look, check], reason: not-checked}");
    passes(
        "agents: {look: {outcome: other, description: dark}}
expect: {exit: 1, failed_at: look, reason: user-provided-other, description: {contains: dark},
  not_reached: [fix, check]}",
    );
    passes(
        "agents: {look: [Hm., Hm.]}
expect: {failed_at: look, exit: 1, reason: orchestration-error, calls: 2}",
    );
    passes(
        "machine: {max_steps: 1}
agents: {look: {outcome: fine}}
expect: {exit: 3, reason: max-total-steps, calls: [look]}",
    );
    passes(
        "agents: {look: {outcome: broken}, fix: {outcome: fixed}}
machine: {max_restarts: 0}
expect: {exit: 3, reason: max-restarts-exceeded, restarts: 0}",
    );
    passes("agents: {look: {fault: crash}}\nexpect: {exit: 4, reason: backend-error}");
    passes("agents: {look: {fault: limit}}\nexpect: {exit: 75}");
}

#[test]
fn a_wrong_expectation_is_reported_with_its_difference() {
    let agents = "agents: {look: {outcome: fine}}\nstubs: {check: 'true'}\n";
    misses(
        &format!("{agents}expect: {{ran: [look, fix, check]}}"),
        "the list of steps that ran is not what was expected
  - expected  + got
    look
  - fix
    check",
    );
    misses(
        &format!("{agents}expect: {{reason: fine, description: well, restarts: 2}}"),
        "the reason is not what was expected
  - expected  fine
  + got       checked
the description is not what was expected
  - expected  well
  + got       nothing
the number of restarts is not what was expected
  - expected  2
  + got       0",
    );
    misses(
        &format!("{agents}expect: {{calls: 2}}"),
        "the number of agent calls is not what was expected
  - expected  2
  + got       1",
    );
    misses(
        &format!("{agents}expect: {{calls: [{{step: look, model: opus, session: resumed}}, fix]}}"),
        "the list of agent calls is not what was expected
  - expected  + got
  - look · opus · resumed
  - fix
  + look · no model · new",
    );
    misses(&format!("{agents}expect: {{not_reached: [check]}}"), {
        "the list of steps that were not reached is not what was expected"
    });
    misses(&format!("{agents}expect: {{calls: [lok]}}"), {
        "`lok` is no step of fix; did you mean `look`?  fix.test.yaml:5"
    });
}

#[test]
fn steps_of_a_machine_that_replaces_it_are_known() {
    let first = MACHINE.replace("recipeId: fix", "recipeId: second");
    let second = "id: second\nlabel: S\ndescription: S\ninitialStep: sum\nguardrails: {}\nsteps:\n  \
                  sum:\n    command: echo 3\n    outcomes: [success, failure]\n    onOutcome:\n      \
                  success: { action: exit, reason: summed }\n      \
                  failure: { action: exit, reason: not-summed }\n";
    let cases = "cases:
  - name: goes over
    agents: {look: {outcome: broken}, fix: {outcome: fixed}}
    expect: {ran: [look, fix, sum], restarts: 1, reason: summed, printed: {sum: 3}}
";
    let user = User::new().file("fix.yaml", &first).file("fix.test.yaml", cases);
    user.write("second.yaml", second);
    user.towpath(&["test", "fix.yaml"]).exits(0);
}

#[test]
fn a_transition_that_no_case_takes_or_looks_at_is_reported() {
    let cases = "cases:
  - name: checks
    agents: {look: {outcome: fine}}
    stubs: {check: echo checked}
    expect: {printed: {check: checked}}
  - name: may give up
    agents: {look: {outcome: other, description: dark}}
    expect: {exit: 1}
";
    let printed = test(cases, &["--mutate", "--json"]).exits(1).json();
    let changes = printed["files"][0]["mutations"].as_array().expect("changes");
    let reported: Vec<_> = changes
        .iter()
        .map(|m| (json!([m["step"], m["outcome"]]), m["ran"] == true, m["noticed_by"].is_string()))
        .collect();
    assert_eq!(
        reported,
        [
            (json!(["look", "fine"]), true, true),
            (json!(["look", "broken"]), false, false),
            (json!(["look", "other"]), true, true),
            (json!(["fix", "fixed"]), false, false),
            (json!(["fix", "other"]), false, false),
            (json!(["check", null]), true, true),
            (json!(["check", "success"]), true, false),
            (json!(["check", "failure"]), false, false),
        ]
    );
    let printed = test(cases, &["--mutate"]).exits(1).stdout;
    for line in [
        "  ✓ look: fine      noticed by: checks\n",
        "  ✗ look: broken    no case notices when the run ends here: none gets here\n",
        "  ✓ look: other     noticed by: may give up\n",
        "  ✗ check: success  no case notices when the run ends here\n",
        "  ✓ check           noticed by: checks\n",
        "3 of 8 changes noticed\n",
    ] {
        assert!(printed.contains(line), "{line}{printed}");
    }
}
