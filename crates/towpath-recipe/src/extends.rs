//! Inheritance: what a recipe becomes when it extends another. The parent's steps come first; a
//! step of the child with the id of one of the parent's replaces it; context, hooks, limits
//! and required variables are joined key by key, and the child wins; of required programs both count. Finding the parent is the
//! business of `resolver`.

use crate::context_validation::ContextRule;
use crate::draft::Outline;
use crate::recipe::{Hooks, Recipe, Recursion, Step, VariableUse};
use towpath_core::Map;

/// A longer chain is a mistake, or an attack on the reader.
pub(crate) const MAX_LEVELS: usize = 32;

pub(crate) fn extend(child: Recipe, parent: &Recipe) -> Recipe {
    let mut required = parent.required_context.clone();
    required.extend(
        child
            .required_context
            .iter()
            .filter(|n| !required.contains(n))
            .cloned()
            .collect::<Vec<_>>(),
    );
    Recipe {
        context: contexts(&parent.context, &child.context),
        required_context: required,
        sandbox: child.sandbox.or(parent.sandbox),
        fail_fast: child.fail_fast.or(parent.fail_fast),
        requires: parent.requires.iter().chain(&child.requires).cloned().collect(),
        recursion: recursion(parent.recursion, child.recursion),
        hooks: hooks(&parent.hooks, &child.hooks),
        steps: replaced(&parent.steps, &child.steps, |step: &Step| Some(step.id.as_str())),
        batches: std::sync::OnceLock::new(),
        ..child
    }
}

/// The same for what is known of recipes that may have errors.
pub(crate) fn extend_outline(child: &Outline, parent: &Outline) -> Outline {
    let mut required = parent.required.clone();
    required.extend(child.required.iter().filter(|n| !parent.required.contains(n)).cloned());
    let mut hook_uses: Vec<VariableUse> = parent
        .hook_uses
        .iter()
        .filter(|used| !child.hook_uses.iter().any(|own| own.field == used.field))
        .cloned()
        .collect();
    hook_uses.extend(child.hook_uses.iter().cloned());
    let ruled = |rule: &&ContextRule| !child.rules.iter().any(|own| own.variable == rule.variable);
    Outline {
        context: contexts(&parent.context, &child.context),
        required,
        aliases: parent.aliases.iter().chain(&child.aliases).cloned().collect(),
        rules: parent.rules.iter().filter(ruled).chain(&child.rules).cloned().collect(),
        recursion: recursion(parent.recursion, child.recursion),
        steps: replaced(&parent.steps, &child.steps, |step| step.id.as_deref()),
        hook_uses,
        stray_braces: parent.stray_braces.iter().chain(&child.stray_braces).cloned().collect(),
        open: child.open || parent.open,
        ..Outline::default()
    }
}

fn recursion(parent: Recursion, child: Recursion) -> Recursion {
    Recursion {
        max_depth: child.max_depth.or(parent.max_depth),
        max_total_steps: child.max_total_steps.or(parent.max_total_steps),
    }
}

fn contexts(parent: &Map, child: &Map) -> Map {
    let mut context = parent.clone();
    for (name, value) in child {
        context.insert(name.clone(), value.clone());
    }
    context
}

fn hooks(parent: &Hooks, child: &Hooks) -> Hooks {
    let own = [
        ("pre_step", &child.pre_step),
        ("post_step", &child.post_step),
        ("on_error", &child.on_error),
    ];
    let replaced = |field: &str| own.iter().any(|(name, hook)| *name == field && hook.is_some());
    let inherited = parent.uses.iter().filter(|used| !replaced(used.field));
    Hooks {
        pre_step: child.pre_step.clone().or_else(|| parent.pre_step.clone()),
        post_step: child.post_step.clone().or_else(|| parent.post_step.clone()),
        on_error: child.on_error.clone().or_else(|| parent.on_error.clone()),
        uses: inherited.chain(&child.uses).cloned().collect(),
    }
}

/// The parent's items, replaced by those of the child with the same id, then the child's others.
fn replaced<T: Clone>(parent: &[T], child: &[T], id: impl Fn(&T) -> Option<&str>) -> Vec<T> {
    let same = |a: &T, b: &T| id(a).is_some() && id(a) == id(b);
    let replaced = parent.iter().map(|old| child.iter().find(|new| same(old, new)).unwrap_or(old));
    let added = child.iter().filter(|new| !parent.iter().any(|old| same(old, new)));
    replaced.chain(added).cloned().collect()
}
