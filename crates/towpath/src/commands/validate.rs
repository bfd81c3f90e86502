//! `towpath validate`: everything that is wrong with recipes, at once, with its places. It reads
//! files; it starts nothing and evaluates nothing.

use super::request::RequestFlags;
use super::runs::table::Screen;
use crate::draw;
use crate::exit::{Exit, Stop};
use crate::out;
use crate::surroundings::Surroundings;
use crate::trust::{self, CalledAs};
use towpath_core::{Diagnostic, Severity};

/// Everything that is wrong with recipes and what they call, at once.
///
/// Ends with 0 when they can run, with 2 when not.
///
/// Example: towpath validate recipes/*.yaml --strict
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Recipes, by file or by name.
    #[arg(required = true, value_name = "RECIPE")]
    pub recipes: Vec<String>,
    #[command(flatten)]
    pub request: RequestFlags,
    /// Warnings count as errors.
    #[arg(long)]
    pub strict: bool,
    /// One JSON object on stdout.
    #[arg(long)]
    pub json: bool,
    #[arg(skip)]
    pub called_as: CalledAs,
}

/// One recipe with all its problems.
pub struct Checked {
    pub name: String,
    pub problems: Vec<Diagnostic>,
}

pub fn execute(args: &Args) -> Result<Exit, Stop> {
    let around = Surroundings::read()?;
    let checked = check(&around, args)?;
    let bar = if args.strict { Severity::Warning } else { Severity::Error };
    let valid = checked.iter().flat_map(|c| &c.problems).all(|p| p.severity < bar);
    if args.json {
        let problems = checked.iter().flat_map(|c| &c.problems).map(draw::as_json);
        let problems: Vec<serde_json::Value> = problems.collect();
        out::json(&serde_json::json!({ "schema": 1, "valid": valid, "problems": problems }));
    } else {
        let Screen { width, color } = Screen::new(&around);
        for Checked { name, problems } in &checked {
            out::stdout(draw::render(problems, draw::Style { color, width }).as_bytes());
            out::line(draw::tally(problems, name));
        }
    }
    Ok(if valid { Exit::Done } else { Exit::BadInput })
}

pub fn check(around: &Surroundings, args: &Args) -> Result<Vec<Checked>, Stop> {
    let here = args.request.here(around)?;
    let mut checked = Vec::new();
    for recipe in &args.recipes {
        if [".test.yaml", ".test.yml"].iter().any(|ending| recipe.ends_with(ending)) {
            out::note(format!(
                "note: {recipe} is a test file, not a recipe: towpath test {recipe}"
            ));
            continue;
        }
        let request = args.request.request(around, &here, recipe)?;
        let resolved = trust::resolved_to_look(around, &request, args.called_as)?;
        let name = resolved.plan.map_or_else(|| recipe.clone(), |p| p.recipes[0].source.clone());
        checked.push(Checked { name, problems: resolved.problems });
    }
    Ok(checked)
}
