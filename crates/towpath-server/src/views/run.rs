//! One run: what `show` prints as JSON, with why it is where it is, what can be done next, what a
//! resume would do, and every job.

use super::job_list::{JobEntry, job_list};
use super::journal::{find, now_ms, open_for, owner, shown};
use super::questions::{next_json, of_run};
use crate::Server;
use crate::answer::{Answer, Refusal};
use crate::routes::Asked;
use serde_json::{Value, json};
use towpath_view::resume_preview;

pub(crate) fn answer(server: &Server, asked: &Asked) -> Result<Answer, Refusal> {
    let name = asked.path("run");
    let store = open_for(server, name)?;
    let shown = shown(server, &store, find(&store, name)?)?;
    let (now, zone) = (now_ms(), &server.config.zone);
    let words = (server.config.describe)(&shown, now);
    let mut value = shown.json(words.resume.clone(), now, zone);
    let jobs = job_list(server, &store, &shown)?;
    value["input_texts"] = texts(&value["inputs"]);
    value["why"] = json!(words.why);
    value["next"] = words.next.iter().map(next_json).collect();
    value["resume_preview"] = resume_preview(&shown, now);
    value["owner"] = owner(server, &store, &shown.row.id);
    value["jobs"] = jobs.iter().map(JobEntry::json).collect::<Vec<Value>>().into();
    value["questions"] = of_run(server, &shown, &words).into();
    value["facts"] = json!(shown.recorded.facts);
    Ok(Answer::Json(value))
}

/// Values as text: a browser has fewer digits than a number may have.
pub(crate) fn texts(values: &Value) -> Value {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        value => serde_json::to_string_pretty(value).unwrap_or_default(),
    };
    let values = values.as_object().into_iter().flatten();
    values.map(|(name, value)| (name.clone(), json!(text(value)))).collect()
}
