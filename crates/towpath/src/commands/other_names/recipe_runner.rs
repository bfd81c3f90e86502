//! `recipe-runner-rs`: its flags, texts and exit codes (0 done, 1 failed, 2 bad recipe) over the
//! one engine. A flag whose meaning is not there yet is refused, never ignored.

use crate::agents::AgentFlags;
use crate::commands::request::RequestFlags;
use crate::commands::runs::table::{Cell, Screen, Table, escaped, one_line};
use crate::commands::{explain, list, run, validate};
use crate::draw;
use crate::exit::{Exit, Stop};
use crate::out;
use crate::surroundings::Surroundings;
use crate::trust;
use clap::Parser;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use towpath_core::Severity;
use towpath_recipe::{Origin, Program, Resolved};

/// Run step recipes: recipe-runner-rs RECIPE, or recipe-runner-rs list.
///
/// Example: recipe-runner-rs build.yaml --set mode=release
#[derive(Debug, Parser)]
#[command(name = "recipe-runner-rs", version)]
struct Line {
    /// A recipe's file or name, or `list`.
    recipe: Option<String>,
    /// Where steps run and where relative paths start.
    #[arg(short = 'C', long, value_name = "DIR")]
    working_dir: Option<PathBuf>,
    /// Look for recipes here first. May be given several times.
    #[arg(short = 'R', long, value_name = "DIR")]
    recipe_dir: Vec<PathBuf>,
    /// Set a context variable.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Check the recipe and end.
    #[arg(long)]
    validate_only: bool,
    /// Show the recipe's steps and end.
    #[arg(long)]
    explain: bool,
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"], default_value = "text")]
    output_format: String,
    #[arg(long, hide = true)]
    dry_run: bool,
    #[arg(long, hide = true)]
    progress: bool,
    /// Stage nothing in git.
    #[arg(long)]
    no_auto_stage: bool,
    /// Run the steps with one of these tags too.
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    include_tags: Vec<String>,
    /// Skip the steps with one of these tags.
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    exclude_tags: Vec<String>,
    #[arg(long, hide = true)]
    audit_dir: Option<PathBuf>,
}

impl Line {
    fn json(&self) -> bool {
        self.output_format == "json"
    }

    fn request(&self) -> RequestFlags {
        RequestFlags {
            set: self.set.clone(),
            directory: self.working_dir.clone(),
            recipe_dirs: self.recipe_dir.clone(),
            include_tags: self.include_tags.clone(),
            exclude_tags: self.exclude_tags.clone(),
        }
    }

    /// The first flag that does nothing yet.
    fn later(&self) -> Option<&'static str> {
        [
            (self.dry_run, "--dry-run"),
            (self.progress, "--progress"),
            (self.audit_dir.is_some(), "--audit-dir"),
        ]
        .into_iter()
        .find_map(|(given, flag)| given.then_some(flag))
    }
}

pub fn run(arguments: &[OsString]) -> Result<Exit, Stop> {
    let name = OsString::from("recipe-runner-rs");
    let line = match Line::try_parse_from(std::iter::once(&name).chain(arguments)) {
        Ok(line) => line,
        Err(error) => return usage(&error),
    };
    let result = execute(&line);
    if let (Err(stop), true) = (&result, line.json()) {
        out::json(&serde_json::json!({
            "success": false,
            "error": { "kind": stop.kind, "message": stop.message },
        }));
    }
    result.map(code).map_err(|stop| Stop { exit: code(stop.exit), ..stop })
}

fn usage(error: &clap::Error) -> Result<Exit, Stop> {
    let text = error.render().to_string();
    if error.use_stderr() {
        out::stderr(text.as_bytes());
        return Err(Stop { shown: true, ..Stop::bad_input(text) });
    }
    out::stdout(text.as_bytes());
    Ok(Exit::Done)
}

/// The codes that this name knows; signals keep theirs.
fn code(exit: Exit) -> Exit {
    match exit {
        Exit::Done | Exit::BadInput => exit,
        Exit::Hangup | Exit::Interrupted | Exit::Terminated => exit,
        _ => Exit::Failed,
    }
}

fn execute(line: &Line) -> Result<Exit, Stop> {
    if let Some(flag) = line.later() {
        return Err(Stop::bad_input(format!("{flag} is not supported yet")));
    }
    let Some(recipe) = &line.recipe else {
        return Err(Stop::bad_input(
            "no recipe: recipe-runner-rs RECIPE, or recipe-runner-rs list",
        ));
    };
    let around = Surroundings::read()?;
    if recipe == "list" {
        return list_recipes(&around, line);
    }
    if line.validate_only {
        return check(&around, line, recipe);
    }
    if line.explain && line.json() {
        return explain::execute(&explain::Args {
            recipe: recipe.clone(),
            request: line.request(),
            json: true,
        });
    }
    let resolved = resolved(&around, line, recipe)?;
    run::show_problems(&resolved.problems, recipe, &around, line.json())?;
    let Some(program) = resolved.program else {
        return Err(Stop::bad_input(format!("{recipe} cannot be run")));
    };
    if line.explain {
        print_steps(&program);
        return Ok(Exit::Done);
    }
    trust::warn(&around, &program, resolved.origin)?;
    go(&around, line, recipe, &program, resolved.origin)
}

