//! `context_validation`: what the variables of a recipe must be before its first step. It is checked for
//! the recipe that is run, not for those it calls: their values come from steps. Files are looked at,
//! nothing is started.

use std::path::Path;
use std::sync::Arc;
use towpath_core::{Diagnostic, Map, Severity, Source, Span, text_of};

/// The words for what a variable must be; the last asks for nothing.
pub(crate) const RULES: &[&str] = &["nonempty", "path", "git_repo", "optional"];

/// A rule for one variable.
#[derive(Debug, Clone)]
pub(crate) struct ContextRule {
    pub variable: String,
    /// One of [`RULES`].
    pub rule: &'static str,
    pub source: Arc<Source>,
    pub span: Span,
}

impl ContextRule {
    /// Whether the variable must have a value at all.
    pub fn requires_value(&self) -> bool {
        self.rule != "optional"
    }

    fn violated(&self, value: &str, directory: &Path) -> Option<&'static str> {
        let path = directory.join(value);
        match self.rule {
            "path" if !path.exists() => Some("which does not exist"),
            "git_repo" if !path.is_dir() => Some("which is no directory"),
            "git_repo" if !is_in_git_repository(&path) => Some("which is in no git repository"),
            _ => None,
        }
    }
}

/// The values that are there and are not what they must be.
pub(crate) fn violations(
    rules: &[ContextRule],
    context: &Map,
    directory: &Path,
    severity: Severity,
) -> Vec<Diagnostic> {
    let violation = |rule: &ContextRule| {
        let value = text_of(context.get(&rule.variable)?);
        let why = rule.violated(&value, directory).filter(|_| !value.trim().is_empty())?;
        let message = format!("`{}` is `{value}`, {why}", rule.variable);
        let label = format!("must be `{}`", rule.rule);
        Some(Diagnostic::new(severity, "bad-input", message).at(&rule.source, rule.span, label))
    };
    rules.iter().filter_map(violation).collect()
}

/// As git itself finds a repository: a `.git` here or above, or a bare one.
fn is_in_git_repository(directory: &Path) -> bool {
    let Ok(directory) = directory.canonicalize() else { return false };
    let bare = |at: &Path| ["HEAD", "objects", "refs"].iter().all(|name| at.join(name).exists());
    directory.ancestors().any(|at| at.join(".git").exists() || bare(at))
}
