//! `--dry-run`: the preview of `towpath run --dry-run` in the shape of this name's summary, with its
//! lines of progress where they are asked for.

use super::{RecipeRunnerArgs, run};
use crate::environment::Environment;
use crate::exit::{CommandError, Exit};
use crate::session::dry_run;
use crate::session::request_flags::RunFlags;
use crate::session::resolve_recipe::ChosenRecipe;
use crate::terminal::out;
use towpath_recipe::Program;
use towpath_run::{PreviewStep, Verdict, preview};
use towpath_view::foreign_text::first_line;

pub fn execute(
    env: &Environment,
    line: &RecipeRunnerArgs,
    chosen: &ChosenRecipe,
    flags: &RunFlags,
) -> Result<Exit, CommandError> {
    let program = &chosen.program;
    let preview = preview(program);
    let missing = dry_run::missing_program(env, chosen, flags, &preview)?;
    if line.progress {
        progress(program, &preview.steps);
    }
    if line.json() {
        let plan = dry_run::as_json(chosen, &preview, missing.as_deref());
        out::json(&run::with_step_results(plan));
        return Ok(Exit::Done);
    }
    if let Some(missing) = missing {
        out::note(format!("warning: {missing}"));
    }
    out::line(run::heading(chosen));
    out::line(format!("Recipe '{}': DRY RUN", first_line(&program.root().name)));
    print(&preview.steps, 1);
    out::line(dry_run::summary(&preview).join(" · "));
    Ok(Exit::Done)
}

fn print(steps: &[PreviewStep], depth: usize) {
    for step in steps {
        let indent = "  ".repeat(depth);
        let more = match &step.verdict {
            Verdict::Runs => first_line(&step.text),
            Verdict::Unknown { reason } => {
                format!("{} ({})", first_line(&step.text), first_line(reason))
            }
            other => other.reason().map(first_line).unwrap_or_default(),
        };
        out::line(format!("{indent}[{}] {} -- {more}", word(&step.verdict), step.path));
        print(&step.children, depth + 1);
    }
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Unknown { .. } => "may run",
        other => other.as_str(),
    }
}

fn progress(program: &Program, steps: &[PreviewStep]) {
    for step in steps {
        let of = program.recipes[step.recipe].steps.len();
        let position = format!("{} ({}/{of})", step.path, step.index + 1);
        let reason = step.verdict.reason().map(first_line).unwrap_or_default();
        let end = match &step.verdict {
            Verdict::Runs => "dry run: would run".to_owned(),
            Verdict::Unknown { .. } => format!("dry run: may run, {reason}"),
            Verdict::Skipped { .. } => format!("skipped: {reason}"),
            Verdict::Fails { .. } => format!("dry run: would fail: {reason}"),
            Verdict::Never { .. } => format!("dry run: never runs: {reason}"),
        };
        if matches!(step.verdict, Verdict::Runs | Verdict::Unknown { .. }) {
            out::note(format!("[step:start] {position}"));
        }
        progress(program, &step.children);
        out::note(format!("[step:complete] {position} — {end}"));
    }
}
