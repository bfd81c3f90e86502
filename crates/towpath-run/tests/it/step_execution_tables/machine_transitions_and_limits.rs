//! Machines: where an outcome leads, what the limits refuse, what commands and called recipes report.

use super::{Play, program};
use serde_json::{Value, json};
use towpath_recipe::{MachineOptions, Plan};
use towpath_run::{EventKind, Fact, JobEnd, JobStatus, JobWork, Movement, Output};

/// A machine of these steps; the first is where it begins.
pub fn machine(id: &str, head: &str, steps: &[(&str, &str)]) -> String {
    let mut text = format!("id: {id}\nlabel: {id}\ndescription: d\ninitialStep: {}\n", steps[0].0);
    if !head.contains("guardrails") {
        text.push_str("guardrails: {}\n");
    }
    text.push_str(head);
    text.push_str("steps:\n");
    for (name, rest) in steps {
        text.push_str(&format!("  {name}: {{{rest}}}\n"));
    }
    text
}

pub const OTHER: &str = "other: {action: exit, reason: gave-up}";

/// Work and review, round and round, until the review is content.
pub fn review(head: &str) -> String {
    let work = "prompt: work, outcomes: [done, other], onOutcome: {done: {nextStep: review}, \
                other: {action: exit, reason: gave-up}}";
    let look = "prompt: look, outcomes: [bad, good, other], onOutcome: {bad: {nextStep: work}, \
                good: {action: exit, reason: all-good}, other: {action: exit, reason: gave-up}}";
    machine("loop", head, &[("work", work), ("review", look)])
}

/// One step, which begins a session again until it is content.
pub fn again(head: &str) -> String {
    let step = "prompt: 'go {{v}}', outcomes: [more, done], onOutcome: {more: {action: \
                restart-new-session, recipeId: again}, done: {action: exit, reason: no-more}}";
    machine("again", &format!("{head}context: {{v: one}}\n"), &[("step", step)])
}

pub fn with_machine_options(recipe: &str, change: impl FnOnce(&mut MachineOptions)) -> Play {
    Play::with(&[("main", recipe)], |plan: &mut Plan| change(&mut plan.machine))
}

#[test]
fn a_machine_begins_with_its_initial_step_and_follows_its_outcomes() {
    let text = review("").replace("initialStep: work", "initialStep: review");
    let play = Play::one(&text)
        .reports("review", "bad")
        .reports("work", "done")
        .reports("review#2", "good")
        .play();
    assert_eq!(play.started(), "review work review#2");
    assert_eq!((play.outcome().as_str(), play.reason().as_str()), ("done", "all-good"));
    let play = Play::one(&review("")).reports("work", "other").play();
    let exit = play.run.exit().expect("it ended");
    assert_eq!((exit.reason.as_str(), exit.description.as_deref()), ("gave-up", Some("so it is")));
}

#[test]
fn every_entry_and_movement_is_reported() {
    let text = again("guardrails: {maxStepVisits: 2, maxTotalSteps: 9}\n");
    let mut play = Play::one(&text).reports("step", "more").reports("step#2", "done");
    // The play itself takes what happens; a replay of its journal reports it again.
    play.proceed();
    let mut run = super::Run::new(program(&[("main", &text)], json!({})), super::Limits::default());
    for fact in &play.journal {
        run.apply(fact, 1).expect("the journal fits");
    }
    let reported = run.take_events().into_iter().filter_map(|event| match event {
        EventKind::Entered { step, visit, max_visits, total, max_total, .. } => {
            Some(format!("{step} {visit}/{max_visits} {total}/{max_total}"))
        }
        EventKind::Moved { step, to: Movement::Restart(to) } => {
            Some(format!("{step} restarts {to}"))
        }
        EventKind::Moved { step, to: Movement::Exit(exit) } => {
            Some(format!("{step} exits {}", exit.reason))
        }
        EventKind::Moved { step, to: Movement::Step(to) } => Some(format!("{step} goes to {to}")),
        _ => None,
    });
    let expected =
        ["step 1/2 1/9", "step restarts again", "step#2 1/2 1/9", "step#2 exits no-more"];
    assert_eq!(reported.collect::<Vec<_>>(), expected);
}

