//! A run in words: why it is where it is, in one sentence, and the commands that can be given next, each
//! with the action of the page that is the same.

use crate::terminal::format::{clean, count, last_line, local_time};
use crate::terminal::report::{find, has_output, logs, next_commands};
use serde_json::{Value, json};
use towpath_core::{FaultKind, RunId, RunStatus, StepPath};
use towpath_engine::census;
use towpath_run::{Failure, Run, RunOutcome, StopReason};
use towpath_server::{Action, NextCommand, RunWords, StepQuestion};
use towpath_view::run_json::{ShownRun, steps_in_flight};

/// When a run that waits is not to continue.
const GIVE_UP: &str = "give up waiting";

/// As `show` and the last lines of a run describe it.
pub fn describe(shown: &ShownRun, now_ms: i64) -> RunWords {
    let (id, run) = (&shown.row.id, shown.run());
    let resumable = !matches!(shown.status, RunStatus::Done | RunStatus::Running);
    let asking = if resumable { shown.asking(now_ms) } else { Vec::new() };
    RunWords {
        resume: resumable
            .then(|| next_commands::resume(id, run, next_commands::is_edited(run)))
            .flatten(),
        why: why(shown, &asking, now_ms),
        next: next(shown, &asking, now_ms),
        questions: asking.iter().map(|step| question(id, run, step)).collect(),
    }
}

fn why(shown: &ShownRun, asking: &[StepPath], now_ms: i64) -> String {
    if !asking.is_empty() {
        return format!("you must decide about {}", listed(asking));
    }
    match &shown.status {
        RunStatus::Running => match in_flight(shown) {
            steps if steps.is_empty() => "it is running".to_owned(),
            steps => format!("{} {} running", listed(&steps), is_or_are(&steps)),
        },
        RunStatus::Done => done(shown.run()),
        RunStatus::Waiting { why, until_ms } => {
            let alone = if shown.owned { "; it continues by itself then" } else { "" };
            format!("{}{alone}", waiting(*why, *until_ms, now_ms))
        }
        RunStatus::Interrupted => match in_flight(shown) {
            steps if steps.is_empty() => "its process is gone, between two steps".to_owned(),
            steps => format!("its process is gone; {} was interrupted", listed(&steps)),
        },
        _ => ended(shown.run(), &shown.status),
    }
}

fn in_flight(shown: &ShownRun) -> Vec<StepPath> {
    steps_in_flight(&shown.run().view()).into_iter().map(|step| step.path).collect()
}

fn listed(steps: &[StepPath]) -> String {
    let names: Vec<String> = steps.iter().map(|step| clean(step.as_str())).collect();
    match &names[..] {
        [first, second, third, more @ ..] if !more.is_empty() => {
            format!("{first}, {second}, {third} and {} more", more.len())
        }
        names => names.join(", "),
    }
}

fn is_or_are(steps: &[StepPath]) -> &'static str {
    if steps.len() == 1 { "is" } else { "are" }
}

fn done(run: &Run) -> String {
    if let Some(exit) = run.exit() {
        let more = exit.description.map_or(String::new(), |text| format!(" ({text})"));
        return clean(&format!("done: {}{more}", exit.reason));
    }
    let census = census(run);
    format!("done: {} of {} ran", census.ran, count(census.total, "step"))
}

fn waiting(why: FaultKind, until_ms: Option<i64>, now_ms: i64) -> String {
    let until = until_ms.map(|until| local_time(until, now_ms));
    match (why, until) {
        (FaultKind::Limit, Some(until)) => format!("a rate limit of the agent ends at {until}"),
        (FaultKind::Limit, None) => "a rate limit of the agent, until an unknown time".to_owned(),
        (why, Some(until)) => format!("the agent: {}; next try at {until}", why.as_str()),
        (why, None) => format!("the agent: {}", why.as_str()),
    }
}

fn ended(run: &Run, status: &RunStatus) -> String {
    match run.outcome() {
        Some(RunOutcome::Failed { step, failure }) => failed(&step, &failure),
        Some(RunOutcome::Stopped { reason }) => match reason {
            StopReason::Cancel => "it was cancelled".to_owned(),
            StopReason::Signal(1) => "it stopped with its terminal".to_owned(),
            StopReason::Signal(2) => "it was stopped by Ctrl-C".to_owned(),
            StopReason::Signal(15) => "it was stopped by SIGTERM".to_owned(),
            StopReason::Signal(other) => format!("it was stopped by signal {other}"),
        },
        _ if *status == RunStatus::Cancelled => "it was cancelled".to_owned(),
        _ => format!("it is {}", status.as_str()),
    }
}

