//! Agents answered in this process: what they are asked, how they fail, and that no call can delay a
//! run.

use crate::support::{Fake, Workspace};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use towpath_engine::{
    AdapterError, AgentCall, Controller, Decision, EngineError, Error, FailureKind, FaultKind,
    RunOutcome, StepStatus, StopReason,
};

const ASKS: &str = r#"
name: asks
steps:
  - id: before
    command: echo ran >> before.log; echo data
  - id: ask
    prompt: "What of {{before}}?"
    output: answer
  - id: after
    command: printf '%s\n' {{answer}} | tee after.log
"#;

/// Works until nobody waits, then reports that.
fn hang(call: &AgentCall, noticed: &mpsc::Sender<()>) -> Result<String, AdapterError> {
    while !call.is_abandoned() {
        std::thread::sleep(Duration::from_millis(2));
    }
    noticed.send(()).expect("the test listens");
    Ok("too late".into())
}

fn failed_with(outcome: &RunOutcome) -> (String, FailureKind) {
    match outcome {
        RunOutcome::Failed { step, failure } => (step.to_string(), failure.kind),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_answer_is_the_steps_output_and_bash_is_real() {
    let workspace = Workspace::new(ASKS);
    let answer = "it's \"fine\"; $(touch escaped) `x`\nsecond line\n";
    let result =
        workspace.runner().adapter(Fake::agent(move |_| Ok(answer.into()))).run("recipe.yaml");
    let result = result.expect("a result");
    assert!(result.success, "{:?}", result.outcome);
    assert_eq!(result.recipe_name, "asks");
    let answer = answer.trim_end();
    assert_eq!(result.context["answer"], answer);
    assert_eq!(workspace.read("work/after.log"), format!("{answer}\n"));
    assert!(!workspace.path("work/escaped").exists(), "a value is no code");
    let ids: Vec<&str> = result.step_results.iter().map(|s| s.step_id.as_str()).collect();
    assert_eq!(ids, ["before", "ask", "after"]);
    assert_eq!(result.step("before").unwrap().output.as_deref(), Some("data"));
    assert!(result.step_results.iter().all(|s| s.status == StepStatus::Completed));
}

#[test]
fn a_call_has_everything_of_its_step() {
    let workspace = Workspace::new(
        r#"
name: asked
steps:
  - id: outer
    recipe: inner
"#,
    );
    workspace.write(
        "work/inner.yaml",
        r#"
name: inner
steps:
  - id: ask
    agent: "ours:helper"
    prompt: "Look."
    model: small
    mode: plan
    working_dir: sub
    timeout: 30
"#,
    );
    std::fs::create_dir_all(workspace.path("agents/ours")).unwrap();
    std::fs::create_dir(workspace.path("work/sub")).unwrap();
    workspace.write("agents/ours/helper.md", "---\nname: helper\n---\nYou help.\n");
    let fake = Fake::agent(|_| Ok(String::new()));
    let calls = Arc::clone(&fake.calls);
    let mut runner = workspace.runner().agent_dirs([workspace.path("agents")]).adapter(fake);
    let result = runner.run("recipe.yaml").expect("a result");
    assert!(result.success, "{:?}", result.outcome);
    let calls = calls.lock().unwrap();
    let [call] = &calls[..] else { panic!("{calls:?}") };
    assert_eq!(call.step, "outer/ask");
    assert!(call.prompt.starts_with("Look.\n\n"), "{}", call.prompt);
    assert_eq!(call.agent.as_deref(), Some("ours:helper"));
    assert_eq!(call.system_prompt.as_deref().map(str::trim), Some("You help."));
    assert_eq!((call.model.as_deref(), call.mode.as_deref()), (Some("small"), Some("plan")));
    assert_eq!(call.working_dir, workspace.path("work/sub").canonicalize().unwrap());
    assert_eq!(call.timeout, Some(Duration::from_secs(30)));
    assert!(!call.session.as_str().is_empty() && call.earlier.is_none());
    assert!(result.step("outer/ask").is_some() && result.step("outer").is_some());
}

#[test]
fn a_failed_call_fails_its_step_and_a_resume_asks_again() {
    let workspace = Workspace::new(ASKS);
    let mut runner = workspace.runner().adapter(Fake::agent(|_| Err("no tokens left".into())));
    let failed = runner.run("recipe.yaml").expect("a result");
    assert!(!failed.success);
    let (step, kind) = failed_with(&failed.outcome);
    assert_eq!((step.as_str(), kind), ("ask", FailureKind::Agent(FaultKind::Crash)));
    let error = failed.step("ask").unwrap().error.as_deref().unwrap_or_default();
    assert!(error.contains("no tokens left"), "{error}");
    assert!(failed.step("after").is_none(), "it was not reached");

    let fake = Fake::agent(|_| Ok("better".into()));
    let calls = Arc::clone(&fake.calls);
    let mut runner = workspace.runner().adapter(fake);
    let resumed = runner.resume(failed.run_id.as_str()).expect("a result");
    assert!(resumed.success, "{:?}", resumed.outcome);
    assert_eq!(resumed.run_id, failed.run_id);
    assert_eq!(workspace.read("work/before.log"), "ran\n", "what is finished is not run again");
    assert_eq!(workspace.read("work/after.log"), "better\n");

    let read = runner.resume(failed.run_id.as_str()).expect("a result");
    assert_eq!(read.step_results, resumed.step_results);
    assert_eq!(calls.lock().unwrap().len(), 1, "a run that is done is only read");

    let again = [Decision::Again { step: "after".into() }];
    let again = runner.resume_with(failed.run_id.as_str(), &again).expect("a result");
    assert!(again.success && again.step("after#2").is_some(), "{:?}", again.step_results);
    assert_eq!(calls.lock().unwrap().len(), 1);
}

#[test]
fn what_is_wrong_decides_what_follows() {
    let workspace = Workspace::new(
        "name: r\nsteps:\n  - {id: ask, prompt: why, continue_on_error: true}\n  - {id: after, command: 'true'}\n",
    );
    let run = |kind| {
        let fake = Fake::agent(move |_| Err(AdapterError::of(kind, "no")));
        workspace.runner().adapter(fake).run("recipe.yaml").expect("a result")
    };
    let tolerated = run(FaultKind::Overloaded);
    assert!(tolerated.success && tolerated.step("ask").unwrap().tolerated);
    let (step, kind) = failed_with(&run(FaultKind::Auth).outcome);
    assert_eq!((step.as_str(), kind), ("ask", FailureKind::Agent(FaultKind::Auth)));
    let limit = Fake::agent(|_| Err(AdapterError::limit_until(4_102_444_800_000, "later")));
    let limited = workspace.runner().adapter(limit).run("recipe.yaml").expect("a result");
    assert_eq!(
        limited.outcome,
        RunOutcome::Waiting { why: FaultKind::Limit, until_ms: Some(4_102_444_800_000) }
    );
}

#[test]
fn a_panic_is_a_failed_call() {
    let workspace = Workspace::new(ASKS);
    let mut runner = workspace.runner().adapter(Fake::agent(|_| panic!("not written yet")));
    let result = runner.run("recipe.yaml").expect("a result");
    let error = result.step("ask").unwrap().error.as_deref().unwrap_or_default();
    assert!(error.contains("fake panicked: not written yet"), "{error}");
}

#[test]
fn a_call_that_hangs_is_abandoned_at_its_timeout() {
    let workspace = Workspace::new(
        "name: r\nsteps:\n  - {id: ask, prompt: why, timeout: 1, continue_on_error: true}\n  - {id: after, command: 'echo continued'}\n",
    );
    let (noticed, abandoned) = mpsc::channel();
    let noticed = Mutex::new(noticed);
    let fake = Fake::agent(move |call| hang(call, &noticed.lock().unwrap().clone()));
    let result = workspace.runner().adapter(fake).run("recipe.yaml").expect("a result");
    let ask = result.step("ask").unwrap();
    let StepStatus::Failed(failure) = &ask.status else { panic!("{ask:?}") };
    assert_eq!((failure.kind, failure.message.as_str()), {
        (FailureKind::Timeout, "timed out after 1 s")
    });
    assert!(ask.output.as_deref().unwrap_or_default().is_empty(), "{ask:?}");
    assert_eq!(result.step("after").unwrap().output.as_deref(), Some("continued"));
    abandoned.recv_timeout(Duration::from_secs(10)).expect("the call knows it");
}

#[test]
fn a_stop_does_not_wait_for_a_call_and_the_run_can_be_resumed() {
    let workspace = Workspace::new(ASKS);
    let controller: Arc<Mutex<Option<Controller>>> = Arc::default();
    let (noticed, abandoned) = mpsc::channel();
    let noticed = Mutex::new(noticed);
    let stops = Arc::clone(&controller);
    let fake = Fake::agent(move |call| {
        let controller = stops.lock().unwrap().clone().expect("the run has begun");
        controller.stop(StopReason::Cancel);
        hang(call, &noticed.lock().unwrap().clone())
    });
    let mut runner =
        workspace.runner().adapter(fake).on_start(move |c| *controller.lock().unwrap() = Some(c));
    let stopped = runner.run("recipe.yaml").expect("a result");
    assert_eq!(stopped.outcome, RunOutcome::Stopped { reason: StopReason::Cancel });
    abandoned.recv_timeout(Duration::from_secs(10)).expect("the call knows it");
    let mut runner = workspace.runner().adapter(Fake::agent(|_| Ok("now".into())));
    let resumed = runner.resume(stopped.run_id.as_str()).expect("a result");
    assert!(resumed.success, "{:?}", resumed.outcome);
    assert_eq!(workspace.read("work/before.log"), "ran\n");
    assert_eq!(workspace.read("work/after.log"), "now\n");
}

#[test]
fn an_adapter_that_is_not_available_starts_and_records_nothing() {
    let workspace = Workspace::new(ASKS);
    let mut fake = Fake::agent(|_| Ok(String::new()));
    fake.available = false;
    let error = workspace.runner().adapter(fake).run("recipe.yaml").expect_err("refused");
    let Error::Engine(EngineError::Unavailable { adapter }) = &error else { panic!("{error}") };
    assert_eq!(adapter, "fake");
    assert!(!workspace.path("state").exists() && !workspace.path("work/before.log").exists());
}

#[test]
fn an_answer_without_json_is_asked_for_again_in_its_session() {
    let workspace = Workspace::new(
        "name: r\nsteps:\n  - {id: ask, prompt: list, parse_json: true, output: it}\n",
    );
    let fake = Fake::agent(|call| match &call.earlier {
        None => Ok("one and two".into()),
        Some(_) => Ok("```json\n[1, 2]\n```".into()),
    });
    let calls = Arc::clone(&fake.calls);
    let result = workspace.runner().adapter(fake).run("recipe.yaml").expect("a result");
    assert_eq!(result.context["it"][1], 2);
    let calls = calls.lock().unwrap();
    let [first, second] = &calls[..] else { panic!("{calls:?}") };
    assert_eq!(first.session, second.session);
    assert_eq!(second.earlier.as_deref(), Some("one and two"));
    assert!(second.whole_prompt().contains("one and two"), "{}", second.whole_prompt());
    assert!(second.whole_prompt().ends_with(&second.prompt));
}

#[test]
fn agents_of_a_group_are_asked_at_once() {
    let workspace = Workspace::new(
        "name: r\nsteps:\n  - {id: a, prompt: a, parallel_group: g}\n  - {id: b, prompt: b, parallel_group: g}\n",
    );
    // Each call waits for the other: one after the other they would never return.
    let both = std::sync::Barrier::new(2);
    let fake = Fake::agent(move |_| {
        both.wait();
        Ok("met".into())
    });
    let result = workspace.runner().adapter(fake).run("recipe.yaml").expect("a result");
    assert!(result.success);
}
