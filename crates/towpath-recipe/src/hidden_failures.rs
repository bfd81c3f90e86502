//! Commands in which a failure goes unnoticed although bash ends with the first failing line: `-e` does
//! not see a failure before `&&`, nor one inside the value of a declaration. A recipe gets one note;
//! nothing is refused.

use crate::loaded::Loaded;
use crate::recipe::{Recipe, Step, Work};
use towpath_core::{Diagnostic, quoted_list};
use towpath_shell::FailFast;
use towpath_shell::bash::parse;
use towpath_shell::bash::tree::{Block, Command, CompoundKind, Link};

/// More names than this are only counted.
const NAMES: usize = 4;

pub(crate) fn hidden_failures(loaded: &[Loaded]) -> Vec<Diagnostic> {
    let called = loaded.iter().filter(|recipe| recipe.is_called);
    called.filter_map(|loaded| note(loaded.recipe.as_ref()?)).collect()
}

fn note(recipe: &Recipe) -> Option<Diagnostic> {
    let hides = |step: &&Step| match &step.work {
        Work::Bash { command } => {
            recipe.fails_on(Some(step)) != FailFast::Off && hides_failures(command.text())
        }
        _ => false,
    };
    let steps: Vec<&Step> = recipe.steps.iter().filter(hides).collect();
    let first = *steps.first()?;
    let mut names: Vec<&str> = steps.iter().take(NAMES).map(|step| step.id.as_str()).collect();
    let more = format!("{} more", steps.len() - names.len());
    names.extend(Some(more.as_str()).filter(|_| steps.len() > names.len()));
    let message =
        format!("a failure that bash does not see does not fail its step: {}", quoted_list(&names));
    let problem = Diagnostic::note("hidden-failure", message);
    let label = "a loop that ends with `… && break`, or `local x=$(…)`";
    Some(problem.at(&first.source, first.spans.id, label).help(
        "write `[ $try -lt 3 ] || exit 1` after `… && break`; declare a variable first, and assign it \
         in a line of its own",
    ))
}

/// Whether a part of a command can fail without an end. What is not understood is not judged.
fn hides_failures(text: &str) -> bool {
    parse(text).is_ok_and(|script| block_hides(script.body(), text, true))
}

/// `ends`: the exit code of the block is that of the command.
fn block_hides(block: &Block, text: &str, ends: bool) -> bool {
    let last = block.statements.len().saturating_sub(1);
    let mut statements = block.statements.iter().enumerate();
    statements.any(|(at, statement)| hides(&statement.command, text, ends && at == last))
}

fn hides(command: &Command, text: &str, ends: bool) -> bool {
    match command {
        Command::Declare(declare) => declare.assignments.iter().any(|assignment| {
            let value = text[assignment.range.clone()].replace("$((", "");
            value.contains("$(") || value.contains('`')
        }),
        Command::Compound(compound) => {
            use CompoundKind::{ArithmeticFor, For, Until, While};
            let is_loop = matches!(compound.kind, For | ArithmeticFor | While | Until);
            (is_loop && !ends && compound.blocks.last().is_some_and(ends_with_break))
                || compound.blocks.iter().any(|block| block_hides(block, text, ends))
        }
        Command::Function { body, .. } => hides(&body.command, text, false),
        _ => false,
    }
}

/// `… && break` at the end: after the last try the loop is over, and nothing has failed.
fn ends_with_break(block: &Block) -> bool {
    let last = block.statements.last().map(|last| &last.command);
    let Some(Command::Chain { rest, .. }) = last else { return false };
    let Some((Link::And, last)) = rest.last() else { return false };
    match &last.command {
        Command::Simple(simple) => simple.words.first().and_then(|w| w.fixed()) == Some("break"),
        _ => false,
    }
}