#[test]
fn limits_refuse_the_next_step_visits_before_totals() {
    let rows = [
        ("", "max-step-visits-exceeded:work", 6),
        ("guardrails: {maxStepVisits: 1}\n", "max-step-visits-exceeded:work", 2),
        ("guardrails: {maxTotalSteps: 1}\n", "max-total-steps", 1),
        ("guardrails: {maxTotalSteps: 3}\n", "max-total-steps", 3),
        ("guardrails: {maxStepVisits: 2, maxTotalSteps: 4}\n", "max-step-visits-exceeded:work", 4),
        ("guardrails: {maxStepVisits: 1, maxTotalSteps: 1}\n", "max-total-steps", 1),
    ];
    for (head, reason, steps) in rows {
        let mut play = Play::one(&review(head));
        for visit in ["", "#2", "#3"] {
            play = play
                .reports(&format!("work{visit}"), "done")
                .reports(&format!("review{visit}"), "bad");
        }
        let play = play.play();
        assert_eq!((play.reason().as_str(), play.started.len()), (reason, steps), "{head}");
        assert!(
            play.outcome().ends_with(reason) && play.run.reached_limit().is_some(),
            "{}",
            play.outcome()
        );
    }
    let mut play = with_machine_options(&review("guardrails: {maxTotalSteps: 1}\n"), |w| {
        w.max_steps = Some(2);
    });
    play = play.reports("work", "done").reports("review", "good").play();
    assert_eq!(play.reason(), "all-good", "what the user states counts");
}

#[test]
fn a_restart_resets_the_limits_and_not_the_numbers() {
    let text = again("guardrails: {maxStepVisits: 1, maxTotalSteps: 1}\n");
    let more = |play: Play| {
        let mut play = play;
        for visit in ["step", "step#2", "step#3"] {
            play = play.reports(visit, "more");
        }
        play.reports("step#4", "done").play()
    };
    let play = more(Play::one(&text));
    let keys = "step#1.0.0:agent step#2.0.0:agent step#3.0.0:agent step#4.0.0:agent";
    assert_eq!((play.keys().as_str(), play.reason().as_str()), (keys, "no-more"));
    let view = play.run.machine_view().expect("a machine");
    assert_eq!((view.restarts, view.steps), (3, 1));
    assert_eq!(view.visits, [("step".to_owned(), 1)]);
    let restarts: Vec<u32> = play.run.view().iter().map(|step| step.restarts).collect();
    assert_eq!(restarts, [0, 1, 2, 3], "each visit knows how many came before it");
    for (limit, reason, calls) in
        [(3, "no-more", 4), (2, "max-restarts-exceeded", 3), (0, "max-restarts-exceeded", 1)]
    {
        let play = more(with_machine_options(&text, |w| w.max_restarts = Some(limit)));
        assert_eq!((play.reason().as_str(), play.started.len()), (reason, calls));
    }
}

#[test]
fn a_restart_begins_with_the_values_that_were_handed_in_and_may_change_the_recipe() {
    let first = machine(
        "first",
        "context: {v: own}\n",
        &[(
            "step",
            "command: 'echo {{v}}', output: v, outcomes: [success, failure], onOutcome: \
             {success: {action: restart-new-session, recipeId: second}, failure: \
             {action: exit, reason: bad}}",
        )],
    );
    let second = machine(
        "second",
        "context: {v: other}\n",
        &[(
            "step",
            "command: 'echo {{v}}', outcomes: [success, failure], onOutcome: \
             {success: {action: exit, reason: ok}, failure: {action: exit, reason: bad}}",
        )],
    );
    let recipes = [("first", first.as_str()), ("second", second.as_str())];
    let play = Play::new(&recipes, json!({})).gives("step", "printed").play();
    assert_eq!(play.keys(), "step#1.0.0:bash step#2.0.0:bash");
    assert_eq!((play.script("step"), play.script("step#2")), ("own".into(), "other".into()));
    let play = Play::new(&recipes, json!({"v": "given"})).gives("step", "printed").play();
    assert_eq!(play.script("step#2"), "given");
    assert_eq!(play.reason(), "ok");
}

#[test]
fn a_circle_of_restarts_in_which_nothing_runs_is_refused() {
    let outer = machine(
        "outer",
        "",
        &[(
            "call",
            "recipe: empty, outcomes: [success, failure], onOutcome: {success: {action: \
             restart-new-session, recipeId: outer}, failure: {action: exit, reason: bad}}",
        )],
    );
    let empty = "name: empty\nsteps:\n  - {id: a, command: x, condition: 'false'}\n";
    let play = Play::new(&[("outer", &outer), ("empty", empty)], json!({})).play();
    assert_eq!(play.reason(), "restart-without-work");
}

/// A command whose success, failure and third outcome end apart.
fn command(rest: &str) -> String {
    let step = format!(
        "command: x, outcomes: [success, failure, third, other], onOutcome: {{success: {{action: \
         exit, reason: well}}, failure: {{action: exit, reason: badly}}, third: {{action: exit, \
         reason: thirdly}}, {OTHER}}}{rest}"
    );
    machine("command", "", &[("a", &step)])
}

