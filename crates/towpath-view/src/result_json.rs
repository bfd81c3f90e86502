//! A run's result as one JSON value, with every step and what it printed.
//!
//! Unknown is null, never zero; what is too long to be given whole is cut, with its length and its
//! file named.

use crate::amounts_and_times::{rfc3339, seconds};
use crate::cost::Cost;
use crate::failure_text::failure_text;
use crate::machine_exit_reason::machine_exit;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use towpath_core::{RunId, extract_json};
use towpath_engine::{RunEnd, census, step_output};
use towpath_run::{
    AgentCall, CallEnd, FailureKind, Output, Run, RunOutcome, StepKind, StepResult, StepState,
    StepStatus, StepView,
};
use towpath_store::{Output as Stored, Store, StoreError};

/// An output over this is cut.
const LONGEST: usize = 1 << 20;

/// An output that could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ResultError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{path}: {error}", path = path.display())]
    Read { path: PathBuf, error: io::Error },
}

/// What a result needs beside the run's end.
#[derive(Debug)]
pub struct ResultOptions<'a> {
    /// Where the outputs are that are not in memory.
    pub store: &'a Store,
    pub exit_code: u8,
    pub with_context: bool,
    pub zone: TimeZone,
}

pub fn result_json(end: &RunEnd, options: &ResultOptions<'_>) -> Result<Value, ResultError> {
    let ResultOptions { store, exit_code, with_context, zone } = options;
    let mut steps = Steps { record: Some((store, &end.id)) }.list(&end.run.view())?;
    mark_over(&mut steps);
    let mut object = json!({
        "schema": 1,
        "success": end.outcome == RunOutcome::Done,
        "recipe_name": end.run.program().root().name,
        "run_id": end.id,
        "status": end.outcome.as_str(),
        "exit_code": exit_code,
        "duration": seconds(i64::try_from(end.took.as_millis()).unwrap_or(i64::MAX)),
        "summary": summary(end),
    });
    match &end.outcome {
        RunOutcome::Failed { step, .. } => object["failed_step"] = json!(step),
        RunOutcome::Waiting { why, until_ms } => {
            object["waiting_for"] = json!(why.as_str());
            object["waiting_until"] = json!(until_ms.map(|ms| rfc3339(ms, zone)));
        }
        RunOutcome::Asking { steps } => object["asking"] = json!(steps),
        RunOutcome::Done | RunOutcome::Stopped { .. } => {}
    }
    if let Some(machine) = machine(&end.run) {
        object["machine"] = machine;
    }
    object["steps"] = steps;
    if *with_context {
        object["context"] = Value::Object(end.run.context().clone());
    }
    Ok(object)
}

/// Nothing runs in a run without an owner: a step that calls a recipe has the status that its steps
/// wait with, and what its owner left behind was interrupted.
pub fn mark_over(steps: &mut Value) {
    for step in steps.as_array_mut().into_iter().flatten() {
        let mut within = None;
        if let Some(children) = step.get_mut("children") {
            mark_over(children);
            let mut words = children.as_array().into_iter().flatten().map(|c| c["status"].clone());
            within = words.find(|word| *word == "waiting" || *word == "asking");
        }
        if step["status"] == "running" {
            step["status"] = within.unwrap_or_else(|| "interrupted".into());
        }
    }
}

/// Where a state machine is and how it ended; nothing for a step recipe.
pub fn machine(run: &Run) -> Option<Value> {
    let view = run.machine_view()?;
    let exit = machine_exit(run);
    let visits: Map<String, Value> =
        view.visits.iter().map(|(step, visits)| (step.clone(), json!(visits))).collect();
    let started = run.view().iter().filter_map(|step| step.started_ms).min();
    let mut retries = Map::new();
    if let Some(step) = view.step.as_ref().filter(|_| view.reminders > 0) {
        retries.insert(step.clone(), json!(view.reminders));
    }
    Some(json!({
        "recipeId": view.recipe,
        "currentStep": view.step,
        "stepCount": view.steps,
        "stepVisitCounts": visits,
        "stepRetryCounts": retries,
        "startTime": started,
        "sessionId": view.last_call.and_then(|call| call.session),
        "sessionCreated": view.session_created,
        "restarts": view.restarts,
        "reason": exit.as_ref().map(|exit| &exit.reason),
        "description": exit.as_ref().and_then(|exit| exit.description.as_ref()),
    }))
}

