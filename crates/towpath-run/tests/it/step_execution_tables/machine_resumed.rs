//! Machines that continue: raised limits, edited recipes, a user's word about a step.

use super::machine_transitions_and_limits::{OTHER, again, caller, inner, machine, review};
use super::{Answer, Fact, JobStatus, Play, RunOutcome, StepPath, program};
use serde_json::json;
use std::sync::Arc;
use towpath_recipe::Plan;

/// The same plan with another option of the user.
fn replan(play: &mut Play, change: impl FnOnce(&mut Plan)) {
    let mut plan = Plan::clone(&play.run.program().plan);
    change(&mut plan);
    let program = Arc::new(plan.load().expect("the plan was sound before"));
    play.run.replan(program).expect("nothing but an option has changed");
}

#[test]
fn a_refused_machine_continues_only_with_a_raised_limit() {
    let text = review("guardrails: {maxStepVisits: 1}\n");
    let mut play = Play::one(&text).reports("work", "done").reports("review", "bad").play();
    assert_eq!(play.reason(), "max-step-visits-exceeded:work");
    for _ in 0..2 {
        play.resume();
        assert_eq!(play.reason(), "max-step-visits-exceeded:work");
        assert_eq!(play.started.len(), 2, "nothing has started");
    }
    replan(&mut play, |plan| plan.machine.max_visits = Some(2));
    play = play.reports("work#2", "done").reports("review#2", "good");
    play.resume();
    assert_eq!(play.started(), "work review work#2 review#2");
    assert_eq!((play.reason().as_str(), play.outcome().as_str()), ("all-good", "done"));

    let mut play = super::machine_transitions_and_limits::with_machine_options(&again(""), |w| {
        w.max_restarts = Some(0);
    });
    play = play.reports("step", "more").reports("step#2", "done").play();
    assert_eq!(play.reason(), "max-restarts-exceeded");
    replan(&mut play, |plan| plan.machine.max_restarts = Some(1));
    play.resume();
    assert_eq!((play.started().as_str(), play.reason().as_str()), ("step step#2", "no-more"));
}

#[test]
fn a_refused_machine_within_a_step_recipe_continues_too() {
    let inner = inner();
    let outer = "name: r\nsteps:\n  - {id: call, recipe: inner}\n";
    let recipes = [("r", outer), ("inner", inner.as_str())];
    let mut play =
        Play::new(&recipes, json!({})).reports("call/a", "round").reports("call/a#2", "ok");
    play.proceed();
    play.resume();
    assert_eq!(play.outcome(), "failed at call/a: max-step-visits-exceeded:a");
    replan(&mut play, |plan| plan.machine.max_visits = Some(2));
    play.resume();
    assert_eq!((play.started().as_str(), play.outcome().as_str()), ("call/a call/a#2", "done"));
}

#[test]
fn a_user_reports_what_a_step_reported() {
    let mut play = Play::one(&review("")).reports("review", "good");
    play.start_all();
    play.fact(Fact::Resumed);
    let step = StepPath::new("work");
    assert!(play.run.awaits(&step));
    assert_eq!(play.run.outcomes_of(&step), ["done", "other"]);
    for outcome in [None, Some("good".to_owned())] {
        let answer = Answer::Done { output: String::new(), outcome };
        let fact = Fact::Answered { step: step.clone(), answer };
        assert!(play.run.clone().apply(&fact, 9).is_err(), "none, or none of its outcomes");
    }
    let answer = Answer::Done { output: "by hand".into(), outcome: Some("done".into()) };
    play.fact(Fact::Answered { step, answer });
    play.proceed();
    assert_eq!((play.started().as_str(), play.reason().as_str()), ("work review", "all-good"));
}

#[test]
fn a_interrupted_command_marked_once_is_asked_about() {
    let step = "command: x, effect: once, outcomes: [success, failure], onOutcome: {success: \
                {action: exit, reason: well}, failure: {action: exit, reason: badly}}";
    let text = machine("once", "", &[("a", step)]);
    for (answer, started, reason) in [
        (Answer::Done { output: String::new(), outcome: Some("failure".into()) }, "a", "badly"),
        (Answer::Again, "a a", "well"),
    ] {
        let mut play = Play::one(&text);
        play.start_all();
        play.fact(Fact::Resumed);
        let asking = RunOutcome::Asking { steps: vec![StepPath::new("a")] };
        assert_eq!(play.run.outcome(), Some(asking));
        play.fact(Fact::Answered { step: StepPath::new("a"), answer });
        play.proceed();
        assert_eq!((play.started().as_str(), play.reason().as_str()), (started, reason));
    }
}

#[test]
fn again_goes_back_to_a_step_with_a_new_visit() {
    let mut play = Play::one(&review("")).reports("work", "done").reports("review", "good").play();
    play.fact(Fact::Resumed);
    assert!(play.run.next().is_empty(), "it has ended");
    play.fact(Fact::Answered { step: StepPath::new("work"), answer: Answer::Again });
    play = play.reports("work#2", "done").reports("review#2", "other");
    play.proceed();
    assert_eq!(play.started(), "work review work#2 review#2");
    assert_eq!(play.reason(), "gave-up");
}

