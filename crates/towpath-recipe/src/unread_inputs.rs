//! Inputs that a user set and nothing reads.

use crate::draft::Draft;
use crate::loaded::Loaded;
use std::collections::BTreeSet;
use towpath_core::{Diagnostic, Map, nearest};

/// Inputs that no recipe of the plan declares or reads.
pub(crate) fn unread_inputs(loaded: &[Loaded], inputs: &Map) -> Vec<Diagnostic> {
    let known = known_names(loaded);
    let problem = |name: &str| {
        let message = format!("`{name}` was set, but nothing declares or reads it");
        let problem = Diagnostic::warning("unread-input", message);
        match nearest(name, known.iter().copied()) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem,
        }
    };
    unread_names(loaded, inputs).into_iter().map(problem).collect()
}

/// Their names.
pub(crate) fn unread_names<'a>(loaded: &[Loaded], inputs: &'a Map) -> Vec<&'a str> {
    let known = known_names(loaded);
    inputs.keys().map(String::as_str).filter(|name| !known.contains(name)).collect()
}

fn known_names(loaded: &[Loaded]) -> BTreeSet<&str> {
    let outlines = || loaded.iter().map(|l| &l.draft);
    let declared = outlines().flat_map(Draft::declared);
    let in_steps = outlines().flat_map(|o| o.steps.iter().flat_map(|s| &s.uses));
    let read = in_steps.chain(outlines().flat_map(|o| &o.hooks.uses));
    declared.chain(read.flat_map(|used| [used.path.root(), used.path.as_str()])).collect()
}
