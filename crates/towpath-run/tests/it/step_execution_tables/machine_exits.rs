//! Machines that end without success: through `fail`, through an exit that is none, through `other`,
//! or with a question for the user; and what becomes of the steps that call them.

use super::machine_transitions_and_limits::machine;
use super::{Answer, Fact, JobStatus, Play, StepPath};
use serde_json::json;
use towpath_core::RunStatus;

/// One step with these transitions for `ok` and `other`.
fn one(id: &str, ok: &str, other: &str) -> String {
    let step = format!(
        "prompt: go, outcomes: [ok, other], onOutcome: {{ok: {{{ok}}}, other: {{{other}}}}}"
    );
    machine(id, "", &[("a", &step)])
}

const WELL: &str = "action: exit, reason: well";

#[test]
fn an_exit_is_a_success_unless_it_states_another_or_answers_other() {
    let failed = "failed at a: so";
    let rows = [
        ("ok", "action: exit, reason: so", "done"),
        ("ok", "action: exit, reason: so, success: true", "done"),
        ("ok", "action: exit, reason: so, success: false", failed),
        ("ok", "action: exit, reason: so, success: ask", "asking"),
        ("ok", "action: fail, reason: so", failed),
        ("other", "action: exit, reason: so", failed),
        ("other", "action: exit, reason: so, success: true", "done"),
        ("other", "action: exit, reason: so, success: false", failed),
        ("other", "action: exit, reason: so, success: ask", "asking"),
        ("other", "action: fail, reason: so", failed),
    ];
    for (outcome, then, ends) in rows {
        let text = if outcome == "ok" { one("m", then, WELL) } else { one("m", WELL, then) };
        let play = Play::one(&text).reports("a", outcome).play();
        assert_eq!((play.outcome().as_str(), play.reason().as_str()), (ends, "so"), "{then}");
        let status = play.run.outcome().expect("it has ended").status();
        let reason = match status {
            RunStatus::Failed { reason, .. } => reason,
            _ => None,
        };
        assert_eq!(reason.is_some(), ends == failed, "{then}");
    }
}

#[test]
fn a_resume_visits_the_step_again_that_gave_up_and_counts_both_visits_as_one() {
    let step = "prompt: go, outcomes: [ok, other], onOutcome: {ok: {nextStep: b}, other: {action: \
                fail, reason: gave-up}}";
    let test = "command: x, outcomes: [success, failure], onOutcome: {success: {action: exit, \
                reason: well}, failure: {action: fail, reason: red}}";
    let text = machine("m", "guardrails: {maxStepVisits: 1}\n", &[("a", step), ("b", test)]);
    let mut play = Play::one(&text).reports("a", "other").play();
    assert_eq!(play.outcome(), "failed at a: gave-up");
    play = play.reports("a#2", "ok").ends("b", JobStatus::Exited(1));
    play.resume();
    assert_eq!((play.started().as_str(), play.outcome().as_str()), ("a a#2 b", "failed at b: red"));
    play.resume();
    assert_eq!((play.started().as_str(), play.outcome().as_str()), ("a a#2 b b#2", "done"));
    let view = play.run.machine_view().expect("a machine");
    assert_eq!((view.steps, view.visits), (2, vec![("a".to_owned(), 1), ("b".to_owned(), 1)]));
    assert_eq!(play.call("a#2").continues.as_ref(), Some(&play.jobs[0].key), "one conversation");
}

#[test]
fn a_question_waits_until_the_user_asks_again_or_decides() {
    let text = one("m", WELL, "action: exit, reason: unclear, success: ask");
    let asked = || Play::one(&text).reports("a", "other").play();
    let mut play = asked();
    play.resume();
    assert_eq!((play.outcome().as_str(), play.reason().as_str()), ("asking", "unclear"));
    assert_eq!(play.started(), "a", "nothing runs before the answer");
    let answer = |play: &mut Play, answer| {
        play.fact(Fact::Answered { step: StepPath::new("a"), answer });
        play.proceed();
    };
    play = play.reports("a#2", "ok");
    answer(&mut play, Answer::Again);
    assert_eq!((play.started().as_str(), play.reason().as_str()), ("a a#2", "well"));

    let mut play = asked();
    play.fact(Fact::Resumed);
    answer(&mut play, Answer::Done { output: String::new(), outcome: Some("ok".into()) });
    assert_eq!((play.started().as_str(), play.reason().as_str()), ("a", "well"));
    assert!(play.step("a").declared_done);
}

#[test]
fn a_step_that_calls_a_machine_fails_with_it() {
    let inner = one("inner", WELL, "action: exit, reason: gave-up");
    let outer = |more: &str| {
        format!(
            "name: r\nsteps:\n  - {{id: call, recipe: inner{more}}}\n  - {{id: ship, command: \
             'echo {{{{call.reason}}}} {{{{call.description}}}}'}}\n"
        )
    };
    let run = |more: &str| {
        let outer = outer(more);
        Play::new(&[("r", &outer), ("inner", &inner)], json!({})).reports("call/a", "other")
    };
    let mut play = run("").play();
    assert_eq!(
        (play.started().as_str(), play.outcome().as_str()),
        ("call/a", "failed at call/a: gave-up")
    );
    assert_eq!(play.status("call"), "failed: step call/a: gave-up");
    play = play.reports("call/a#2", "ok");
    play.resume();
    assert_eq!(
        (play.started().as_str(), play.outcome().as_str()),
        ("call/a call/a#2 ship", "done")
    );

    let play = run(", continue_on_error: true").play();
    assert_eq!(
        (play.outcome().as_str(), play.script("ship").as_str()),
        ("done", "gave-up|so it is")
    );
    let play = run(", recovery_on_failure: true").gives("call", "recovered").play();
    assert_eq!((play.started().as_str(), play.outcome().as_str()), ("call/a call ship", "done"));
}

#[test]
fn a_machine_reads_the_reason_of_the_one_it_called_where_it_lists_it() {
    let inner = |then: &str| one("inner", WELL, then);
    let outer = |listed: &str| {
        let step = format!(
            "recipe: inner, outcomes: [success, failure{listed}], onOutcome: {{success: {{action: \
             exit, reason: good}}, failure: {{action: exit, reason: bad}}{}}}",
            listed.replace("stuck", "stuck: {action: exit, reason: known}")
        );
        machine("outer", "", &[("call", &step)])
    };
    let rows = [
        ("action: fail, reason: stuck", "", "done", "bad"),
        ("action: fail, reason: stuck", ", stuck", "done", "known"),
        ("action: exit, reason: stuck, success: ask", "", "asking", "under way"),
        ("action: exit, reason: stuck, success: ask", ", stuck", "done", "known"),
    ];
    for (then, listed, outcome, reason) in rows {
        let (outer, inner) = (outer(listed), inner(then));
        let recipes = [("outer", outer.as_str()), ("inner", inner.as_str())];
        let play = Play::new(&recipes, json!({})).reports("call/a", "other").play();
        let seen = (play.outcome(), play.reason());
        assert_eq!((seen.0.as_str(), seen.1.as_str()), (outcome, reason), "{then}{listed}");
    }
}
