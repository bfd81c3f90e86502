//! What is shown of a program's parts, in text, charts and JSON alike.

use towpath_recipe::{Origin, Program, Recipe, Recursion, Step, Work};

/// A stable word for where a recipe comes from.
pub fn origin_word(origin: Origin) -> &'static str {
    match origin {
        Origin::Named => "named",
        Origin::Given => "given",
        Origin::User => "user",
        Origin::Project => "project",
        Origin::BuiltIn => "built-in",
    }
}

/// The recipe that a step calls, by its index.
pub fn callee(program: &Program, caller: usize, step: &Step) -> Option<usize> {
    match &step.work {
        Work::Recipe { name, .. } => program.callee(caller, name),
        _ => None,
    }
}

/// What a step does, as its author wrote it.
pub fn step_text(step: &Step) -> String {
    match &step.work {
        Work::Bash { command } => command.text().to_owned(),
        Work::Agent(agent) => agent.prompt.source().to_owned(),
        Work::Recipe { name, .. } => name.clone(),
    }
}

/// The hooks that a recipe has, by their names.
pub fn hooks(recipe: &Recipe) -> Vec<(&'static str, &str)> {
    let hooks = &recipe.hooks;
    let named = [
        ("pre_step", &hooks.pre_step),
        ("post_step", &hooks.post_step),
        ("on_error", &hooks.on_error),
    ];
    named.into_iter().filter_map(|(name, hook)| Some((name, hook.as_ref()?.text()))).collect()
}

/// What bounds a run of the whole program.
#[derive(Debug, Clone, Copy)]
pub struct RunBounds {
    pub depth: u32,
    /// None: a state machine's guardrails bound each of its sessions, and nothing bounds the run.
    pub steps: Option<u32>,
    /// Whether the steps of state machines count, which have guardrails of their own.
    pub counts_machines: bool,
}

impl RunBounds {
    pub fn of(program: &Program) -> RunBounds {
        let root = program.root();
        let Recursion { max_depth, max_total_steps } = root.recursion;
        let usual = root.machine().is_none().then_some(Recursion::DEFAULT_MAX_TOTAL_STEPS);
        RunBounds {
            depth: max_depth.unwrap_or(Recursion::DEFAULT_MAX_DEPTH),
            steps: max_total_steps.or(usual),
            counts_machines: max_total_steps.is_some(),
        }
    }
}