/// Why a call has no answer, with the message that came with it.
fn call_error(end: &CallEnd) -> String {
    let class = end.error.as_deref().unwrap_or_default();
    let colon = if class.is_empty() || end.detail.is_empty() { "" } else { ": " };
    format!("{class}{colon}{}", end.detail)
}

/// The result of one agent call; of a state machine's step also what it reported.
fn call((call, end): (&AgentCall, &CallEnd)) -> Value {
    let used = end.usage.unwrap_or_default();
    let kind = if call.key.call > 0 { "reminder" } else { "prompt" };
    let mut object = match (&end.report, &end.error) {
        (Some(Ok(report)), _) => json!({
            "success": true,
            "outcome": report.outcome,
            "description": report.description,
        }),
        (Some(Err(fault)), _) => json!({
            "success": false,
            "error": fault.error,
            "malformedJson": fault.candidate,
        }),
        (None, None) => json!({ "success": true }),
        (None, Some(_)) => json!({
            "success": false,
            "error": call_error(end),
            "malformedJson": null,
        }),
    };
    object["kind"] = json!(kind);
    object["backend"] = json!(call.backend);
    object["session_id"] = json!(call.session);
    object["input_tokens"] = json!(used.input_tokens);
    object["output_tokens"] = json!(used.output_tokens);
    object["cost_usd"] = json!(used.cost_usd);
    object
}

/// The steps of a run, without reading what only its files have: such an output is null, with its
/// length.
pub fn steps(steps: &[StepView]) -> Value {
    Steps { record: None }.list(steps).expect("nothing is read that could fail")
}

fn summary(end: &RunEnd) -> Value {
    let census = census(&end.run);
    let view = end.run.view();
    let interrupted = view.iter().filter(|step| step_status(step) == "interrupted").count();
    let cost = Cost::of(&census);
    let skipped: Vec<Value> = census
        .skipped
        .iter()
        .map(|(step, reason)| json!({ "step": step, "reason": reason }))
        .collect();
    let stopped = view.iter().filter(|step| is_stopped(step)).count();
    let mut summary = json!({
        "total": census.total,
        "ran": census.ran.saturating_sub(stopped),
        "completed": census.completed,
        "failed": census.failed.saturating_sub(stopped),
        "interrupted": interrupted,
        "skipped": skipped,
        "tolerated": census.tolerated,
        "degraded": census.degraded,
        "recovered": census.recovered,
        "unfinished": census.unfinished,
        "not_reached": census.not_reached,
        "warnings": end.warnings,
        "agent_calls": census.agent_calls,
        "cost_usd": cost.known(),
        "cost_complete": !cost.unknown,
    });
    if let Some(now) = census.ran_now {
        summary["ran_now"] = json!(now);
    }
    if !end.unused_lines.is_empty() {
        summary["unused_script_lines"] = json!(end.unused_lines);
    }
    summary
}

fn is_stopped(step: &StepView) -> bool {
    let status = step.result.as_ref().map(|result| &result.status);
    matches!(status, Some(StepStatus::Failed(failure)) if failure.kind == FailureKind::Stopped)
}

/// The status of a step, in one word.
pub fn step_status(step: &StepView) -> &'static str {
    match (step.state, &step.result) {
        (StepState::Ended, Some(_)) if is_stopped(step) => "interrupted",
        (StepState::Ended, Some(_)) if step.gave_up => "failed",
        (StepState::Ended, Some(result)) => result.status.as_str(),
        (StepState::Ended, None) | (StepState::Pending, _) => "pending",
        (StepState::NotReached, _) => "not_reached",
        (StepState::Running, _) => "running",
        (StepState::Interrupted, _) => "interrupted",
        (StepState::Waiting, _) => "waiting",
        (StepState::Asking, _) => "asking",
    }
}

struct Steps<'a> {
    /// Where outputs are read that are not in memory.
    record: Option<(&'a Store, &'a RunId)>,
}

