//! Commands in which a failure goes unnoticed: bash returns the exit code of the last line, and of the
//! last part of a pipe. A recipe that states nothing about it gets one note; nothing is refused.

use crate::loaded_recipe::Loaded;
use crate::recipe::{Recipe, Step, Work};
use towpath_core::{Diagnostic, quoted_list};
use towpath_shell::bash::tree::{Block, Command, Link, Statement};
use towpath_shell::bash::{SimpleCommand, parse};

/// More names than this are only counted.
const NAMES: usize = 4;

pub(crate) fn hidden_failures(loaded: &[Loaded]) -> Vec<Diagnostic> {
    let called = loaded.iter().filter(|recipe| recipe.is_called);
    called.filter_map(|loaded| note(loaded.recipe.as_ref()?)).collect()
}

fn note(recipe: &Recipe) -> Option<Diagnostic> {
    let unstated = |step: &&Step| step.fail_fast.or(recipe.fail_fast).is_none();
    let hides = |step: &&Step| match &step.work {
        Work::Bash { command } => hides_failures(command.text()),
        _ => false,
    };
    let steps: Vec<&Step> = recipe.steps.iter().filter(unstated).filter(hides).collect();
    let first = *steps.first()?;
    let mut names: Vec<&str> = steps.iter().take(NAMES).map(|step| step.id.as_str()).collect();
    let more = format!("{} more", steps.len() - names.len());
    names.extend(Some(more.as_str()).filter(|_| steps.len() > names.len()));
    let message = format!(
        "a line that fails in the middle of a command does not fail its step: {}",
        quoted_list(&names)
    );
    let problem = Diagnostic::note("hidden-failure", message);
    let problem = problem.at(&first.source, first.spans.id, "only its last line decides");
    Some(problem.help(
        "add `fail_fast: true` to the recipe: its commands then run with `bash -euo pipefail`; \
         `fail_fast: false` if this is meant",
    ))
}

/// Whether a part of a command can fail unnoticed. What is not understood is not judged.
fn hides_failures(text: &str) -> bool {
    let Ok(script) = parse(text) else { return false };
    if script.commands().iter().any(exits_on_error) {
        return false;
    }
    let several_lines = text.trim().contains('\n') && script.body().statements.len() > 1;
    several_lines || block_pipes(script.body())
}

/// `set -e`, `set -euo pipefail`, `set -o errexit`.
fn exits_on_error(command: &SimpleCommand) -> bool {
    let words: Vec<&str> = command.words.iter().filter_map(|word| word.fixed()).collect();
    let [name, options @ ..] = &words[..] else { return false };
    let short = |option: &&str| {
        option
            .strip_prefix('-')
            .is_some_and(|letters| !letters.starts_with('-') && letters.contains('e'))
    };
    *name == "set" && options.iter().any(|option| short(option) || *option == "errexit")
}

fn block_pipes(block: &Block) -> bool {
    block.statements.iter().any(pipes)
}

fn pipes(statement: &Statement) -> bool {
    match &statement.command {
        Command::Chain { first, rest } => {
            pipes(first) || rest.iter().any(|(link, next)| *link == Link::Pipe || pipes(next))
        }
        Command::Compound(compound) => compound.blocks.iter().any(block_pipes),
        Command::Case { arms, .. } => arms.iter().any(|arm| block_pipes(&arm.body)),
        Command::Function { body, .. } => pipes(body),
        _ => false,
    }
}
