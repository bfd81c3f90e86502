//! `--validate-only`: everything that is wrong with a recipe and what it reaches, at once.

use super::{Line, found_at};
use crate::commands::runs::table::one_line;
use crate::commands::{run, validate};
use crate::draw;
use crate::exit::{Exit, Stop};
use crate::out;
use crate::surroundings::Surroundings;
use crate::trust::{self, CalledAs};
use towpath_core::{Diagnostic, Severity};
use towpath_recipe::Resolved;

pub fn execute(around: &Surroundings, line: &Line, recipe: &str) -> Result<Exit, Stop> {
    if line.json() {
        return validate::execute(&validate::Args {
            recipes: vec![recipe.to_owned()],
            request: line.request(),
            strict: false,
            json: true,
            called_as: CalledAs::RecipeRunner,
        });
    }
    let resolved = resolved(around, line, recipe)?;
    run::show_problems(&resolved.problems, recipe, around, false)?;
    let Some(program) = resolved.program else {
        return Err(Stop::bad_input(format!("{recipe} cannot be run")));
    };
    let root = program.root();
    let name = one_line(&root.name);
    let from = found_at(&program, resolved.origin);
    let worth = |problem: &&Diagnostic| {
        problem.severity == Severity::Warning || problem.code == "missing-input"
    };
    let warnings: Vec<&Diagnostic> = resolved.problems.iter().filter(worth).collect();
    if warnings.is_empty() {
        out::line(format!("✓ Recipe '{name}'{from} is valid ({} steps)", root.steps.len()));
        return Ok(Exit::Done);
    }
    out::line(format!("⚠ Recipe '{name}'{from} has {} warning(s):", warnings.len()));
    for problem in warnings {
        let place = draw::as_json(problem)["line"].as_u64();
        let place = place.map_or(String::new(), |line| format!("line {line}: "));
        out::line(format!("  - {place}{}", one_line(&problem.message)));
    }
    Ok(Exit::Done)
}

pub fn resolved(around: &Surroundings, line: &Line, recipe: &str) -> Result<Resolved, Stop> {
    let flags = line.request();
    let here = flags.here(around)?;
    let request = flags.request(around, &here, recipe)?;
    trust::resolved_to_look(around, &request, CalledAs::RecipeRunner)
}