#[test]
fn what_a_command_reports() {
    let exited = |code| JobStatus::Exited(code);
    let third = "x\n{\"outcome\": \"third\"}\n";
    let rows = [
        (exited(0), "", "well"),
        (exited(0), "no JSON", "well"),
        (exited(0), "{broken}", "well"),
        (exited(0), "{\"n\": 1}", "well"),
        (exited(0), third, "thirdly"),
        (exited(0), "{\"outcome\": \"failure\"}", "badly"),
        (exited(0), "{\"outcome\": \"other\", \"otherDescription\": \"w\"}", "gave-up"),
        (exited(1), third, "badly"),
        (JobStatus::Signalled(9), third, "badly"),
        (JobStatus::TimedOut, third, "badly"),
        (exited(0), "{\"outcome\": \"nope\"}", "orchestration-error"),
        (exited(0), "{\"outcome\": \"other\"}", "orchestration-error"),
        (JobStatus::NotStarted, "", "orchestration-error"),
        (JobStatus::Stopped, "", "cancelled"),
    ];
    for (status, output, reason) in rows {
        let end = JobEnd { output: Output::Text(output.into()), ..JobEnd::new(status.clone()) };
        let play = Play::one(&command("")).end_of("a", end).play();
        assert_eq!(play.reason(), reason, "{status:?} {output}");
        assert_eq!(play.started.len(), 1, "a command is not reminded");
    }
}

#[test]
fn the_output_of_a_step_is_a_value_of_later_ones_in_its_session() {
    let text = machine(
        "values",
        "",
        &[
            (
                "a",
                "command: x, output: v, outcomes: [success, failure], onOutcome: {success: \
                 {nextStep: b}, failure: {nextStep: b}}",
            ),
            (
                "b",
                "prompt: 'see {{v}} and {{foreign}}', outcomes: [ok, other], onOutcome: {ok: \
                 {action: exit, reason: ok}, other: {action: exit, reason: gave-up}}",
            ),
        ],
    );
    let end = JobEnd { output: Output::Text("half".into()), ..JobEnd::new(JobStatus::Exited(2)) };
    let play = Play::one(&text).end_of("a", end).reports("b", "ok").play();
    assert!(play.call("b").prompt.starts_with("see half and {{foreign}}\n\nEnd your response"));
}

/// A machine that calls `inner` and ends by what that reports.
pub fn caller(rest: &str) -> String {
    let step = format!(
        "recipe: inner, output: got, outcomes: [success, failure, listed, other], onOutcome: \
         {{success: {{action: exit, reason: well}}, failure: {{action: exit, reason: badly}}, \
         listed: {{action: exit, reason: by-name}}, {OTHER}}}{rest}"
    );
    machine("outer", "", &[("call", &step)])
}

pub fn inner() -> String {
    let step = format!(
        "prompt: go, outcomes: [ok, named, round, other], onOutcome: {{ok: {{action: exit, reason: \
         fine}}, named: {{action: exit, reason: listed}}, round: {{nextStep: a}}, {OTHER}}}"
    );
    machine("inner", "guardrails: {maxStepVisits: 1}\n", &[("a", &step)])
}

#[test]
fn a_called_machine_reports_its_reason_if_that_is_listed() {
    let rows = [
        ("ok", "well"),
        ("named", "by-name"),
        ("other", "badly"),
        ("round", "badly"),
        ("?", "badly"),
    ];
    for (printed, reason) in rows {
        let recipes = [("outer", caller("")), ("inner", inner())];
        let recipes: Vec<_> = recipes.iter().map(|(n, t)| (*n, t.as_str())).collect();
        let play = Play::new(&recipes, json!({})).reports("call/a", printed).play();
        assert_eq!(play.reason(), reason, "{printed}");
    }
}

#[test]
fn a_called_step_recipe_reports_success_or_failure() {
    let steps = "name: inner\nsteps:\n  - {id: a, command: x}\n";
    let outer = caller("");
    let recipes = [("outer", outer.as_str()), ("inner", steps)];
    let play = Play::new(&recipes, json!({})).gives("call/a", "{\"outcome\": \"listed\"}").play();
    assert_eq!(play.reason(), "well", "a step recipe's output is no report");
    assert_eq!(play.value("got"), "{\"outcome\": \"listed\"}");
    for (status, reason) in [
        (JobStatus::Exited(1), "badly"),
        (JobStatus::TimedOut, "badly"),
        (JobStatus::Stopped, "cancelled"),
    ] {
        let play = Play::new(&recipes, json!({})).ends("call/a", status.clone()).play();
        assert_eq!(play.reason(), reason, "{status:?}");
    }
}

