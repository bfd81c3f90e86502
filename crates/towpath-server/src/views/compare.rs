//! Two runs side by side, step by step, and the first step in which they differ.

use super::journal::{find, open_for, shown};
use super::runs;
use crate::Server;
use crate::answer::{Answer, Refusal};
use crate::routes::Asked;
use serde_json::{Value, json};
use std::collections::HashMap;
use towpath_run::Output;
use towpath_view::result_json;
use towpath_view::run_json::ShownRun;

pub(crate) fn answer(server: &Server, asked: &Asked) -> Result<Answer, Refusal> {
    let names = [asked.path("run"), asked.path("other")];
    let store = open_for(server, names[0])?;
    let mut shown_runs = Vec::new();
    let mut rows = Vec::new();
    for name in names {
        let row = find(&store, name)?;
        rows.push(runs::one(server, &store, &row)?);
        shown_runs.push(shown(server, &store, row)?);
    }
    let [first, second] = [&shown_runs[0], &shown_runs[1]];
    let steps = pairs(steps_of(first), &steps_of(second));
    let differing = steps.iter().find(|step| step["differs"] == true);
    Ok(Answer::Json(json!({
        "schema": 1,
        "runs": rows,
        "same_recipe": first.row.recipe == second.row.recipe,
        "first_difference": differing.map(|step| &step["path"]),
        "steps": steps,
    })))
}

/// A step as `show` has it, with the output that is in memory.
struct Compared {
    path: String,
    value: Value,
    output: Option<String>,
}

fn steps_of(shown: &ShownRun) -> Vec<Compared> {
    let view = shown.run().view();
    let mut values = result_json::steps(&view);
    if !shown.is_running() {
        result_json::mark_over(&mut values);
    }
    let mut found = Vec::new();
    flatten(&view, &values, &mut found);
    found
}

fn flatten(steps: &[towpath_run::StepView], values: &Value, found: &mut Vec<Compared>) {
    for (at, step) in steps.iter().enumerate() {
        let output = match step.result.as_ref().map(|result| &result.output) {
            Some(Output::Text(text)) => Some(text.clone()),
            Some(Output::None) => Some(String::new()),
            _ => None,
        };
        let value = values[at].clone();
        flatten(&step.children, &value["children"], found);
        found.push(Compared { path: step.path.to_string(), value, output });
    }
}

/// The steps of the first run in their order, then those that only the second has.
fn pairs(first: Vec<Compared>, second: &[Compared]) -> Vec<Value> {
    let others: HashMap<&str, &Compared> =
        second.iter().map(|step| (step.path.as_str(), step)).collect();
    let known: Vec<String> = first.iter().map(|step| step.path.clone()).collect();
    let both = first.iter().map(|step| pair(Some(step), others.get(step.path.as_str()).copied()));
    let rest = second.iter().filter(|step| !known.contains(&step.path));
    both.chain(rest.map(|step| pair(None, Some(step)))).collect()
}

fn pair(first: Option<&Compared>, second: Option<&Compared>) -> Value {
    let both = |key: &str| -> [Value; 2] {
        [first, second].map(|step| step.map_or(Value::Null, |step| step.value[key].clone()))
    };
    let outputs = [first, second].map(|step| step.and_then(|step| step.output.as_ref()));
    let same_output = match outputs {
        [Some(one), Some(other)] => Some(one == other),
        _ => None,
    };
    let (status, outcome, exit) = (both("status"), both("outcome"), both("exit_code"));
    let same = |pair: &[Value; 2]| pair[0] == pair[1];
    let differs = !(same(&status) && same(&outcome) && same(&exit)) || same_output == Some(false);
    json!({
        "path": first.or(second).map(|step| &step.path),
        "differs": differs,
        "status": status,
        "duration": both("duration"),
        "cost_usd": both("cost_usd"),
        "attempts": both("attempts"),
        "outcome": outcome,
        "same_output": same_output,
    })
}
