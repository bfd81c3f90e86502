//! Whether an edited line is certainly what was meant: it parses, everything outside of the edits is
//! as it was, and a recipe's own commands are where they belong.

use super::reparsed;
use crate::correction::Edit;
use crate::recipe::Replacement;
use crate::same_outside_edits::{self, Moves, nesting_labels};
use towpath_shell::bash::{self, Script};

pub(super) fn is_certain(
    before: &Script,
    edits: &[Edit],
    replaced: &[(usize, Replacement)],
) -> bool {
    let Some(after) = reparsed(before, edits) else { return false };
    let commands: Vec<_> =
        replaced.iter().map(|(index, _)| before.commands()[*index].range.clone()).collect();
    same_outside_edits::is_same_outside(before, &after, edits, &commands)
        && replaced
            .iter()
            .all(|(index, replacement)| has_recipe(before, &after, edits, *index, replacement))
}

/// Whether the commands of a recipe are found inside of its edit, each in what it was part of.
fn has_recipe(
    before: &Script,
    after: &Script,
    edits: &[Edit],
    index: usize,
    replacement: &Replacement,
) -> bool {
    let Ok(recipe) = bash::parse(&replacement.script) else { return false };
    let Some(at) = edits.iter().position(|edit| *edit == replacement.edit) else {
        // A recipe that writes what was there.
        return true;
    };
    let range = Moves::new(edits).new_range(at);
    let outer = nesting_labels(&before.commands()[index].nesting);
    let found: Vec<Vec<String>> = after
        .commands()
        .iter()
        .filter(|command| {
            let start = command.words.first().map_or(command.range.start, |word| word.range.start);
            range.contains(&start)
        })
        .map(|command| nesting_labels(&command.nesting))
        .collect();
    let expected: Vec<Vec<String>> = recipe
        .commands()
        .iter()
        .map(|command| {
            let own = nesting_labels(&command.nesting);
            outer.iter().cloned().chain(replacement.group.label()).chain(own).collect()
        })
        .collect();
    found == expected
}
