//! Runs a recipe: the output of the steps as it comes, between a heading and the summary of this
//! name. A recipe that was found in the working tree runs with a warning: under this name no user
//! expects to be asked.

use super::{RecipeRunnerArgs, code, found_at, run_summary};
use crate::environment::Environment;
use crate::exit::{CommandError, Exit};
use crate::session::conclude::conclude_with;
use crate::session::request_flags::RunFlags;
use crate::session::resolve_recipe::ChosenRecipe;
use crate::session::result_json::result;
use crate::session::{Session, trust};
use crate::terminal::out;
use crate::terminal::report::{self, ReporterKind};
use serde_json::Value;
use towpath_engine::RunEnd;
use towpath_recipe::{Program, Tags};
use towpath_store::Store;
use towpath_view::foreign_text::first_line;

pub fn execute(
    env: &Environment,
    line: &RecipeRunnerArgs,
    chosen: ChosenRecipe,
    flags: &RunFlags,
) -> Result<Exit, CommandError> {
    trust::warn(env, &chosen.program, chosen.origin)?;
    if !flags.shared.quiet {
        warn_about_tags(&chosen.program);
    }
    let store = Store::open(&env.directories.state)?;
    let reporter = ReporterKind::StepLines { progress: line.progress };
    let mut session = Session::new(env, store, &flags.shared, reporter)?;
    let heading = heading(&chosen);
    let recorded = session.record(chosen, flags)?;
    if !line.json() {
        out::line(heading);
    }
    let driven = session.drive(recorded)?;
    conclude_with(driven, |driven| report_end(&session, &driven.end, line))
}

/// The program of this name ran steps with tags where none was asked for.
fn warn_about_tags(program: &Program) {
    let Tags { include, exclude } = &program.plan.tags;
    let steps = &program.root().steps;
    let left_out = steps.iter().filter(|step| program.plan.tags.against(step).is_some()).count();
    if include.is_empty() && exclude.is_empty() && left_out > 0 {
        let all = steps.len();
        out::note(format!(
            "warning: {left_out} of {all} steps have tags and do not run; --include-tags TAG runs them"
        ));
    }
}

/// The steps under the name that the other program gives them, too.
pub fn with_step_results(result: Value) -> Value {
    let Value::Object(result) = result else { return result };
    let twice = |(key, value): (String, Value)| {
        let other = (key == "steps").then(|| ("step_results".to_owned(), value.clone()));
        other.into_iter().chain([(key, value)])
    };
    Value::Object(result.into_iter().flat_map(twice).collect())
}

pub fn heading(chosen: &ChosenRecipe) -> String {
    let root = chosen.program.root();
    let (name, version) = (first_line(&root.name), first_line(&root.version));
    let from = found_at(&chosen.program, chosen.origin);
    format!("Recipe: {name} (v{version}){from}\nSteps: {}\n", root.steps.len())
}

fn report_end(
    session: &Session<'_>,
    end: &RunEnd,
    line: &RecipeRunnerArgs,
) -> Result<(), CommandError> {
    let exit = Exit::of_outcome(&end.outcome);
    if line.json() {
        out::json(&with_step_results(result(&session.store, end, code(exit), false)?));
        return Ok(());
    }
    out::stdout(run_summary::text(end, session.output.live()).as_bytes());
    report::rate_limit::notes(end).iter().for_each(out::note);
    if exit != Exit::Done {
        for way in report::next_commands::ways(&end.id, &end.run, false) {
            out::note(format!("{}: {}", way.when, way.command));
        }
    }
    Ok(())
}
