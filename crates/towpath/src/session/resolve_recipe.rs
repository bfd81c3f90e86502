//! The recipe that a request means, found, read and checked, once.

use super::request_flags::RunFlags;
use super::{required_programs, secret_flag};
use crate::environment::Environment;
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::session::called_as::{CalledAs, resolved_to_run};
use crate::settings::Settings;
use crate::terminal::{diagnostics, out};
use std::path::{Path, PathBuf};
use towpath_core::{Diagnostic, Secrets, Severity};
use towpath_engine::Substitutes;
use towpath_recipe::{Origin, Program, Request, Resolved, is_file_reference};
use towpath_testing::CaseRunFile;

/// What a user asked for: found, and without errors.
pub struct ChosenRecipe {
    pub program: Program,
    pub origin: Origin,
    pub directory: PathBuf,
    pub settings: Settings,
    pub problems: Vec<Diagnostic>,
    pub substitutes: Substitutes,
    pub secrets: Secrets,
}

/// Finds and reads the recipe; reports what is wrong with it. `broken` may report the errors of a recipe
/// that cannot be run in its own way: true when it has.
pub fn resolve(
    env: &Environment,
    flags: &RunFlags,
    recipe: &str,
    broken: impl FnOnce(&[Diagnostic]) -> bool,
) -> Result<ChosenRecipe, CommandError> {
    let secrets = secret_flag::of_run(env, &flags.shared.secret)?;
    secret_flag::refuse_set(&secrets, &flags.request.set)?;
    let here = flags.request.here(env)?;
    let mut request = flags.request.request(env, &here, recipe)?;
    request.run_options.no_auto_stage = flags.no_auto_stage;
    request.run_options.machine = flags.machine.machine_options()?;
    request.run_options.to_run = true;
    request.run_options.dialect = flags.called_as.dialect();
    let times = &flags.shared.times;
    request.run_options.step_timeout = times.step_timeout.or(here.settings.step_timeout());
    let read = |file: &PathBuf| {
        CaseRunFile::read(file)
            .map_err(|e| CommandError::bad_input(format!("--rehearsal {}: {e}", file.display())))
    };
    let rehearsal = flags.rehearsal.as_ref().map(read).transpose()?;
    request.inputs.extend(rehearsal.iter().flat_map(|case| case.inputs.clone()));
    let resolved = resolved_to_run(env, &request, flags.called_as)?;
    let name = resolved.plan.as_ref().map_or(recipe, |p| &p.recipes[0].source);
    let problems = &resolved.problems;
    tracing::debug!(source = name, origin = ?resolved.origin, problems = problems.len(), "resolved the recipe");
    if problems.iter().any(Diagnostic::is_error) && broken(problems) {
        return Err(refused(problems, name, flags.shared.json));
    }
    show_problems(problems, name, env, flags.shared.json)?;
    let directory = match flags.called_as {
        CalledAs::Towpath => run_directory(env, flags, &request, &resolved, &here.directory),
        CalledAs::AgentRecipes | CalledAs::RecipeRunner => here.directory,
    };
    let settings = here.settings;
    match resolved {
        Resolved { program: Some(mut program), origin, mut problems, .. } => {
            if let Some(case) = &rehearsal {
                case.change(&mut program);
            }
            if flags.dry_run {
                let foreseen = required_programs::foreseen(env, &program, Severity::Warning);
                diagnostics::draw(&foreseen, env.color);
                problems.extend(foreseen);
            }
            flags.machine.refuse_for(&program)?;
            let substitutes = rehearsal.map(|case| case.substitutes).unwrap_or_default();
            Ok(ChosenRecipe {
                program,
                origin,
                directory,
                settings,
                problems,
                substitutes,
                secrets,
            })
        }
        _ => Err(CommandError::bad_input(format!("{name} cannot be run"))),
    }
}

/// Where the steps run: a recipe that a name found in the project runs in the project's root, from
/// whichever directory below it the name is typed; any other one in the working directory.
fn run_directory(
    env: &Environment,
    flags: &RunFlags,
    request: &Request,
    resolved: &Resolved,
    working_directory: &Path,
) -> PathBuf {
    let root_recipe = resolved.plan.as_ref().and_then(|plan| plan.recipes[0].path.as_ref());
    let named = flags.request.directory.is_none() && !is_file_reference(&request.reference);
    let found_in = root_recipe.filter(|_| named).and_then(|path| {
        let has = |directory: &Path| {
            directory.canonicalize().is_ok_and(|d| Path::new(path).starts_with(d))
        };
        request.search.directories.iter().find(|directory| has(&directory.path))
    });
    match found_in.is_some_and(|found| found.origin == Origin::Project) {
        true => env.project_root(working_directory),
        false => working_directory.to_owned(),
    }
}

/// The codes of problems with a recipe that does not exist.
const NOWHERE: [&str; 3] = ["recipe-not-found", "bad-recipe-name", "unreadable"];

/// Draws what is wrong with a recipe; stops when something is.
pub fn show_problems(
    problems: &[Diagnostic],
    name: &str,
    env: &Environment,
    json: bool,
) -> Result<(), CommandError> {
    let errors = problems.iter().filter(|p| p.is_error()).count();
    let notable: Vec<Diagnostic> =
        problems.iter().filter(|p| p.severity > Severity::Note).cloned().collect();
    if !notable.is_empty() {
        diagnostics::draw(&notable, env.color);
    }
    if errors == 0 {
        return Ok(());
    }
    out::note(diagnostics::tally(&notable, name));
    Err(refused(problems, name, json))
}

/// Whether the problems are that the recipe does not exist.
pub fn is_nowhere(problems: &[Diagnostic]) -> bool {
    problems.iter().any(|p| p.labels.is_empty() && NOWHERE.contains(&p.code))
}

/// The error of a run that did not start, whose problems are shown already.
fn refused(problems: &[Diagnostic], name: &str, json: bool) -> CommandError {
    let tally = diagnostics::tally(problems, name);
    let message = if json {
        let first = problems.iter().find(|p| p.is_error());
        first.map_or(tally, |p| p.message.clone())
    } else {
        tally
    };
    let kind = if is_nowhere(problems) { ErrorKind::NotFound } else { ErrorKind::BadRecipe };
    // That it does not exist is all that could be listed.
    let problems = if is_nowhere(problems) { Vec::new() } else { problems.to_vec() };
    CommandError { shown: true, problems, ..CommandError::new(Exit::BadInput, kind, message) }
}
