//! Agent calls as the loop makes them: who answers, in which session, and what is recorded of it.

use super::fake_executor::FakeExecutor;
use super::{Events, Setup};
use std::cell::RefCell;
use std::rc::Rc;
use towpath_core::{FaultKind, Usage};
use towpath_executor::{EndStatus, Finished, JobEvent, Responder, Work, backend_row};
use towpath_run::{Fact, FailureKind, RunOutcome};

const ASKS: &str = "
name: asks
steps:
  - {id: ask, prompt: list, parse_json: true, output: it}
";

fn answering(backend: &str, answers: Vec<Finished>) -> FakeExecutor {
    let row = backend_row(backend).expect("a backend");
    let mut answers = answers.into_iter();
    let mut executor = FakeExecutor::new(move |turn| {
        for job in turn.jobs.keys().copied().collect::<Vec<_>>() {
            let answer = answers.next().expect("an answer");
            turn.finish(Finished { job, ..answer });
        }
        Ok(())
    });
    executor.responder = Responder::Backend(row);
    executor
}

fn answer(text: &str) -> Finished {
    let finished = Finished::new(towpath_executor::JobId(0), EndStatus::Exited(0));
    Finished { answer: Some(text.to_owned()), ..finished }
}

#[test]
fn without_a_backend_a_call_fails_and_nothing_is_started() {
    let setup = Setup::new(ASKS);
    let mut executor = FakeExecutor::succeeding();
    let (id, end) = setup.drive(&mut executor);
    let RunOutcome::Failed { failure, .. } = end.expect("an end").outcome else { panic!() };
    assert_eq!(failure.kind, FailureKind::Agent(FaultKind::Backend));
    assert_eq!(executor.log, ["close"]);
    assert_eq!(setup.facts(&id), ["started", "job-started ask", "job-finished ask", "ended"]);
}

#[test]
fn a_session_that_we_choose_is_recorded_with_the_start_and_continued_by_a_reminder() {
    let setup = Setup::new(ASKS);
    let mut executor = answering("claude-code", vec![answer("no json"), answer("[1]")]);
    let (mut store, mut events) = (setup.store(), Events::default());
    let prepared = setup.create(&mut store);
    let id = prepared.id().clone();
    let end = setup.drive_prepared(prepared, &mut store, &mut executor, &mut events);
    assert_eq!(end.expect("an end").run.context()["it"][0], 1);
    let sessions: Vec<_> = setup
        .full_facts(&id)
        .into_iter()
        .filter_map(|fact| match fact {
            Fact::JobStarted { session, backend, .. } => Some((session.unwrap(), backend.unwrap())),
            _ => None,
        })
        .collect();
    assert_eq!(sessions.len(), 2);
    assert_eq!(sessions[0], sessions[1]);
    assert_eq!(sessions[0].1, "claude-code");
    let calls: Vec<_> = events.seen.iter().filter(|line| line.starts_with("call")).collect();
    assert_eq!(calls.len(), 2);
    assert!(calls.iter().all(|line| line.contains(sessions[0].0.as_str())), "{calls:?}");
}

#[test]
fn a_session_that_the_program_names_is_recorded_once() {
    let setup = Setup::new("name: r\nsteps:\n  - {id: ask, prompt: hello}\n");
    let row = backend_row("codex").expect("a backend");
    let resumed = Rc::new(RefCell::new(Vec::new()));
    let kept = Rc::clone(&resumed);
    let mut executor = FakeExecutor::new(move |turn| {
        let job = turn.job("ask").expect("it runs");
        let Work::Agent(work) = &turn.jobs[&job].work else { panic!() };
        kept.borrow_mut().push(work.call.resume);
        for session in ["named", "named"] {
            turn.observer.event(JobEvent::SessionNamed { job, session: session.into() });
        }
        turn.finish(Finished { job, session: Some("named".into()), ..answer("hello") });
        Ok(())
    });
    executor.responder = Responder::Backend(row);
    let (id, end) = setup.drive(&mut executor);
    assert_eq!(end.expect("an end").outcome, RunOutcome::Done);
    assert_eq!(*resumed.borrow(), [false]);
    assert_eq!(
        setup.facts(&id),
        ["started", "job-started ask", "session-opened ask", "job-finished ask", "ended"]
    );
}

