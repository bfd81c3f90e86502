//! Tags that were asked for and that no step has: the run would not do what the user meant,
//! without a word. It looks at every recipe that can be reached; where one cannot be read it reports
//! nothing.

use crate::chosen_tags::Tags;
use crate::loaded::Loaded;
use std::collections::BTreeSet;
use towpath_core::{Diagnostic, Hint, nearest, quoted_list};

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
