//! A recipe and all it calls as JSON: every recipe of the plan with its steps, and of a state machine
//! its transitions, its guardrails, how long it can run and how it can end.

use crate::chart::{RESTARTS_EXCEEDED, refused_restart};
use crate::hooks_by_name::hooks;
use crate::origin_word::origin_word;
use crate::problem_json::problem_json;
use crate::required_programs_text::required;
use crate::run_bounds::RunBounds;
use crate::step_text::{callee, step_text};
use serde::Serialize;
use serde_json::{Value, json};
use towpath_core::{Diagnostic, Template};
use towpath_recipe::condition::Condition;
use towpath_recipe::{
    Analysis, CommandOptions, Effect, End, EndPath, Ending, Origin, Outcome, Program, Recipe,
    Restarts, Step, StepKind, Transition, Work, analyse,
};

pub fn recipe_json(
    program: &Program,
    origin: Origin,
    trusted: bool,
    problems: &[Diagnostic],
) -> Value {
    let root = program.root();
    let RunBounds { depth, steps, counts_machines } = RunBounds::of(program);
    let recipes: Vec<Value> =
        (0..program.recipes.len()).map(|index| part_json(program, index)).collect();
    json!({
        "schema": 1,
        "recipe": root.name,
        "version": root.version,
        "description": root.description,
        "origin": origin_word(origin),
        "trusted": trusted,
        "inputs": program.plan.inputs,
        "include_tags": program.plan.tags.include,
        "exclude_tags": program.plan.tags.exclude,
        "problems": problems.iter().map(problem_json).collect::<Vec<_>>(),
        "limits": {
            "max_depth": depth,
            "max_total_steps": steps,
            "counts_machines": counts_machines,
        },
        "recipes": recipes,
    })
}

#[derive(Serialize)]
struct StepJson<'a> {
    id: &'a str,
    kind: StepKind,
    text: String,
    agent: Option<&'a str>,
    model: Option<&'a str>,
    mode: Option<&'a str>,
    calls: Option<usize>,
    condition: Option<&'a str>,
    when_tags: &'a [String],
    left_out: Option<String>,
    from: &'a str,
    parallel_group: Option<&'a str>,
    working_dir: Option<&'a str>,
    timeout_s: Option<f64>,
    continue_on_error: bool,
    once: bool,
    requires: Vec<String>,
    #[serde(flatten)]
    options: CommandOptions,
    output: Option<&'a str>,
    outcomes: Vec<Value>,
    reachable: Option<bool>,
}

/// A recipe of the plan; `calls` of a step is the index of another one.
fn part_json(program: &Program, index: usize) -> Value {
    let recipe = &program.recipes[index];
    let hooks: serde_json::Map<String, Value> =
        hooks(recipe).into_iter().map(|(name, text)| (name.to_owned(), text.into())).collect();
    let reachable = recipe.machine().and_then(|machine| analyse(recipe, machine.guardrails));
    let step = |(at, step): (usize, &Step)| {
        let agent = match &step.work {
            Work::Agent(agent) => Some(agent),
            _ => None,
        };
        let step_json = StepJson {
            id: &step.id,
            kind: step.work.kind(),
            text: step_text(step),
            agent: agent.and_then(|agent| Some(agent.agent.as_ref()?.name.as_str())),
            model: agent.and_then(|agent| agent.model.as_deref()),
            mode: agent.and_then(|agent| Some(agent.mode.as_ref()?.name.as_str())),
            calls: callee(program, index, step),
            condition: step.condition.as_ref().map(Condition::text),
            when_tags: &step.when_tags,
            left_out: program.plan.tags.against(step),
            from: &step.source.name,
            parallel_group: step.parallel_group.as_deref(),
            working_dir: step.working_dir.as_ref().map(Template::source),
            timeout_s: step.timeout.map(|timeout| timeout.as_secs_f64()),
            continue_on_error: step.continue_on_error,
            once: step.effect == Effect::Once,
            requires: required(&step.requires),
            options: recipe.command_options(step),
            output: recipe.output_name(step),
            outcomes: step.outcomes.iter().map(|o| outcome_json(recipe, o)).collect(),
            reachable: reachable.as_ref().map(|analysis| analysis.reachable[at]),
        };
        json!(step_json)
    };
    json!({
        "name": recipe.name,
        "source": program.plan.recipes[index].source,
        "extends": program.plan.recipes[index].extends,
        "required_context": recipe.required_context,
        "requires": required(&recipe.requires),
        "context": recipe.context,
        "hooks": hooks,
        "machine": machine_json(program, index),
        "steps": recipe.steps.iter().enumerate().map(step).collect::<Vec<_>>(),
    })
}

/// What is known of a state machine before it runs; null for a step recipe.
pub fn machine_json(program: &Program, index: usize) -> Value {
    let recipe = &program.recipes[index];
    let (Some(machine), Some((analysis, restarts))) =
        (recipe.machine(), Analysis::of(program, index))
    else {
        return Value::Null;
    };
    let refused = refused_restart(program, &analysis);
    let refused = refused.map(|_| RESTARTS_EXCEEDED.to_owned());
    let reasons = analysis.guardrail_exits.iter().map(|exit| exit.reason(recipe)).chain(refused);
    json!({
        "label": machine.label,
        "initial": recipe.steps[machine.initial].id,
        "model": machine.model,
        "guardrails": {
            "max_step_visits": analysis.guardrails.max_step_visits,
            "max_total_steps": analysis.guardrails.max_total_steps,
            "exit_on_other": analysis.guardrails.exit_on_other,
        },
        "bounds": {
            "steps_per_session": analysis.bounds.steps,
            "agent_calls_per_session": analysis.bounds.agent_calls,
            "exact": analysis.bounds.exact,
            "restarts": match restarts {
                Restarts::None => json!(0),
                Restarts::AtMost(number) => json!(number),
                Restarts::Unbounded => Value::Null,
            },
        },
        "guardrail_reasons": reasons.collect::<Vec<_>>(),
        "paths": analysis.paths.iter().map(|path| path_json(recipe, path)).collect::<Vec<_>>(),
    })
}

fn path_json(recipe: &Recipe, path: &EndPath) -> Value {
    let steps = path.steps.iter().map(|(step, outcome)| {
        let step = &recipe.steps[*step];
        json!({ "step": step.id, "outcome": step.outcomes[*outcome].name })
    });
    let mut object = match &path.end {
        End::Exit(reason, ending) => json!({ "exit": reason, "success": success(*ending) }),
        End::Restart(recipe) => json!({ "restart": recipe }),
    };
    object["steps"] = steps.collect();
    object
}

fn success(ending: Ending) -> Value {
    match ending {
        Ending::Success => json!(true),
        Ending::Failure | Ending::Fail => json!(false),
        Ending::Ask => json!("ask"),
    }
}

fn outcome_json(recipe: &Recipe, outcome: &Outcome) -> Value {
    match &outcome.then {
        Transition::Next(step) => json!({ "name": outcome.name, "next": recipe.steps[*step].id }),
        Transition::Exit { reason, ending } => {
            json!({ "name": outcome.name, "exit": reason, "success": success(*ending) })
        }
        Transition::Restart { recipe, .. } => json!({ "name": outcome.name, "restart": recipe }),
    }
}