#[test]
fn a_machine_gives_its_step_recipe_how_it_ended() {
    let inner = inner();
    let steps = "name: r\nsteps:\n  - {id: call, recipe: inner, output: end, continue_on_error: true}\n  \
                 - {id: b, command: 'echo {{call.reason}} {{end.description}}'}\n";
    let recipes = [("r", steps), ("inner", inner.as_str())];
    let play = Play::new(&recipes, json!({})).reports("call/a", "other").play();
    assert_eq!(play.value("end"), json!({"reason": "gave-up", "description": "so it is"}));
    assert_eq!(play.script("b"), "gave-up|so it is");
    let play = Play::new(&recipes, json!({})).reports("call/a", "ok").play();
    assert_eq!(play.value("call"), json!({"reason": "fine", "description": Value::Null}));
    let play = Play::new(&recipes, json!({})).reports("call/a", "round").play();
    assert_eq!(
        play.outcome(),
        "failed at call/a: max-step-visits-exceeded:a",
        "a limit fails the step that called"
    );
}

#[test]
fn the_timeout_of_a_recipe_step_applies_to_the_machine_it_calls() {
    let rows = [
        (caller(", timeout: 5"), "badly"),
        ("name: r\nsteps:\n  - {id: call, recipe: inner, timeout: 5}\n".to_owned(), "under way"),
    ];
    for (outer, reason) in rows {
        let inner = inner();
        let recipes = [("outer", outer.as_str()), ("inner", inner.as_str())];
        // The answer arrives just after the time has run out, and reports nothing.
        let mut play = Play::new(&recipes, json!({})).gives("call/a", "hm");
        let jobs = play.start_all();
        let step = play.run.timers().remove(0).step;
        play.fact(Fact::Expired { step });
        assert_eq!(play.run.unwanted(), [jobs[0].key.clone()]);
        play.finish(&jobs[0]);
        assert!(play.start_all().is_empty(), "no reminder after the time has run out");
        assert_eq!(play.reason(), reason);
        if reason == "under way" {
            assert_eq!(play.outcome(), "failed at call: timed out after 5 s");
            play = play.reports("call/a.1", "ok");
            play.resume();
            assert_eq!(play.outcome(), "done");
            assert_eq!(play.started(), "call/a call/a.1", "the answer is kept, the reminder comes");
        }
    }
}

#[test]
fn the_tier_is_the_steps_own_then_the_users_then_the_recipes() {
    let rows = [
        ("haiku", Some("sonnet"), "opus", Some("haiku")),
        ("", Some("sonnet"), "opus", Some("sonnet")),
        ("", None, "opus", Some("opus")),
        ("", None, "", None),
    ];
    for (step, user, recipe, model) in rows {
        let own = if step.is_empty() { String::new() } else { format!(", model: {step}") };
        let head = if recipe.is_empty() { String::new() } else { format!("model: {recipe}\n") };
        let step = format!("prompt: go, outcomes: [other], onOutcome: {{{OTHER}}}{own}");
        let text = machine("tiers", &head, &[("a", &step)]);
        let mut play =
            with_machine_options(&text, |w| w.model = user.map(str::to_owned)).gives("a", "hm");
        play.proceed();
        assert_eq!(play.call("a").model.as_deref(), model);
        assert_eq!(play.call("a.1").model.as_deref(), model, "the reminder has the same");
    }
}

#[test]
fn the_default_limit_of_step_recipes_does_not_count_a_machines_steps() {
    let inner = machine(
        "inner",
        "guardrails: {maxStepVisits: 500, maxTotalSteps: 500}\n",
        &[(
            "a",
            "command: x, outcomes: [success, failure], onOutcome: {success: {nextStep: a}, \
             failure: {action: exit, reason: enough}}",
        )],
    );
    let outer = "name: r\nsteps:\n  - {id: call, recipe: inner}\n  - {id: b, command: x}\n";
    let recipes = [("r", outer), ("inner", inner.as_str())];
    let play = Play::new(&recipes, json!({})).ends("call/a#300", JobStatus::Exited(1)).play();
    assert_eq!((play.started.len(), play.outcome().as_str()), (301, "done"));
    let stated = outer.replace("steps:", "recursion: {max_total_steps: 250}\nsteps:");
    let recipes = [("r", stated.as_str()), ("inner", inner.as_str())];
    let play = Play::new(&recipes, json!({})).ends("call/a#300", JobStatus::Exited(1)).play();
    assert!(play.outcome().contains("over the limit max_total_steps: 250"), "{}", play.outcome());
}

#[test]
fn a_prompt_is_the_steps_text_and_the_outcomes_to_choose_from() {
    let play = Play::one(&review("")).reports("work", "done").reports("review", "good").play();
    let JobWork::Agent(agent) = &play.jobs[1].work else { panic!("an agent call") };
    let end = "End your response with one of these JSON blocks on the last line:";
    assert_eq!(
        agent.prompt,
        format!(
            "look\n\n{end}\n\n{{\"outcome\": \"bad\"}}\n{{\"outcome\": \"good\"}}\n{{\"outcome\": \
             \"other\", \"otherDescription\": \"<brief description>\"}}"
        )
    );
}