impl Steps<'_> {
    fn list(&self, steps: &[StepView]) -> Result<Value, ResultError> {
        steps.iter().map(|step| self.one(step)).collect::<Result<Vec<_>, _>>().map(Value::Array)
    }

    fn one(&self, step: &StepView) -> Result<Value, ResultError> {
        let mut object = Map::new();
        object.insert("step_id".into(), json!(step.id));
        object.insert("path".into(), json!(step.path));
        object.insert("type".into(), json!(step.kind.as_str()));
        object.insert("status".into(), json!(step_status(step)));
        self.output(step, &mut object)?;
        let exit_code = step.result.as_ref().and_then(|result| result.exit_code);
        object.insert("exit_code".into(), json!(exit_code));
        let error = match (&step.result, step.state) {
            (None, StepState::Waiting) => {
                let last = step.ended_calls().last();
                last.map_or(String::new(), |(_, end)| call_error(end))
            }
            (result, _) => result.as_ref().map_or(String::new(), step_error),
        };
        let report = step.result.as_ref().and_then(|result| result.report.as_ref());
        let error = match report.filter(|_| step.gave_up && error.is_empty()) {
            Some(report) => report.description.clone().unwrap_or_else(|| report.outcome.clone()),
            None => error,
        };
        object.insert("error".into(), json!(error));
        if let Some(took) = step.took_ms() {
            object.insert("duration".into(), json!(seconds(took)));
        }
        if let Some(report) = report {
            object.insert("outcome".into(), json!(report.outcome));
            object.insert("description".into(), json!(report.description));
        }
        if step.ended_calls().next().is_some() {
            object.insert("calls".into(), step.ended_calls().map(call).collect());
        }
        object.insert("tolerated".into(), json!(step.tolerated));
        object.insert("attempts".into(), json!(step.attempts));
        if step.restarts > 0 {
            object.insert("restarts".into(), json!(step.restarts));
        }
        let result = step.result.as_ref();
        if let Some(StepStatus::Skipped { reason }) = result.map(|r| &r.status) {
            object.insert("skip_reason".into(), json!(reason));
        } else if result.is_some()
            && (step.kind == StepKind::Agent || step.ended_calls().next().is_some())
        {
            // A recipe step has the call of its recovery.
            let cost = Cost::of_calls(step);
            object.insert("cost_usd".into(), json!(cost.known()));
            object.insert("cost_complete".into(), json!(!cost.unknown));
        }
        if step.kind == StepKind::Agent {
            object.insert(
                "session_id".into(),
                json!(step.calls.last().and_then(|call| call.session.as_ref())),
            );
        }
        if step.kind == StepKind::Recipe {
            object.insert("children".into(), self.list(&step.children)?);
        }
        Ok(Value::Object(object))
    }

    fn output(&self, step: &StepView, object: &mut Map<String, Value>) -> Result<(), ResultError> {
        let output = step.result.as_ref().map_or(&Output::None, |result| &result.output);
        let (text, len) = match output {
            Output::None => (Some(String::new()), 0),
            Output::Text(text) => (Some(beginning(text).to_owned()), text.len() as u64),
            Output::OnDisk { len } | Output::TooLarge { len } => (self.stored_text(step)?, *len),
        };
        if text.is_none() || len > LONGEST as u64 {
            object.insert("output_length".into(), json!(len));
            if let Some(Stored::File { path, .. }) = self.stored(step)? {
                object.insert("output_file".into(), json!(path.to_string_lossy()));
            }
        }
        let succeeded = step.result.as_ref().is_some_and(|result| result.status.is_success());
        if step.gives_json && succeeded && len <= LONGEST as u64 {
            object.insert("value".into(), json!(text.as_deref().and_then(extract_json)));
        }
        object.insert("output".into(), json!(text));
        Ok(())
    }

    /// The output in the record; none where there is none to be read.
    fn stored_text(&self, step: &StepView) -> Result<Option<String>, ResultError> {
        let mut bytes = match self.stored(step)? {
            None => return Ok(None),
            Some(Stored::Inline(bytes)) => bytes,
            Some(Stored::File { path, .. }) => read_beginning(&path)?,
        };
        let whole = bytes.len() <= LONGEST;
        bytes.truncate(LONGEST);
        let text = String::from_utf8_lossy(&bytes);
        // The same as a value of the recipe: without the line breaks at its end.
        let text = if whole { text.trim_end_matches('\n') } else { &text };
        Ok(Some(beginning(text).to_owned()))
    }

    fn stored(&self, step: &StepView) -> Result<Option<Stored>, ResultError> {
        let Some((store, run)) = self.record else { return Ok(None) };
        Ok(step_output(store, run, step)?)
    }
}

