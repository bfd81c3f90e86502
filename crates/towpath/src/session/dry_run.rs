//! `towpath run --dry-run`: shows what would run. Conditions are evaluated as far as their values are
//! known, called recipes are opened, commands are shown with their values. It starts nothing, never
//! prompts and writes nothing, not even a record of itself.

use super::record_run::{is_demo, no_worktree};
use super::request_flags::RunFlags;
use super::resolve_recipe::ChosenRecipe;
use crate::environment::Environment;
use crate::exit::{CommandError, Exit};
use crate::session::worktree::{self, EnteredWorktree};
use crate::session::{choose_agent, trust};
use crate::terminal::format::{clean, count};
use crate::terminal::screen::{Screen, Tint};
use crate::terminal::table::{Cell, Table};
use crate::terminal::{diagnostics, out, report};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;
use towpath_core::StepPath;
use towpath_recipe::{CommandOptions, Program, Recipe};
use towpath_run::{Preview, PreviewStep, StepKind, Verdict, preview};
use towpath_view::foreign_text::{escaped, first_command_line, first_line};
use towpath_view::recipe_json::machine_json;
use towpath_view::transition_text;

pub fn execute(
    env: &Environment,
    chosen: &ChosenRecipe,
    flags: &RunFlags,
) -> Result<Exit, CommandError> {
    let program = &chosen.program;
    choose_agent::refuse_unknown_modes(env, &chosen.settings, &flags.agent, program)?;
    let tree = worktree(env, chosen, flags)?;
    let preview = preview(program);
    let missing = missing_program(env, chosen, flags, &preview)?;
    if flags.shared.json {
        let value = match program.root().machine() {
            Some(_) => machine_as_json(chosen, missing.as_deref()),
            None => as_json(chosen, &preview, missing.as_deref()),
        };
        out::json(&with_worktree(value, tree.as_ref()));
        return Ok(Exit::Done);
    }
    if let Some(missing) = &missing {
        out::note(format!("warning: {missing}"));
    }
    print(env, chosen, flags, &preview);
    print_worktree(tree.as_ref());
    print_trust(env, chosen)
}

fn print_trust(env: &Environment, chosen: &ChosenRecipe) -> Result<Exit, CommandError> {
    if trust::needs_consent(env, &chosen.program, chosen.origin)? {
        let argument = trust::ConsentSubject::of_program(&chosen.program).argument(env);
        out::line(format!("Not trusted yet; to trust it: towpath trust {argument}"));
    }
    Ok(Exit::Done)
}

/// The worktree that the run would have; the demo has a repository of its own.
fn worktree(
    env: &Environment,
    chosen: &ChosenRecipe,
    flags: &RunFlags,
) -> Result<Option<EnteredWorktree>, CommandError> {
    let Some(name) = &flags.worktree else { return Ok(None) };
    if is_demo(chosen.origin, &chosen.program) {
        return Err(no_worktree());
    }
    let recipe = &chosen.program.root().name;
    worktree::would_enter(env, &chosen.directory, name, recipe).map(Some)
}

fn print_worktree(tree: Option<&EnteredWorktree>) {
    let Some((first, more)) = tree.and_then(|tree| tree.notes.split_first()) else { return };
    out::line(format!("Would run in the {first}; nothing is created now"));
    more.iter().for_each(out::note);
}

fn with_worktree(mut value: Value, tree: Option<&EnteredWorktree>) -> Value {
    if let Some(EnteredWorktree { directory, worktree, .. }) = tree {
        let known = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        value["worktree"] = json!({
            "path": worktree.path,
            "branch": known(&worktree.branch),
            "base": known(&worktree.base),
            "new_branch": worktree.made,
            "directory": directory.display().to_string(),
        });
    }
    value
}

/// What a state machine would do depends on what its steps report, so all it could do is shown.
fn machine_as_json(chosen: &ChosenRecipe, missing: Option<&str>) -> Value {
    json!({
        "schema": 1,
        "dry_run": true,
        "success": true,
        "recipe_name": chosen.program.root().name,
        "inputs": chosen.program.plan.inputs,
        "machine": machine_json(&chosen.program, 0),
        "problems": warnings(chosen, missing),
    })
}

