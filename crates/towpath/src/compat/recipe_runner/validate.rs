//! `--validate-only`: everything that is wrong with a recipe and what it reaches, at once.

use super::{RecipeRunnerArgs, agent_choice, found_at};
use crate::environment::Environment;
use crate::exit::{CommandError, Exit};
use crate::session::called_as::{CalledAs, resolved_to_look};
use crate::session::choose_agent::unknown_modes;
use crate::session::resolve_recipe::show_problems;
use crate::terminal::{diagnostics, out};
use towpath_core::{Diagnostic, Severity};
use towpath_recipe::Resolved;
use towpath_view::foreign_text::first_line;

pub fn execute(
    env: &Environment,
    line: &RecipeRunnerArgs,
    recipe: &str,
) -> Result<Exit, CommandError> {
    let resolved = resolved(env, line, recipe)?;
    if line.json() {
        let valid = !resolved.problems.iter().any(Diagnostic::is_error);
        out::json(&diagnostics::verdict_json(valid, resolved.problems.iter()));
        return Ok(if valid { Exit::Done } else { Exit::BadInput });
    }
    show_problems(&resolved.problems, recipe, env, false)?;
    let Some(program) = resolved.program else {
        return Err(CommandError::bad_input(format!("{recipe} cannot be run")));
    };
    let root = program.root();
    let name = first_line(&root.name);
    let from = found_at(&program, resolved.origin);
    let worth = |problem: &&Diagnostic| {
        problem.severity == Severity::Warning
            || ["missing-input", "bad-input"].contains(&problem.code)
    };
    let warnings: Vec<&Diagnostic> = resolved.problems.iter().filter(worth).collect();
    if warnings.is_empty() {
        out::line(format!("✓ Recipe '{name}'{from} is valid ({} steps)", root.steps.len()));
        return Ok(Exit::Done);
    }
    out::line(format!("⚠ Recipe '{name}'{from} has {} warning(s):", warnings.len()));
    for problem in warnings {
        let line = towpath_view::problem_json(problem)["line"].as_u64();
        let location = line.map_or(String::new(), |line| format!("line {line}: "));
        out::line(format!("  - {location}{}", first_line(&problem.message)));
    }
    Ok(Exit::Done)
}

pub fn resolved(
    env: &Environment,
    line: &RecipeRunnerArgs,
    recipe: &str,
) -> Result<Resolved, CommandError> {
    let flags = line.request();
    let here = flags.here(env)?;
    let mut request = flags.request(env, &here, recipe)?;
    request.run_options.dialect = CalledAs::RecipeRunner.dialect();
    let mut resolved = resolved_to_look(env, &request, CalledAs::RecipeRunner)?;
    if let Some(program) = &resolved.program {
        let agent = agent_choice::flags(env, line.agent_binary.as_deref(), program)?;
        resolved.problems.extend(unknown_modes(&here.settings, &agent, program)?);
    }
    Ok(resolved)
}