/// `deploy failed: exit 1: connection refused`
fn failed(step: &StepPath, failure: &Failure) -> String {
    let detail = last_line(&failure.detail);
    let detail = if detail.is_empty() { detail } else { format!(": {detail}") };
    format!("{} failed: {}{detail}", clean(step.as_str()), last_line(&failure.message))
}

fn next(shown: &ShownRun, asking: &[StepPath], now_ms: i64) -> Vec<NextCommand> {
    let (id, run) = (&shown.row.id, shown.run());
    if !asking.is_empty() {
        let steps = asking.iter().flat_map(|step| answers(id, run, step));
        return steps.chain([cancel(id, "give the run up")]).collect();
    }
    match (&shown.status, run.outcome()) {
        (RunStatus::Done, _) => Vec::new(),
        (RunStatus::Running, _) => {
            vec![look("follow it", format!("towpath logs {id} -f")), cancel(id, "end it")]
        }
        (RunStatus::Failed { .. }, Some(RunOutcome::Failed { step, failure })) => {
            let printed = has_output(&failure, find(&run.view(), &step));
            let output = printed.then(|| look("full output", logs(id, &step, &failure)));
            ways(id, run).chain(output).collect()
        }
        (RunStatus::Waiting { .. }, _) if shown.owned => vec![cancel(id, GIVE_UP)],
        (RunStatus::Waiting { until_ms, .. }, _) => {
            let now = until_ms.is_none_or(|until| until <= now_ms);
            let when = if now { "continue" } else { "try now, before that time" };
            vec![resume(when, format!("towpath resume {id}"), Some(json!({}))), cancel(id, GIVE_UP)]
        }
        _ => ways(id, run).collect(),
    }
}

/// The ways to continue the run, each with the body of the request that does the same.
fn ways(id: &RunId, run: &Run) -> impl Iterator<Item = NextCommand> {
    let limit = next_commands::raised_limit(run);
    next_commands::ways(id, run, next_commands::is_edited(run)).into_iter().map(move |way| {
        let body = match way.flag {
            "" => Some(json!({})),
            "--edited" => Some(json!({ "edited": true })),
            "--new-session" => Some(json!({ "new_session": true })),
            "--max-visits N" => Some(json!({ "max_visits": limit })),
            "--max-steps N" => Some(json!({ "max_steps": limit })),
            "--max-restarts N" => Some(json!({ "max_restarts": limit })),
            // The user must choose a step.
            _ => None,
        };
        resume(way.when, way.command, body)
    })
}

fn question(id: &RunId, run: &Run, step: &StepPath) -> StepQuestion {
    StepQuestion {
        step: step.to_string(),
        text: format!("{step} {}", next_commands::question(id, run, step).words.join("\n")),
        next: answers(id, run, step),
    }
}

/// That it has done its work, and that it has not.
fn answers(id: &RunId, run: &Run, step: &StepPath) -> Vec<NextCommand> {
    let body = |verdict: &str| json!({ "step": step, "verdict": verdict });
    let done = next_commands::done(id, run, step);
    vec![
        command("it has done its work", done, "answer", Some(body("done"))),
        // The user types the path, to confirm.
        command(
            "it has not done it",
            next_commands::again(id, step),
            "answer",
            Some(body("again")),
        ),
    ]
}

fn resume(when: &str, text: String, body: Option<Value>) -> NextCommand {
    command(when, text, "resume", body)
}

fn cancel(id: &RunId, when: &str) -> NextCommand {
    command(when, format!("towpath cancel {id}"), "cancel", Some(json!({})))
}

fn command(when: &str, command: String, name: &'static str, body: Option<Value>) -> NextCommand {
    NextCommand { when: when.to_owned(), command, action: Some(Action { name, body }) }
}

/// A command that only looks has no action.
fn look(when: &str, command: String) -> NextCommand {
    NextCommand { when: when.to_owned(), command, action: None }
}