/// Why a step failed, with the end of what it printed on stderr.
pub fn step_error(result: &StepResult) -> String {
    match &result.status {
        StepStatus::Failed(failure) => failure_text(failure),
        _ => result.report.as_ref().and_then(|report| report.why.clone()).unwrap_or_default(),
    }
}

/// At most the longest allowed, cut between characters.
fn beginning(text: &str) -> &str {
    if text.len() <= LONGEST {
        return text;
    }
    let mut end = LONGEST;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// One byte more than is shown distinguishes a longer file from one that just fits.
fn read_beginning(path: &Path) -> Result<Vec<u8>, ResultError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|f| f.take(LONGEST as u64 + 1).read_to_end(&mut bytes));
    read.map_err(|error| ResultError::Read { path: path.to_owned(), error })?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{driven, ended};
    use towpath_core::Usage;
    use towpath_run::{JobEnd, JobStatus};
    use towpath_store::{NewFact, NewRun, OutputRef, Summary, settle_output};

    fn exit(code: i32, output: &str) -> JobEnd {
        let output = Output::Text(output.to_owned());
        JobEnd { output, ..JobEnd::new(JobStatus::Exited(code)) }
    }

    fn result(store: &Store, end: &RunEnd, with_context: bool) -> Value {
        let options = ResultOptions { store, exit_code: 1, with_context, zone: TimeZone::UTC };
        result_json(end, &options).unwrap()
    }

    fn new_run() -> NewRun {
        NewRun {
            recipe: "r".into(),
            source: "r".into(),
            directory: "/".into(),
            plan: String::new(),
            created_ms: 0,
            summary: Summary::default(),
        }
    }

    const RECIPE: &str = r#"
name: r
steps:
  - { id: build, command: "true" }
  - { id: off, command: "true", condition: "1 == 2" }
  - { id: sub, type: recipe, recipe: inner }
  - { id: ask, type: agent, prompt: "look" }
  - { id: test, command: "true" }
  - { id: never, command: "true" }
