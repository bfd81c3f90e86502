//! Inputs that a user set and nothing reads.

use crate::loaded_recipe::Loaded;
use crate::recipe_outline_for_checks::Outline;
use std::collections::HashSet;
use towpath_core::{Diagnostic, Map, nearest};

/// Inputs that no recipe of the plan declares or reads.
pub(crate) fn unread_inputs(loaded: &[Loaded], inputs: &Map) -> Vec<Diagnostic> {
    let outlines = || loaded.iter().map(|l| &l.outline);
    let declared = outlines().flat_map(Outline::declared);
    let in_steps = outlines().flat_map(|o| o.steps.iter().flat_map(|s| &s.uses));
    let read = in_steps.chain(outlines().flat_map(|o| &o.hook_uses));
    let known: HashSet<&str> =
        declared.chain(read.flat_map(|used| [used.path.root(), used.path.as_str()])).collect();
    let mut sorted: Vec<&str> = known.iter().copied().collect();
    sorted.sort_unstable();
    let unread = inputs.keys().filter(|name| !known.contains(name.as_str()));
    unread
        .map(|name| {
            let problem = Diagnostic::warning(
                "unread-input",
                format!("`{name}` was set, but nothing declares or reads it"),
            );
            match nearest(name, sorted.iter().copied()) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem,
            }
        })
        .collect()
}
