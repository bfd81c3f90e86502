//! One call of an agent is one record, from its start to its end.

use super::Play;
use towpath_core::{SessionId, Usage};
use towpath_run::{Fact, JobEnd, JobStatus, Output};

const ASK: &str = "name: r\nsteps:\n  - { id: ask, prompt: hello }\n";

/// Starts the next call with a backend and a session.
fn start(play: &mut Play, session: Option<&str>) -> towpath_core::JobKey {
    let key = play.run.next().first().expect("a call is wanted").key.clone();
    let (backend, session) = (Some("codex".to_owned()), session.map(SessionId::from));
    play.fact(Fact::JobStarted { key: key.clone(), line: None, session, backend, model: None });
    key
}

#[test]
fn a_call_is_shown_in_flight_and_gets_its_session_and_its_end() {
    let mut play = Play::one(ASK);
    let key = start(&mut play, Some("chosen"));
    let view = play.step("ask");
    assert_eq!(view.calls.len(), 1);
    assert_eq!(view.calls[0].session, Some("chosen".into()));
    assert_eq!(view.ended_calls().count(), 0);
    assert_eq!(play.run.calls_in_flight(), 1);

    play.fact(Fact::SessionOpened { key: key.clone(), session: "named".into() });
    let usage = Some(Usage { cost_usd: Some(0.5), ..Usage::default() });
    let output = Output::Text("hi".into());
    let end = JobEnd { usage, output, ..JobEnd::new(JobStatus::Exited(0)) };
    play.fact(Fact::JobFinished { key: key.clone(), end });
    let view = play.step("ask");
    let calls: Vec<_> = view.ended_calls().collect();
    assert_eq!((&calls[0].0.key, calls[0].1.usage), (&key, usage));
    assert_eq!(calls[0].0.backend.as_deref(), Some("codex"));
    assert_eq!(calls[0].0.session, Some("named".into()));
    assert_eq!(calls.len(), view.calls.len());
    assert_eq!(play.run.spent().cost_usd, Some(0.5));
}

#[test]
fn an_interrupted_call_ends_with_an_unknown_cost_and_the_next_is_another() {
    let mut play = Play::one(ASK);
    start(&mut play, Some("first"));
    play.fact(Fact::Resumed);
    start(&mut play, Some("second"));
    let view = play.step("ask");
    let sessions: Vec<_> = view.calls.iter().map(|call| call.session.clone()).collect();
    assert_eq!(sessions, [Some("first".into()), Some("second".into())]);
    let (_, end) = view.ended_calls().next().expect("the first has ended");
    assert_eq!((end.usage, end.error.is_some()), (None, true));
    let spent = play.run.spent();
    assert_eq!((spent.calls, spent.cost_usd, spent.unknown), (2, None, true));
}

#[test]
fn a_failure_below_names_the_step_where_it_began_once() {
    use towpath_run::{FailureKind, StepStatus};
    let recipes = [
        ("main", "name: main\nsteps:\n  - { id: a, recipe: mid }\n"),
        ("mid", "name: mid\nsteps:\n  - { id: b, recipe: low }\n"),
        ("low", "name: low\nsteps:\n  - { id: c, command: x }\n"),
    ];
    let play =
        Play::new(&recipes, serde_json::json!({})).ends("a/b/c", JobStatus::Exited(7)).play();
    for (step, origin, message) in [
        ("a", Some("a/b/c"), "step a/b/c: exit 7"),
        ("a/b", Some("a/b/c"), "step a/b/c: exit 7"),
        ("a/b/c", None, "exit 7"),
    ] {
        let Some(StepStatus::Failed(failure)) = play.step(step).result.map(|r| r.status) else {
            panic!("{step} has not failed");
        };
        assert_eq!(failure.kind, FailureKind::Command);
        assert_eq!(failure.message, message);
        assert_eq!(failure.origin.map(|path| path.to_string()).as_deref(), origin);
    }
}