"#;
    const INNER: &str = "name: inner\nsteps:\n  - { id: big, command: \"true\" }\n";

    fn finished(store: &mut Store, big: &[u8]) -> RunEnd {
        let id = RunId::new("7f3k").unwrap();
        store.create_run(&new_run(), &mut |_| id.clone(), &[]).unwrap();
        let directory = store.run_directory(&id);
        let len = big.len() as u64;
        let run = driven(&[("r", RECIPE), ("inner", INNER)], &mut |key| match key.step.as_str() {
            "build" => exit(0, "built"),
            "big" => {
                std::fs::write(directory.join("7.stdout"), big).unwrap();
                let stdout: Option<OutputRef> = settle_output(&directory, "7.stdout").unwrap();
                let key = Some(key.to_string());
                let fact = NewFact { key, stdout, ..NewFact::new(0, "job-finished", "{}") };
                store.append(&id, &[fact], None).unwrap();
                JobEnd { output: Output::OnDisk { len }, ..exit(0, "") }
            }
            "ask" => {
                let usage = Some(Usage { cost_usd: Some(0.25), ..Usage::default() });
                JobEnd { usage, ..exit(0, "looks fine") }
            }
            _ => JobEnd { error: "boom".into(), ..exit(1, "half") },
        });
        ended(run)
    }

    #[test]
    fn a_result_has_every_step_and_what_it_printed() {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::open(home.path()).unwrap();
        let end = finished(&mut store, b"one\ntwo\n");
        let value = result(&store, &end, true);
        let steps = json!([
            {"step_id": "build", "path": "build", "type": "bash", "status": "completed",
             "output": "built", "exit_code": 0, "error": "", "duration": 1.5,
             "tolerated": false, "attempts": 1},
            {"step_id": "off", "path": "off", "type": "bash", "status": "skipped", "output": "",
             "exit_code": null, "error": "", "tolerated": false, "attempts": 0,
             "skip_reason": "condition false"},
            {"step_id": "sub", "path": "sub", "type": "recipe", "status": "completed",
             "output": "one\ntwo", "exit_code": null, "error": "", "duration": 1.5,
             "tolerated": false, "attempts": 0, "children": [
                {"step_id": "big", "path": "sub/big", "type": "bash", "status": "completed",
                 "output": "one\ntwo", "exit_code": 0, "error": "", "duration": 1.5,
                 "tolerated": false, "attempts": 1}]},
            {"step_id": "ask", "path": "ask", "type": "agent", "status": "completed",
             "output": "looks fine", "exit_code": 0, "error": "", "duration": 1.5,
             "tolerated": false, "attempts": 1, "cost_usd": 0.25, "cost_complete": true,
             "session_id": null, "calls": [
                {"success": true, "kind": "prompt", "backend": null, "session_id": null,
                 "input_tokens": null, "output_tokens": null, "cost_usd": 0.25}]},
            {"step_id": "test", "path": "test", "type": "bash", "status": "failed",
             "output": "half", "exit_code": 1, "error": "exit 1: boom", "duration": 1.5,
             "tolerated": false, "attempts": 1},
            {"step_id": "never", "path": "never", "type": "bash", "status": "not_reached",
             "output": "", "exit_code": null, "error": "", "tolerated": false, "attempts": 0},
        ]);
        let expected = json!({
            "schema": 1, "success": false, "recipe_name": "r", "run_id": "7f3k",
            "status": "failed", "exit_code": 1, "duration": 123.0,
            "summary": {"total": 6, "ran": 4, "completed": 3, "failed": 1, "interrupted": 0,
                "skipped": [{"step": "off", "reason": "condition false"}], "tolerated": [],
                "degraded": [], "recovered": [],
                "unfinished": 0, "not_reached": 1, "warnings": [], "agent_calls": 1,
                "cost_usd": 0.25, "cost_complete": true},
            "failed_step": "test",
            "steps": steps,
            "context": end.run.context(),
        });
        assert_eq!(value, expected);
        assert_eq!(value["context"]["build"], "built");
    }

    #[test]
    fn a_long_output_is_cut_with_its_length_and_file() {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::open(home.path()).unwrap();
        let long = "ä".repeat(LONGEST);
        let end = finished(&mut store, long.as_bytes());
        let value = result(&store, &end, false);
        let big = &value["steps"][2]["children"][0];
        let text = big["output"].as_str().unwrap();
        assert!(text.len() <= LONGEST && text.len() > LONGEST - 4 && !text.contains('\u{fffd}'));
        assert_eq!(big["output_length"], json!(2 * LONGEST));
        let file = std::fs::read(big["output_file"].as_str().unwrap()).unwrap();
        assert_eq!(file, long.as_bytes());
        assert!(value.get("context").is_none());
    }

    #[test]
    fn the_cost_of_a_recovery_is_that_of_its_step() {
        let outer = "name: r\nsteps:\n  - { id: call, recipe: i, recovery_on_failure: true }\n";
        let inner = "name: i\nsteps:\n  - { id: a, prompt: x }\n  - { id: b, command: x }\n";
        let run = driven(&[("r", outer), ("i", inner)], &mut |key| {
            let usage = Some(Usage { cost_usd: Some(0.25), ..Usage::default() });
            let code = i32::from(key.step == "b");
            JobEnd { usage: usage.filter(|_| code == 0), ..exit(code, "recovered") }
        });
        let steps = steps(&run.view());
        let costs = [&steps[0]["cost_usd"], &steps[0]["children"][0]["cost_usd"]];
        assert_eq!(costs, [&json!(0.25), &json!(0.25)]);
        assert_eq!(summary(&ended(run))["cost_usd"], json!(0.5), "and all of it");
    }

    #[test]
    fn a_cost_has_its_known_part_and_whether_that_is_all() {
        let recipe = "name: r\nsteps:\n  - { id: a, prompt: x }\n  - { id: b, prompt: x }\n";
        let cost = |first: Option<f64>, second: Option<f64>| {
            let run = driven(&[("r", recipe)], &mut |key| {
                let cost_usd = if key.step == "a" { first } else { second };
                let usage = cost_usd.map(|_| Usage { cost_usd, ..Usage::default() });
                JobEnd { usage, ..exit(0, "") }
            });
            let summary = summary(&ended(run));
            (summary["cost_usd"].clone(), summary["cost_complete"].clone())
        };
        assert_eq!(cost(None, None), (Value::Null, json!(false)));
        assert_eq!(cost(Some(0.5), None), (json!(0.5), json!(false)));
        assert_eq!(cost(Some(0.5), Some(0.25)), (json!(0.75), json!(true)));
        let none =
            driven(&[("r", "name: r\nsteps:\n  - { id: a, command: x }\n")], &mut |_| exit(0, ""));
        assert_eq!(summary(&ended(none))["cost_usd"], json!(0.0));
    }
}
