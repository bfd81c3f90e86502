//! A run that is taken over from a dead owner: a call whose result is complete on disk counts, anything
//! less does not.

use super::fake_executor::FakeExecutor;
use super::{Events, Setup};
use std::fs;
use towpath_core::RunId;
use towpath_engine::{EngineError, Options};
use towpath_executor::{EndStatus, ExecutorError, Finished, Responder, backend_row};
use towpath_run::{Fact, RunOutcome};

const ASKS: &str = "
name: asks
steps:
  - {id: ask, prompt: hello, output: answer}
  - {id: after, command: 'echo {{answer}}'}
";

const RESULT: &str = r#"{"type":"system","subtype":"init","session_id":"s-1"}
{"type":"assistant","message":{"content":[{"type":"text","text":"Hello."}]},"session_id":"s-1"}
{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":"Hello.","session_id":"s-1","total_cost_usd":0.5,"usage":{"input_tokens":11,"output_tokens":7}}
"#;

/// A run whose owner died while the agent was asked and had printed this.
fn interrupted(setup: &Setup, printed: Option<&str>) -> RunId {
    let mut store = setup.store();
    let options = Options { backend: Some("claude-code".into()), ..Options::default() };
    let prepared = setup.create_with(&mut store, options);
    let id = prepared.id().clone();
    let mut executor = FakeExecutor::new(|_| Err(ExecutorError::Gone));
    executor.responder = Responder::Backend(backend_row("claude-code").expect("a backend"));
    let end = setup.drive_prepared(prepared, &mut store, &mut executor, &mut Events::default());
    assert!(matches!(end, Err(EngineError::WardenGone)));
    if let Some(text) = printed {
        // The start of the call is the second fact.
        fs::write(store.run_directory(&id).join("2.stdout"), text).expect("a file");
    }
    id
}

/// The steps that a resume starts.
fn resumed(setup: &Setup, id: &RunId) -> Vec<String> {
    let mut store = setup.store();
    let prepared = setup.resume(&mut store, id);
    let mut executor = FakeExecutor::new(|turn| {
        for job in turn.jobs.keys().copied().collect::<Vec<_>>() {
            let answer = Some("Again.".to_owned());
            turn.finish(Finished { answer, ..Finished::new(job, EndStatus::Exited(0)) });
        }
        Ok(())
    });
    executor.responder = Responder::Backend(backend_row("claude-code").expect("a backend"));
    let end = setup
        .drive_prepared(prepared, &mut store, &mut executor, &mut Events::default())
        .expect("an end");
    assert_eq!(end.outcome, RunOutcome::Done);
    executor.started()
}

#[test]
fn a_complete_result_is_recorded_and_nobody_is_asked_again() {
    let setup = Setup::new(ASKS);
    let id = interrupted(&setup, Some(RESULT));
    assert_eq!(resumed(&setup, &id), ["after"]);
    assert_eq!(
        setup.facts(&id)[1..5],
        ["job-started ask", "session-opened ask", "job-finished ask", "resumed"].map(str::to_owned)
    );
    let facts = setup.full_facts(&id);
    let Some(Fact::JobFinished { end, .. }) = facts.get(3) else { panic!("{facts:?}") };
    assert_eq!(end.output.text(), Some("Hello."));
    assert_eq!(end.usage.and_then(|usage| usage.cost_usd), Some(0.5));
}

#[test]
fn what_is_not_complete_is_asked_again() {
    let whole = RESULT.len();
    let last_line = RESULT.trim_end().rfind('\n').expect("three lines");
    for length in [0, 20, last_line, last_line + 40, whole - 2] {
        let setup = Setup::new(ASKS);
        let id = interrupted(&setup, Some(&RESULT[..length]));
        assert_eq!(resumed(&setup, &id), ["ask", "after"], "after {length} bytes");
    }
    let setup = Setup::new(ASKS);
    let id = interrupted(&setup, None);
    assert_eq!(resumed(&setup, &id), ["ask", "after"]);
}