#[test]
fn what_a_call_used_is_what_its_session_used_since_the_last_one() {
    let setup = Setup::new(ASKS);
    let total = |tokens| Usage { input_tokens: Some(tokens), ..Usage::NOTHING };
    let answer = |text, tokens| Finished { session_total: Some(total(tokens)), ..answer(text) };
    let mut executor = answering("claude-code", vec![answer("no json", 5), answer("[1]", 12)]);
    let (id, end) = setup.drive(&mut executor);
    assert_eq!(end.expect("an end").outcome, RunOutcome::Done);
    let used: Vec<_> = setup
        .full_facts(&id)
        .into_iter()
        .filter_map(|fact| match fact {
            Fact::JobFinished { end, .. } => end.usage.and_then(|usage| usage.input_tokens),
            _ => None,
        })
        .collect();
    assert_eq!(used, [5, 7]);
}

#[test]
fn a_fault_is_reported_with_its_message_and_a_rate_limit_waits() {
    let setup = Setup::new(ASKS);
    let until_ms = Some(4_102_444_800_000);
    let status = EndStatus::Faulted { kind: FaultKind::Limit, until_ms };
    let fault = Finished { status, message: Some("too much".into()), answer: None, ..answer("") };
    let mut executor = answering("claude-code", vec![fault]);
    let (mut store, mut events) = (setup.store(), Events::default());
    let prepared = setup.create(&mut store);
    let end = setup.drive_prepared(prepared, &mut store, &mut executor, &mut events);
    let waiting = RunOutcome::Waiting { why: FaultKind::Limit, until_ms };
    assert_eq!(end.expect("an end").outcome, waiting);
    assert!(
        events.seen.iter().any(|line| line.contains("Some(\"too much\")")),
        "{:?}",
        events.seen
    );
}

#[test]
fn a_call_that_could_not_be_started_has_no_answer() {
    let setup = Setup::new(ASKS);
    let mut executor = answering(
        "claude-code",
        vec![Finished { status: EndStatus::NotStarted, answer: None, ..answer("") }],
    );
    let (mut store, mut events) = (setup.store(), Events::default());
    let prepared = setup.create(&mut store);
    let end = setup.drive_prepared(prepared, &mut store, &mut executor, &mut events);
    let RunOutcome::Failed { failure, .. } = end.expect("an end").outcome else { panic!() };
    assert_eq!(failure.kind, FailureKind::Start);
    assert!(!events.seen.iter().any(|line| line.starts_with("answer")), "{:?}", events.seen);
}

#[test]
fn an_adapter_gets_a_session_and_the_name_of_its_model() {
    let setup = Setup::new("name: r\nsteps:\n  - {id: ask, prompt: hello, model: small}\n");
    let mut executor = FakeExecutor::new(|turn| {
        let job = turn.job("ask").expect("it runs");
        let Work::Agent(work) = &turn.jobs[&job].work else { panic!() };
        assert_eq!(work.call.model.as_deref(), Some("small"));
        assert!(work.call.session.is_some() && !work.call.resume);
        turn.finish(Finished { job, ..answer("hello") });
        Ok(())
    });
    executor.responder = Responder::Adapter;
    let (id, end) = setup.drive(&mut executor);
    assert_eq!(end.expect("an end").outcome, RunOutcome::Done);
    let started = setup.full_facts(&id).into_iter().find_map(|fact| match fact {
        Fact::JobStarted { session, backend, .. } => Some((session, backend)),
        _ => None,
    });
    let (session, backend) = started.expect("a start");
    assert!(session.is_some() && backend.is_none());
}
