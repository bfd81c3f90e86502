//! `--explain`: the recipe's name and version, and its steps by number, each with what it does, when
//! it runs, and whether the tags that were asked for leave it out.

use super::{RecipeRunnerArgs, found_at, validate};
use crate::environment::Environment;
use crate::exit::{CommandError, Exit};
use crate::session::resolve_recipe::show_problems;
use crate::session::trust;
use crate::terminal::out;
use towpath_recipe::{Program, Resolved, Step, Work};
use towpath_view::foreign_text::first_line;
use towpath_view::recipe_json::recipe_json;
use towpath_view::step_line;

pub fn execute(
    env: &Environment,
    line: &RecipeRunnerArgs,
    recipe: &str,
) -> Result<Exit, CommandError> {
    let Resolved { program, origin, problems, .. } = validate::resolved(env, line, recipe)?;
    show_problems(&problems, recipe, env, line.json())?;
    let Some(program) = program else {
        return Err(CommandError::bad_input(format!("{recipe} cannot be explained")));
    };
    if line.json() {
        let trusted = !trust::needs_consent(env, &program, origin)?;
        out::json(&recipe_json(&program, origin, trusted, &problems));
        return Ok(Exit::Done);
    }
    print(&program, &found_at(&program, origin));
    Ok(Exit::Done)
}

fn print(program: &Program, from: &str) {
    let root = program.root();
    let field = |name: &str, text: &str| {
        if !text.is_empty() {
            out::line(format!("{name}: {}", first_line(text)));
        }
    };
    field("Recipe", &format!("{}{from}", root.name));
    field("Version", &root.version);
    field("Description", &root.description);
    field("Author", &root.author);
    field("Tags", &root.tags.join(", "));
    field("Extends", root.extends.as_ref().map_or("", |extends| &extends.name));
    out::line("Steps:");
    for (number, step) in root.steps.iter().enumerate() {
        out::line(format!("  {}. {}", number + 1, step.id));
        for (label, text) in details(program, step) {
            out::line(format!("     {label}: {}", first_line(&text)));
        }
    }
}

fn details(program: &Program, step: &Step) -> Vec<(&'static str, String)> {
    let mut details = Vec::new();
    if let Some(condition) = &step.condition {
        details.push(("Condition", condition.text().to_owned()));
    }
    if !step.when_tags.is_empty() {
        let left_out = program.plan.tags.against(step);
        let left_out = left_out.map_or(String::new(), |why| format!(" (left out: {why})"));
        details.push(("Tags", format!("{}{left_out}", step.when_tags.join(", "))));
    }
    if let Some(group) = &step.parallel_group {
        details.push(("Group", group.clone()));
    }
    if let Work::Agent(agent) = &step.work {
        let name = agent.agent.as_ref().map_or("default", |agent| &agent.name);
        details.push(("Agent", name.to_owned()));
    }
    let label = match &step.work {
        Work::Agent(_) => "Prompt",
        Work::Recipe { .. } => "Recipe",
        Work::Bash { .. } => "Command",
    };
    details.push((label, step_line(step)));
    details
}