fn warnings(chosen: &ChosenRecipe, missing: Option<&str>) -> Vec<Value> {
    let mut warnings: Vec<Value> = chosen.problems.iter().map(diagnostics::problem_json).collect();
    warnings.extend(missing.map(|text| json!({ "severity": "warning", "error": text })));
    warnings
}

/// Why the agent steps that would run could not.
pub fn missing_program(
    env: &Environment,
    chosen: &ChosenRecipe,
    flags: &RunFlags,
    preview: &Preview,
) -> Result<Option<String>, CommandError> {
    let own_agent = is_demo(chosen.origin, &chosen.program);
    match asks_agents(&preview.steps) && !own_agent {
        true => choose_agent::missing(env, &chosen.settings, &flags.agent, &chosen.program),
        false => Ok(None),
    }
}

fn asks_agents(steps: &[PreviewStep]) -> bool {
    steps.iter().any(|step| {
        let comes = matches!(step.verdict, Verdict::Runs | Verdict::Unknown { .. });
        (comes && step.kind == StepKind::Agent) || asks_agents(&step.children)
    })
}

fn print(env: &Environment, chosen: &ChosenRecipe, flags: &RunFlags, preview: &Preview) {
    let screen = Screen::new(env);
    let name = clean(&chosen.program.root().name);
    let directory = match chosen.directory == env.current {
        true => escaped(chosen.directory.file_name().map_or(Path::new("/"), Path::new)),
        false => format!("in {}", escaped(&chosen.directory)),
    };
    let tree = flags.worktree.as_ref().map(|name| format!(" · worktree {}", clean(name)));
    let tree = tree.unwrap_or_default();
    out::line(format!("{name} · dry run · {directory}{tree}\n"));
    let mut table = Table::plain(2);
    rows(&chosen.program, &preview.steps, 0, &mut table);
    table.print(&screen);
    if preview.cut {
        out::line("  deeper calls are not shown");
    }
    out::line("");
    for line in report::in_lines(summary(preview), screen.width) {
        out::line(line);
    }
}

fn rows(program: &Program, steps: &[PreviewStep], depth: usize, table: &mut Table) {
    for step in steps {
        let (word, tint) = match &step.verdict {
            Verdict::Runs => ("runs", Tint::Good),
            Verdict::Unknown { .. } => ("may run", Tint::Attention),
            Verdict::Fails { .. } => ("fails", Tint::Bad),
            Verdict::Skipped { .. } => ("skipped", Tint::Dim),
            Verdict::Never { .. } => ("never", Tint::Attention),
        };
        let bracket = bracket(program, step);
        table.row(vec![
            Cell::tinted(word, tint),
            Cell::own(format!("{}{bracket}{}", "  ".repeat(depth), step.id), Tint::None),
            Cell::tinted(step.kind.as_str(), Tint::Dim),
            shown_line(step).into(),
        ]);
        for notes in [notes(step, depth), transitions(&program.recipes[step.recipe], step)] {
            if !notes.is_empty() {
                let indent = " ".repeat(9 + 2 * depth);
                table.below(format!("{indent}{}", notes.join(" · ")), Tint::Dim);
            }
        }
        rows(program, &step.children, depth + 1, table);
    }
}

/// Where each outcome of a state machine's step leads.
fn transitions(recipe: &Recipe, step: &PreviewStep) -> Vec<String> {
    let outcomes = recipe.steps[step.index].outcomes.iter();
    let lines = outcomes.map(|outcome| {
        format!("{} → {}", first_line(&outcome.name), transition_text(recipe, &outcome.then))
    });
    lines.collect()
}

fn shown_line(step: &PreviewStep) -> String {
    match step.kind {
        StepKind::Bash => first_command_line(&step.text),
        _ => first_line(&step.text),
    }
}

/// The steps of a parallel group are bracketed.
fn bracket(program: &Program, step: &PreviewStep) -> &'static str {
    let batches = program.recipes[step.recipe].batches();
    let batch = batches.iter().find(|batch| batch.contains(&step.index));
    match batch {
        Some(batch) if batch.len() > 1 && step.index == batch.start => "┌ ",
        Some(batch) if batch.len() > 1 && step.index + 1 == batch.end => "└ ",
        Some(batch) if batch.len() > 1 => "│ ",
        _ => "",
    }
}

