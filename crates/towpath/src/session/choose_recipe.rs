//! `towpath run` without a name, on a terminal: the recipes with their numbers, and a question. Line by line,
//! so that it works on any terminal.

use super::recipe_list::Entry;
use crate::environment::Environment;
use crate::exit::CommandError;
use crate::terminal::out;
use crate::terminal::report::{columns, wrapped};
use towpath_recipe::Origin;
use towpath_view::foreign_text::first_line;

/// Whether there is a user who can choose.
pub fn can_ask(env: &Environment) -> bool {
    !env.unattended && env.stderr_terminal
}

/// The name of the chosen recipe; none where the user has chosen nothing.
pub fn choose(entries: &[Entry]) -> Result<Option<String>, CommandError> {
    let usable: Vec<&Entry> =
        entries.iter().filter(|entry| !entry.shadowed && entry.recipe.broken.is_none()).collect();
    // What is built in is long, and would push the project's own recipes off the screen.
    let own = usable.iter().filter(|entry| entry.recipe.origin != Origin::BuiltIn).count();
    let listed = if own == 0 { usable.len() } else { own };
    let (mut usable, built_in): (Vec<&Entry>, Vec<&Entry>) =
        usable.into_iter().partition(|entry| entry.recipe.origin != Origin::BuiltIn);
    usable.extend(built_in);
    for (index, entry) in usable[..listed].iter().enumerate() {
        lines(index + 1, entry, columns()).iter().for_each(out::note);
    }
    let more = usable.len() - listed;
    if more > 0 {
        out::note(format!("\nand {more} built-in ones, by their names: towpath list"));
    }
    out::message("\nWhich one (Enter for none)? ");
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    let answer = answer.trim();
    if read.is_err() || answer.is_empty() {
        return Ok(None);
    }
    let numbered = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let by_number = numbered.and_then(|index| usable.get(index));
    let by_name = || usable.iter().find(|entry| entry.recipe.name == answer);
    let chosen = by_number.or_else(by_name).ok_or_else(|| {
        CommandError::bad_input(format!(
            "`{answer}` is no number from 1 to {} and no name of a recipe; nothing was run",
            usable.len()
        ))
    })?;
    Ok(Some(chosen.recipe.name.clone()))
}

/// `  1  ci  Builds and tests`, the description wrapped below itself.
fn lines(number: usize, entry: &Entry, columns: usize) -> Vec<String> {
    const INDENT: usize = 6;
    let untrusted = if entry.untrusted { " (not trusted)" } else { "" };
    let first = format!("{number:>4}  {}{untrusted}", first_line(&entry.recipe.name));
    let description = first_line(&entry.recipe.description);
    let room = columns.saturating_sub(INDENT).max(20);
    let below = wrapped(&description, room).into_iter().filter(|line| !line.is_empty());
    let below = below.map(|line| format!("{}{line}", " ".repeat(INDENT)));
    [first].into_iter().chain(below).collect()
}