fn resolved(around: &Surroundings, line: &Line, recipe: &str) -> Result<Resolved, Stop> {
    let flags = line.request();
    let here = flags.here(around)?;
    let request = flags.request(around, &here, recipe)?;
    trust::resolved(around, &request)
}

/// Runs the recipe. One that was found in the working tree is named by its file: the person has
/// been warned, and under this name that is enough.
fn go(
    around: &Surroundings,
    line: &Line,
    recipe: &str,
    program: &Program,
    origin: Origin,
) -> Result<Exit, Stop> {
    let path = program.plan.recipes[0].path.as_ref().filter(|_| origin == Origin::Project);
    let reference = path.map_or_else(
        || recipe.to_owned(),
        |path| {
            let path = Path::new(path);
            escaped(path.strip_prefix(&around.current).unwrap_or(path))
        },
    );
    run::execute(run::Args {
        recipe: Some(reference),
        request: line.request(),
        no_auto_stage: line.no_auto_stage,
        rehearsal: None,
        wait: false,
        agent: AgentFlags::default(),
        shared: run::Shared {
            secret: Vec::new(),
            json: line.json(),
            with_context: false,
            quiet: false,
            verbose: false,
        },
    })
}

fn check(around: &Surroundings, line: &Line, recipe: &str) -> Result<Exit, Stop> {
    if line.json() {
        return validate::execute(&validate::Args {
            recipes: vec![recipe.to_owned()],
            request: line.request(),
            strict: false,
            json: true,
        });
    }
    let resolved = resolved(around, line, recipe)?;
    run::show_problems(&resolved.problems, recipe, around, false)?;
    let Some(program) = resolved.program else {
        return Err(Stop::bad_input(format!("{recipe} cannot be run")));
    };
    let root = program.root();
    let warnings = resolved.problems.iter().filter(|p| p.severity == Severity::Warning);
    match warnings.count() {
        0 => {
            let steps = root.steps.len();
            out::line(format!("✓ Recipe '{}' is valid ({steps} steps)", one_line(&root.name)));
        }
        number => {
            out::line(format!("⚠ Recipe '{}' has {number} warning(s):", one_line(&root.name)));
            for problem in resolved.problems.iter().filter(|p| p.severity == Severity::Warning) {
                let place = draw::as_json(problem)["line"].as_u64();
                let place = place.map_or(String::new(), |line| format!("line {line}: "));
                out::line(format!("  - {place}{}", one_line(&problem.message)));
            }
        }
    }
    Ok(Exit::Done)
}

fn print_steps(program: &Program) {
    let root = program.root();
    out::line(format!("Recipe: {}", one_line(&root.name)));
    out::line(format!("Version: {}", one_line(&root.version)));
    if !root.description.is_empty() {
        out::line(format!("Description: {}", one_line(&root.description)));
    }
    out::line("Steps:");
    for (number, step) in root.steps.iter().enumerate() {
        out::line(format!("  {}. {}", number + 1, step.id));
        if let Some(condition) = &step.condition {
            out::line(format!("     Condition: {}", one_line(condition.text())));
        }
        let label = match step.work.kind() {
            "agent" => "Prompt",
            "recipe" => "Recipe",
            _ => "Command",
        };
        out::line(format!("     {label}: {}", one_line(&explain::work(step))));
    }
}

fn list_recipes(around: &Surroundings, line: &Line) -> Result<Exit, Stop> {
    if line.json() {
        return list::execute(&list::Args {
            directory: line.working_dir.clone(),
            recipe_dirs: line.recipe_dir.clone(),
            json: true,
        });
    }
    let entries = list::entries(around, line.working_dir.as_deref(), &line.recipe_dir)?;
    let mut table = Table::new(&["NAME", "VERSION", "DESCRIPTION"]);
    let mut found = 0;
    for entry in entries.iter().filter(|entry| !entry.shadowed) {
        found += 1;
        let recipe = &entry.recipe;
        let broken = recipe.broken.as_ref().map(|problem| format!("broken: {problem}"));
        let told = broken.unwrap_or_else(|| recipe.description.clone());
        table.row(vec![Cell::from(&recipe.name), (&recipe.version).into(), told.into()]);
    }
    table.print(&Screen::new(around));
    out::line(format!("{found} recipe(s) found."));
    Ok(Exit::Done)
}
