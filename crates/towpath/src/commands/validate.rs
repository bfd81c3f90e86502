//! `towpath validate`: all problems of recipes and documents at once, each with its location. It reads files; it
//! starts nothing and evaluates nothing.

use super::Execute;
use crate::documents;
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, Exit};
use crate::session::called_as::{CalledAs, resolved_to_look};
use crate::session::choose_agent::{self, AgentFlags};
use crate::session::read_test_file;
use crate::session::request_flags::RequestFlags;
use crate::session::required_programs;
use crate::terminal::screen::Screen;
use crate::terminal::{diagnostics, out};
use std::path::Path;
use towpath_core::{Diagnostic, Severity};

/// Check recipes and everything they call, or documents, and report all problems at once.
///
/// Exits with 0 if they can run, with 2 if not.
///
/// Example: towpath validate recipes/*.yaml --strict
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The recipes, by file or by name; documents (.md, .mld) by file.
    #[arg(required = true, value_name = "RECIPE")]
    pub recipes: Vec<String>,
    #[command(flatten)]
    pub request: RequestFlags,
    /// Treat warnings as errors. Notes stay notes.
    #[arg(long)]
    pub strict: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// One recipe with all its problems.
struct Checked {
    name: String,
    problems: Vec<Diagnostic>,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let checked = check(env, self)?;
        let bar = if self.strict { Severity::Warning } else { Severity::Error };
        let valid = checked.iter().flat_map(|c| &c.problems).all(|p| p.severity < bar);
        if self.json {
            let problems = checked.iter().flat_map(|c| &c.problems);
            out::json(&diagnostics::verdict_json(valid, problems));
        } else {
            let Screen { width, color } = Screen::new(env);
            for Checked { name, problems } in &checked {
                out::stdout(
                    diagnostics::render(problems, diagnostics::Style { color, width }).as_bytes(),
                );
                let tally = diagnostics::tally(problems, name);
                let warned = self.strict
                    && problems.iter().all(|p| !p.is_error())
                    && problems.iter().any(|p| p.severity == Severity::Warning);
                let strict = if warned { ": with --strict a warning is an error" } else { "" };
                out::line(format!("{tally}{strict}"));
            }
        }
        Ok(if valid { Exit::Done } else { Exit::BadInput })
    }

    fn json(&self) -> bool {
        self.json
    }
}

fn check(env: &Environment, args: &Args) -> Result<Vec<Checked>, CommandError> {
    let here = args.request.here(env)?;
    let mut checked = Vec::new();
    for recipe in &args.recipes {
        if [".test.yaml", ".test.yml"].iter().any(|ending| recipe.ends_with(ending)) {
            out::note(format!(
                "note: {recipe} is a test file, not a recipe: towpath test {recipe}"
            ));
            let (_, problems) = read_test_file::suite(env, &env.current.join(recipe))?;
            if !problems.is_empty() {
                checked.push(Checked { name: recipe.clone(), problems });
            }
            continue;
        }
        let file = Path::new(recipe);
        let documents = ["md", "markdown", "mld", "meld"];
        let is_document = file.extension().is_some_and(|e| documents.iter().any(|d| e == *d));
        if is_document && env.current.join(file).is_file() {
            let problems = documents::validate(env, file, &args.request.set)?;
            checked.push(Checked { name: recipe.clone(), problems });
            continue;
        }
        let request = args.request.request(env, &here, recipe)?;
        let resolved = resolved_to_look(env, &request, CalledAs::Towpath)?;
        let name = resolved.plan.map_or_else(|| recipe.clone(), |p| p.recipes[0].source.clone());
        let mut problems = resolved.problems;
        if let Some(program) = &resolved.program {
            let flags = AgentFlags::default();
            problems.extend(choose_agent::unknown_modes(&here.settings, &flags, program)?);
            problems.extend(required_programs::foreseen(env, program, Severity::Note));
        }
        checked.push(Checked { name, problems });
    }
    Ok(checked)
}