#[test]
fn again_within_a_called_recipe_forgets_how_the_machine_around_it_ended() {
    let outer = caller("").replacen(
        "failure: {action: exit, reason: badly}",
        "failure: {nextStep: call}",
        1,
    );
    let outer = outer.replacen("guardrails: {}", "guardrails: {maxStepVisits: 1}", 1);
    let steps = "name: inner\nsteps:\n  - {id: a, command: x}\n";
    let mut play = Play::new(&[("outer", &outer), ("inner", steps)], json!({})).play();
    assert_eq!(play.reason(), "well");
    play.fact(Fact::Resumed);
    play.fact(Fact::Answered { step: StepPath::new("call/a"), answer: Answer::Again });
    play = play.ends("call/a#2", JobStatus::Exited(1));
    play.proceed();
    assert_eq!(play.started(), "call/a call/a#2");
    assert_eq!(play.reason(), "max-step-visits-exceeded:call", "not the end that it had before");
}

#[test]
fn a_crash_inside_a_called_machine_repeats_only_what_was_interrupted() {
    let (outer, inner) = (caller(""), inner());
    let recipes = [("outer", outer.as_str()), ("inner", inner.as_str())];
    let mut play =
        Play::new(&recipes, json!({})).gives("call/a", "hm").reports("call/a.1", "named");
    let first = play.start_all();
    play.finish(&first[0]);
    play.start_all();
    play.resume();
    assert_eq!(
        play.keys(),
        "call/a#1.0.0:agent call/a#1.0.1:agent call/a#1.1.1:agent",
        "the machine around it and its prompt stay"
    );
    assert_eq!(play.reason(), "by-name");
}

#[test]
fn an_edit_between_a_step_recipe_and_a_state_machine_is_refused() {
    let steps = "name: main\nsteps:\n  - {id: work, command: x}\n";
    let machine = review("");
    let inner = inner();
    let caller = caller("");
    let sub = "name: inner\nsteps:\n  - {id: a, command: x}\n";
    let rows = [
        (
            vec![("main", steps)],
            vec![("main", machine.as_str())],
            "was a step recipe and is a state machine now",
        ),
        (
            vec![("main", machine.as_str())],
            vec![("main", steps)],
            "was a state machine and is a step recipe now",
        ),
        (
            vec![("outer", caller.as_str()), ("inner", inner.as_str())],
            vec![("outer", caller.as_str()), ("inner", sub)],
            "recipe inner was a state machine and is a step recipe now",
        ),
    ];
    for (old, new, why) in rows {
        let mut play = Play::new(&old, json!({}));
        play.start_all();
        let before = play.run.view();
        let refused = play.run.replan(program(&new, json!({}))).expect_err(why);
        assert!(refused.to_string().contains(why), "{refused}");
        assert_eq!(play.run.view(), before, "a refused edit changes nothing");
    }
}

#[test]
fn an_edit_is_taken_as_long_as_the_machine_is_somewhere() {
    let text = review("guardrails: {maxStepVisits: 1}\n");
    let mut play = Play::one(&text).reports("work", "done").reports("review", "bad").play();
    let gone = text.replacen("  review: {", "  look: {", 1).replacen(
        "nextStep: review",
        "nextStep: look",
        1,
    );
    let refused = play.run.replan(program(&[("main", &gone)], json!({}))).expect_err("refused");
    assert!(refused.to_string().contains("is the current step of the state machine"), "{refused}");
    let edited = text.replacen("bad: {nextStep: work}", "bad: {action: exit, reason: so-be-it}", 1);
    play.run.replan(program(&[("main", &edited)], json!({}))).expect("it is at `review`");
    play.resume();
    assert_eq!((play.started.len(), play.reason().as_str()), (2, "so-be-it"));
}

#[test]
fn an_edit_may_take_away_what_a_visit_that_is_over_had_called() {
    let call = "recipe: inner, outcomes: [success, failure], onOutcome: {success: {nextStep: b}, \
                failure: {nextStep: b}}";
    let ask = format!(
        "prompt: go, outcomes: [ok, other], onOutcome: {{ok: {{action: exit, reason: ok}}, {OTHER}}}"
    );
    let outer = machine("outer", "", &[("a", call), ("b", &ask)]);
    let long = "name: inner\nsteps:\n  - {id: one, command: x}\n  - {id: two, command: x}\n";
    let mut play = Play::new(&[("outer", &outer), ("inner", long)], json!({}));
    play = play.ends("b", JobStatus::TimedOut).play();
    assert_eq!(play.started(), "a/one a/two b");
    let without = machine("outer", "", &[("b", &ask)]);
    play.run.replan(program(&[("outer", &without)], json!({}))).expect("it is at `b`");
    play = play.reports("b", "ok");
    play.resume();
    assert_eq!(play.reason(), "ok");
    assert_eq!(play.status("a/two"), "completed", "what was done is still reported");
}
