//! One recipe that was found, as the checks across recipes see it.

use crate::draft::{Draft, StepDraft};
use crate::recipe::Recipe;
use crate::recipe_file::RecipeFile;
use crate::recipe_search::Origin;
use crate::request::Tags;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use towpath_core::{Diagnostic, Hint, nearest, quoted_list};

/// A recipe with what came of reading it.
pub(crate) struct Loaded {
    pub file: RecipeFile,
    pub origin: Origin,
    pub recipe: Option<Arc<Recipe>>,
    pub draft: Draft,
    pub calls: BTreeMap<String, usize>,
    pub extends: Option<usize>,
    /// It is the root or some step calls it; else it is only extended.
    pub is_called: bool,
    /// The files that it includes, by their paths from its directory.
    pub files: BTreeMap<String, String>,
}

impl Loaded {
    /// Whether a recipe that it calls was not found.
    pub fn lacks_a_call(&self) -> bool {
        let mut calls = self.draft.steps.iter().filter_map(StepDraft::calls);
        calls.any(|call| !self.calls.contains_key(&call.name))
    }

    /// The recipe's name, or else that of its text.
    pub fn name(&self) -> &str {
        self.recipe.as_ref().map_or(&self.draft.source.name, |recipe| &recipe.name)
    }
}

/// Tags that were asked for and that no step has: the run would not do what the user meant, without a
/// word. Where a recipe cannot be read it reports nothing.
pub(crate) fn unknown_tags(loaded: &[Loaded], tags: &Tags) -> Vec<Diagnostic> {
    let called = || loaded.iter().filter(|loaded| loaded.is_called);
    if called().any(|loaded| loaded.draft.open || loaded.lacks_a_call()) {
        return Vec::new();
    }
    let steps = called().flat_map(|loaded| &loaded.draft.steps);
    let known: BTreeSet<&str> =
        steps.flat_map(|step| step.when_tags.iter().map(String::as_str)).collect();
    let included = tags.include.iter().map(|tag| (tag, Hint::IncludedTag));
    let asked = included.chain(tags.exclude.iter().map(|tag| (tag, Hint::ExcludedTag)));
    let unknown = asked.filter(|(tag, _)| !known.contains(tag.as_str()));
    unknown.map(|(tag, hint)| unknown_tag(tag, &known).hint(hint)).collect()
}

fn unknown_tag(tag: &str, known: &BTreeSet<&str>) -> Diagnostic {
    let problem = Diagnostic::warning("unknown-tag", format!("no step has the tag `{tag}`"));
    let all: Vec<&str> = known.iter().copied().collect();
    let all = match all[..] {
        [] => "no step has a tag".to_owned(),
        [one] => format!("there is `{one}`"),
        _ => format!("there are {}", quoted_list(&all)),
    };
    match nearest(tag, known.iter().copied()) {
        Some(near) if known.len() == 1 => problem.help(format!("did you mean `{near}`?")),
        Some(near) => problem.help(format!("did you mean `{near}`? {all}")),
        None => problem.help(all),
    }
}
