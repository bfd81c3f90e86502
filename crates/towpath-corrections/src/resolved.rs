//! The directories that rules are limited to, and those that calls are made in. A host may name its
//! directory through a link, and a rule may have been written with one: both are compared without.

use crate::Rule;
use std::path::Path;

/// The directory without links; one that does not exist stays as it is written.
pub fn resolved(directory: &str) -> String {
    let real = Path::new(directory).canonicalize().ok();
    real.and_then(|real| real.to_str().map(str::to_owned)).unwrap_or_else(|| directory.to_owned())
}

/// The rules as calls are compared with them.
pub fn with_resolved_directories(rules: Vec<Rule>) -> Vec<Rule> {
    let each = |rule: Rule| Rule { directory: rule.directory.as_deref().map(resolved), ..rule };
    rules.into_iter().map(each).collect()
}
