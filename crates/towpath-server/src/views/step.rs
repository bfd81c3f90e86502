//! One visit of a step: what it is in the recipe, and each of its jobs with the command or the prompt
//! that was sent, the answer, the outputs and what the call used.

use super::job_list::{JobEntry, job_list};
use super::journal::{find, open_for, shown};
use crate::Server;
use crate::answer::{Answer, Refusal};
use crate::routes::Asked;
use serde_json::{Value, json};
use std::collections::HashMap;
use towpath_core::{JobKey, StepPath};
use towpath_engine::started_jobs;
use towpath_recipe::{Effect, Program, Step};
use towpath_run::{Job, JobStatus, JobWork, StepView};
use towpath_view::{callee, result_json, step_text};

pub(crate) fn answer(server: &Server, asked: &Asked) -> Result<Answer, Refusal> {
    let name = asked.path("run");
    let store = open_for(server, name)?;
    let shown = shown(server, &store, find(&store, name)?)?;
    let steps = shown.run().view();
    let wanted = find_step(&steps, asked.path("step"))?;
    let path = wanted.path.clone();
    let mut value = result_json::steps(std::slice::from_ref(wanted));
    if !shown.is_running() {
        result_json::mark_over(&mut value);
    }
    let id = &shown.row.id;
    let visits = visits(&steps, &path);
    // A visit that was run again has no step of its own any more: its jobs are shown with the last one.
    let is_own = |key: &JobKey| {
        let other = key.step_path();
        let replaced = || !visits.iter().any(|visit| visit == other.as_str());
        other == path || other.without_visits() == path.without_visits() && replaced()
    };
    let texts = started_jobs(&store, id, server.config.run_limits, &is_own)?;
    let texts: HashMap<u32, Job> = texts.into_iter().map(|job| (job.number, job.job)).collect();
    let jobs = job_list(server, &store, &shown)?;
    let own = jobs.iter().filter(|job| is_own(&job.key));
    let jobs: Vec<Value> = own.map(|job| job_json(job, texts.get(&job.number))).collect();
    let definition = definition(shown.run().program(), &path);
    let condition = definition.and_then(|step| step.condition.as_ref());
    let outcomes: Vec<&str> = definition.map_or_else(Vec::new, |step| {
        step.outcomes.iter().map(|outcome| outcome.name.as_str()).collect()
    });
    Ok(Answer::Json(json!({
        "schema": 1,
        "run_id": id,
        "step": value[0],
        "text": definition.map(step_text).unwrap_or_default(),
        "condition": condition.map(towpath_recipe::condition::Condition::text),
        "once": definition.is_some_and(|step| step.effect == Effect::Once),
        "outcomes": outcomes,
        "visits": visits,
        "jobs": jobs,
    })))
}

/// All steps, called recipes below their step.
fn walk<'a>(steps: &'a [StepView], found: &mut Vec<&'a StepView>) {
    for step in steps {
        found.push(step);
        walk(&step.children, found);
    }
}

/// By its path; without visits it means the latest, and the end of a path is enough where it is unique.
fn find_step<'a>(steps: &'a [StepView], name: &str) -> Result<&'a StepView, Refusal> {
    let mut all = Vec::new();
    walk(steps, &mut all);
    let exact = all.iter().find(|step| step.path.as_str() == name);
    let latest = all.iter().rev().find(|step| step.path.without_visits() == name);
    if let Some(step) = exact.or(latest) {
        return Ok(step);
    }
    let ending = format!("/{name}");
    let mut near = all.iter().filter(|step| step.path.as_str().ends_with(&ending));
    match (near.next(), near.next()) {
        (Some(step), None) => Ok(step),
        (None, _) => Err(Refusal::not_found(format!("there is no step `{name}`"))),
        _ => Err(Refusal::bad_input(format!("`{name}` could be several steps: give its path"))),
    }
}

fn visits(steps: &[StepView], path: &StepPath) -> Vec<String> {
    let mut all = Vec::new();
    walk(steps, &mut all);
    let own = path.without_visits();
    let same = all.iter().filter(|step| step.path.without_visits() == own);
    same.map(|step| step.path.to_string()).collect()
}

/// The step in its recipe. A state machine may have continued with another recipe: then it is looked for
/// in all of them.
pub(crate) fn definition<'a>(program: &'a Program, path: &StepPath) -> Option<&'a Step> {
    let bare = path.without_visits();
    let mut recipe = 0;
    let mut found = None;
    for id in bare.split('/') {
        let steps = &program.recipes[recipe].steps;
        found = steps.iter().find(|step| step.id == id);
        recipe = found.and_then(|step| callee(program, recipe, step)).unwrap_or(recipe);
    }
    let last = bare.rsplit('/').next().unwrap_or(&bare);
    found.or_else(|| program.recipes.iter().flat_map(|r| &r.steps).find(|step| step.id == last))
}

fn job_json(entry: &JobEntry, job: Option<&Job>) -> Value {
    let mut value = entry.json();
    let end = entry.end.as_ref();
    let exit_code = end.and_then(|end| match end.status {
        JobStatus::Exited(code) => Some(code),
        _ => None,
    });
    let is_agent = matches!(job.map(|job| &job.work), Some(JobWork::Agent(_)));
    let answer = end.filter(|_| is_agent).and_then(|end| end.output.text());
    let usage = end.and_then(|end| end.usage).map(|usage| {
        json!({
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cost_usd": usage.cost_usd,
        })
    });
    value["text"] = json!(job.map(text_of));
    value["directory"] = json!(job.map(|job| &job.directory));
    value["backend"] = json!(entry.backend);
    value["model"] = json!(entry.model.as_ref().or_else(|| model_of(job)));
    value["session_id"] = json!(entry.session);
    value["exit_code"] = json!(exit_code);
    value["error"] = json!(end.map_or("", |end| &end.error));
    value["answer"] = json!(answer);
    value["usage"] = json!(usage);
    value
}

fn model_of(job: Option<&Job>) -> Option<&String> {
    match job.map(|job| &job.work) {
        Some(JobWork::Agent(agent)) => agent.model.as_ref(),
        _ => None,
    }
}

/// A prompt as it was sent; a script with the values of its variables above it.
fn text_of(job: &Job) -> String {
    match &job.work {
        JobWork::Agent(agent) => agent.prompt.clone(),
        JobWork::Bash(filled) => filled.with_values(),
    }
}
