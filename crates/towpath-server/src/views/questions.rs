//! The decisions that only the user can take: what became of a step that may run only once, and
//! whether a run that waits is to continue.

use super::journal::{now_ms, open, shown};
use crate::answer::{Answer, Refusal};
use crate::routes::Asked;
use crate::{NextCommand, RunWords, Server};
use serde_json::{Value, json};
use towpath_core::{RunStatus, StepPath};
use towpath_store::RunFilter;
use towpath_view::amounts_and_times::rfc3339;
use towpath_view::foreign_text::escaped;
use towpath_view::run_json::{ShownRun, status_of};

pub(crate) fn answer(server: &Server, _: &Asked) -> Result<Answer, Refusal> {
    let mut questions = Vec::new();
    if let Some(store) = open(server)? {
        for row in store.runs(&RunFilter::default())? {
            let open = matches!(
                status_of(&store, &row),
                RunStatus::Asking { .. } | RunStatus::Waiting { .. } | RunStatus::Interrupted
            );
            // A run that cannot be read asks nothing; looking at it reports why.
            if let Some(shown) = open.then(|| shown(server, &store, row)).and_then(Result::ok) {
                let words = (server.config.describe)(&shown, now_ms());
                questions.extend(of_run(server, &shown, &words));
            }
        }
    }
    Ok(Answer::Json(json!({ "schema": 1, "questions": questions })))
}

/// The questions of one run.
pub(crate) fn of_run(server: &Server, shown: &ShownRun, words: &RunWords) -> Vec<Value> {
    let next = |next: &[NextCommand]| next.iter().map(next_json).collect::<Vec<Value>>();
    let mut questions: Vec<Value> = words
        .questions
        .iter()
        .map(|question| {
            let outcomes = shown.run().outcomes_of(&StepPath::new(&question.step));
            let mut value = base(shown, "asking", &question.text);
            value["step"] = json!(question.step);
            value["once"] = json!(true);
            value["outcomes"] = json!(outcomes);
            value["next"] = next(&question.next).into();
            value
        })
        .collect();
    // One that has a process continues by itself.
    if let (RunStatus::Waiting { until_ms, .. }, false) = (&shown.status, shown.owned) {
        let mut value = base(shown, "waiting", &words.why);
        value["until"] = json!(until_ms.map(|ms| rfc3339(ms, &server.config.zone)));
        value["next"] = next(&words.next).into();
        questions.push(value);
    }
    questions
}

fn base(shown: &ShownRun, kind: &str, text: &str) -> Value {
    json!({
        "run_id": shown.row.id,
        "recipe_name": shown.row.recipe,
        "directory": escaped(&shown.row.directory),
        "kind": kind,
        "step": null,
        "text": text,
        "once": false,
        "outcomes": [],
        "until": null,
        "next": [],
    })
}

pub(crate) fn next_json(next: &NextCommand) -> Value {
    let body = next.action.as_ref().and_then(|action| action.body.clone());
    json!({
        "when": next.when,
        "command": next.command,
        "action": next.action.as_ref().map(|action| action.name),
        "body": body,
    })
}