fn notes(step: &PreviewStep, depth: usize) -> Vec<String> {
    let mut notes: Vec<String> = step.verdict.reason().map(first_line).into_iter().collect();
    let comes = matches!(step.verdict, Verdict::Runs | Verdict::Unknown { .. });
    if comes && step.kind != StepKind::Recipe && !step.directory.is_empty() && depth == 0 {
        notes.push(format!("in {}", first_line(&step.directory)));
    }
    if comes {
        notes.extend(step.options.notes().map(str::to_owned));
    }
    if comes && !step.hooks.is_empty() {
        notes.push(format!("with {}", step.hooks.join(" and ")));
    }
    notes
}

/// `3 of 5 steps would run · 1 may run (test) · 1 skipped (deploy)`; the reasons are with the steps.
pub fn summary(preview: &Preview) -> Vec<String> {
    let named = |word: &str| -> Vec<&PreviewStep> {
        preview.steps.iter().filter(|step| step.verdict.as_str() == word).collect()
    };
    let total = preview.steps.len();
    let mut parts = vec![format!("{} of {} would run", named("runs").len(), count(total, "step"))];
    for (verdict, word) in [
        ("unknown", "may run"),
        ("skipped", "skipped"),
        ("fails", "fails"),
        ("never", "never runs"),
    ] {
        let steps = named(verdict);
        if !steps.is_empty() {
            parts.push(format!("{} {word} ({})", steps.len(), listed(&steps)));
        }
    }
    parts.push("nothing was run".to_owned());
    parts
}

fn listed(steps: &[&PreviewStep]) -> String {
    const MOST: usize = 6;
    let mut names: Vec<String> = steps.iter().take(MOST).map(|step| clean(&step.id)).collect();
    if steps.len() > MOST {
        names.push(format!("{} more", steps.len() - MOST));
    }
    names.join(", ")
}

/// The plan as JSON.
pub fn as_json(chosen: &ChosenRecipe, preview: &Preview, missing: Option<&str>) -> Value {
    let root = chosen.program.root();
    let steps: Vec<StepJson<'_>> = preview.steps.iter().map(step_json).collect();
    let named = |word: &str| -> Vec<Value> {
        let of = preview.steps.iter().filter(|step| step.verdict.as_str() == word);
        of.map(|step| json!({ "step": step.path, "reason": step.verdict.reason() })).collect()
    };
    let runs = preview.steps.iter().filter(|step| step.verdict == Verdict::Runs).count();
    json!({
        "schema": 1,
        "dry_run": true,
        "success": true,
        "recipe_name": root.name,
        "inputs": chosen.program.plan.inputs,
        "summary": {
            "total": preview.steps.len(),
            "runs": runs,
            "unknown": named("unknown"),
            "skipped": named("skipped"),
            "fails": named("fails"),
            "never": named("never"),
            "cut": preview.cut,
        },
        "problems": warnings(chosen, missing),
        "steps": steps,
    })
}

#[derive(Serialize)]
struct StepJson<'a> {
    step_id: &'a str,
    path: &'a StepPath,
    r#type: StepKind,
    status: &'static str,
    reason: Option<&'a str>,
    text: &'a str,
    unknown: &'a [String],
    working_dir: &'a str,
    #[serde(flatten)]
    options: CommandOptions,
    hooks: &'a [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    children: Option<Vec<StepJson<'a>>>,
}

fn step_json(step: &PreviewStep) -> StepJson<'_> {
    let calls = step.kind == StepKind::Recipe;
    StepJson {
        step_id: &step.id,
        path: &step.path,
        r#type: step.kind,
        status: step.verdict.as_str(),
        reason: step.verdict.reason(),
        text: &step.text,
        unknown: &step.open,
        working_dir: &step.directory,
        options: step.options,
        hooks: &step.hooks,
        children: calls.then(|| step.children.iter().map(step_json).collect()),
    }
}
