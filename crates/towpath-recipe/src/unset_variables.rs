//! Which variables can have a value where they are read, over all recipes of a plan. It is careful
//! to one side: whatever some caller may provide counts as set, so that nothing is refused wrongly.

use crate::draft::{Gate, StepDraft};
use crate::loaded::Loaded;
use crate::recipe::VariableUse;
use crate::variable_flow::{Names, VariableFlow};
use std::collections::{HashMap, HashSet};
use towpath_core::{Diagnostic, Hint, Severity, VarPath, nearest};

/// Set by the engine for hooks.
pub(crate) const HOOK_VARIABLES: [&str; 3] = ["step_id", "step_status", "error"];
/// How the steps ended, set by the engine.
pub(crate) const STEPS: &str = "steps";
/// Looking for a near name is slow in a recipe of thousands of steps.
pub(crate) const MAX_SUGGESTIONS: usize = 50;

pub(crate) fn unset_variables(flow: &VariableFlow<'_>) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (index, recipe) in flow.loaded.iter().enumerate() {
        // A recipe that is only extended is looked at as a part of the one that extends it.
        if flow.open[index] || !recipe.is_called {
            continue;
        }
        if recipe.draft.is_machine {
            problems.extend(unset_in_machine(flow, recipe, index));
            continue;
        }
        problems.extend(unset_in_steps(flow, recipe, index));
        if !flow.leaks[index] {
            problems.extend(unset_in_hooks(flow, recipe, index));
        }
    }
    problems
}

fn unset_in_steps(flow: &VariableFlow<'_>, recipe: &Loaded, index: usize) -> Vec<Diagnostic> {
    let elsewhere = elsewhere(&recipe.draft.steps);
    let mut set: Names<'_> = recipe.draft.declared().collect();
    set.extend(&flow.provided[index]);
    set.insert(STEPS);
    let mut problems = Vec::new();
    for (_, batch) in recipe.draft.batches() {
        let mates = Mates::new(batch);
        for (position, step) in batch.iter().enumerate().filter(|(_, step)| !step.unsure) {
            let names = NamesAt {
                set: &set,
                mates: &mates,
                position,
                elsewhere: &elsewhere,
                severity: flow.severity,
            };
            let suggests = problems.len() < MAX_SUGGESTIONS;
            problems.extend(unset_in_step(step, &names, suggests));
        }
        if batch.iter().any(|step| flow.may_set_anything(recipe, step)) {
            break;
        }
        for step in batch {
            set.extend(step.writes());
            if let Some(callee) = step.calls().and_then(|call| recipe.calls.get(&call.name)) {
                set.extend(&flow.returned[*callee]);
            }
        }
    }
    problems
}

/// In a machine any step may come before any other, and only what is named is kept.
fn unset_in_machine(flow: &VariableFlow<'_>, recipe: &Loaded, index: usize) -> Vec<Diagnostic> {
    let steps = &recipe.draft.steps;
    if steps.iter().any(|step| flow.may_set_anything(recipe, step)) {
        return Vec::new();
    }
    let mut set: Names<'_> = recipe.draft.declared().collect();
    set.extend(&flow.provided[index]);
    set.extend(steps.iter().filter_map(|step| step.output.as_deref()));
    recipe.calls.values().for_each(|callee| set.extend(&flow.returned[*callee]));
    let names = NamesAt {
        set: &set,
        mates: &Mates::new(&[]),
        position: 0,
        elsewhere: &HashMap::new(),
        severity: flow.severity,
    };
    steps.iter().flat_map(|step| unset_in_step(step, &names, true)).collect()
}

/// The names that are known where a step is.
struct NamesAt<'s, 'a> {
    set: &'s Names<'a>,
    mates: &'s Mates<'a>,
    /// The step's index in its batch.
    position: usize,
    elsewhere: &'s HashMap<&'a str, String>,
    severity: Severity,
}

fn unset_in_step(step: &StepDraft, names: &NamesAt<'_, '_>, suggests: bool) -> Vec<Diagnostic> {
    let mut reported = HashSet::new();
    let mut problems = Vec::new();
    let in_condition = step.uses.iter().filter(|used| used.is_condition());
    let asks_for: Names<'_> = in_condition.map(|used| used.path.root()).collect();
    let given: Names<'_> = step.context.iter().map(|(key, _)| key.as_str()).collect();
    for used in step.uses.iter().filter(|used| !used.has_default) {
        let root = used.path.root();
        let condition = used.is_condition();
        // A mate's output is another problem, reported where groups are checked.
        let set = is_set(names.set, &used.path) || names.mates.other_writes(names.position, root);
        // A step that asks for it first, by its condition, knows that it may be unset.
        let asked = matches!(step.gate, Gate::Broken) || asks_for.contains(root);
        if set
            || (condition && cannot_slip(step, used))
            || (asked && !condition)
            || reported.contains(root)
        {
            continue;
        }
        let own = used.field != "context" && given.contains(root);
        if own && !condition {
            continue;
        }
        reported.insert(root);
        if own {
            problems.push(set_too_late(&who(step), used, names.severity));
            continue;
        }
        let own = step.context.iter().map(|(key, _)| key);
        let near = suggests.then(|| meant(names.set, own, &used.path)).flatten();
        let asked = matches!(&step.gate, Gate::Condition(located) if located.condition.asks(root));
        let elsewhere = names.elsewhere.get(root);
        let clue = Clue { elsewhere, near, word: word(step, used), asked };
        problems.push(unset(&who(step), used, clue, names.severity));
    }
    problems
}

/// Words for null, and what is in a condition that never changes, which is another problem.
fn cannot_slip(step: &StepDraft, used: &VariableUse) -> bool {
    let constant = matches!(&step.gate, Gate::Condition(located) if located.is_constant);
    constant || NULL.contains(&used.path.as_str())
}

/// None is a word of the language, but a name that nothing sets is null.
const NULL: [&str; 4] = ["null", "none", "None", "nil"];

/// The value that a bare word in a condition is probably meant to be.
fn word(step: &StepDraft, used: &VariableUse) -> Option<String> {
    let Gate::Condition(located) = &step.gate else { return None };
    let mut names = located.condition.names().into_iter();
    let name = names.find(|name| located.map.locate(name.range.clone()) == used.span)?;
    let word = name.path.as_str();
    match word.to_lowercase().as_str() {
        "true" | "yes" | "on" | "y" => Some("`true`".to_owned()),
        "false" | "no" | "off" | "n" => Some("`false`".to_owned()),
        _ => name.compared.then(|| format!("'{word}'")),
    }
}

/// Who writes which variable in one batch: the writer's index in it, none when there are several.
struct Mates<'a>(HashMap<&'a str, Option<usize>>);

impl<'a> Mates<'a> {
    fn new(batch: &'a [StepDraft]) -> Mates<'a> {
        let mut writers: HashMap<&str, Option<usize>> = HashMap::new();
        for (index, step) in batch.iter().enumerate() {
            for name in step.writes() {
                let writer = writers.entry(name).or_insert(Some(index));
                if *writer != Some(index) {
                    *writer = None;
                }
            }
        }
        Mates(writers)
    }

    fn other_writes(&self, index: usize, name: &str) -> bool {
        self.0.get(name).is_some_and(|writer| *writer != Some(index))
    }
}

/// Why a name is no variable where it is read: the step that sets it comes later, or the step of
/// that name stores its output under another one.
fn elsewhere(steps: &[StepDraft]) -> HashMap<&str, String> {
    let mut labels = HashMap::new();
    for step in steps {
        let id = step.shown_id();
        for name in step.writes() {
            let label = || format!("step `{id}` sets it, but not before this");
            labels.entry(name).or_insert_with(label);
        }
    }
    for step in steps {
        if let (Some(id), Some(output)) = (&step.id, &step.output) {
            labels.entry(id).or_insert_with(|| format!("the output of step `{id}` is `{output}`"));
        }
    }
    labels
}

pub(crate) fn who(step: &StepDraft) -> String {
    step.id.as_ref().map_or("a step".to_owned(), |id| format!("step `{id}`"))
}

/// What was meant by a variable that nothing sets: the same without `context.` before it, for
/// variables are read by their own names, or else a name that is nearly the same.
fn meant<'a>(
    set: &Names<'a>,
    own: impl Iterator<Item = &'a String>,
    path: &'a VarPath,
) -> Option<&'a str> {
    let mut known: Vec<&str> = set.iter().copied().chain(own.map(String::as_str)).collect();
    let bare = path.as_str().strip_prefix("context.").filter(|bare| {
        let root = bare.split('.').next().unwrap_or(bare);
        known.contains(&root)
    });
    known.sort_unstable();
    bare.or_else(|| nearest(path.root(), known))
}

fn is_set(set: &Names<'_>, path: &VarPath) -> bool {
    set.contains(path.root()) || set.contains(path.as_str())
}

fn unset_in_hooks(flow: &VariableFlow<'_>, recipe: &Loaded, index: usize) -> Vec<Diagnostic> {
    let draft = &recipe.draft;
    let mut set = flow.names_in(index);
    set.extend(HOOK_VARIABLES);
    set.insert(STEPS);
    let mut reported = HashSet::new();
    let uses = draft.hooks.uses.iter().filter(|u| !u.has_default && !is_set(&set, &u.path));
    uses.filter(|used| reported.insert(used.path.root()))
        .map(|used| {
            let near = meant(&set, std::iter::empty(), &used.path);
            unset("a hook", used, Clue { near, ..Clue::default() }, flow.severity)
        })
        .collect()
}

/// Clues to the meaning of a name that nothing sets.
#[derive(Default)]
struct Clue<'a> {
    elsewhere: Option<&'a String>,
    near: Option<&'a str>,
    word: Option<String>,
    /// The condition asks whether it is set, and compares it with nothing.
    asked: bool,
}

impl Clue<'_> {
    fn label(&self) -> String {
        let near = self.near.map(|near| format!("`{near}`"));
        let meant: Vec<String> = near.into_iter().chain(self.word.clone()).collect();
        match (self.elsewhere, meant.is_empty()) {
            (Some(label), _) => label.clone(),
            (None, false) => format!("did you mean {}?", meant.join(" or ")),
            (None, true) => String::new(),
        }
    }
}

fn unset(who: &str, used: &VariableUse, clue: Clue<'_>, severity: Severity) -> Diagnostic {
    let path = &used.path;
    let condition = used.is_condition();
    let mut message = match condition {
        true => format!("the condition of {who} reads `{path}`, which nothing sets"),
        false => format!("{who} uses {{{{{path}}}}}, which nothing sets"),
    };
    let label = match path.as_str().split_once('.') {
        Some(("env" | "ENV" | "environ", name)) => format!("the shell has it: write `${name}`"),
        _ => clue.label(),
    };
    let severity = match (clue.asked, label.is_empty()) {
        (false, _) => severity,
        (true, false) => Severity::Warning,
        (true, true) => Severity::Note,
    };
    if severity != Severity::Error {
        message = format!(
            "{message}: {}",
            if condition { "it will be null" } else { used.without_value() }
        );
    }
    let has_clue = !label.is_empty();
    let problem = Diagnostic::new(severity, "undefined-variable", message);
    let problem = problem.at(&used.source, used.span, label);
    if has_clue {
        return problem;
    }
    let name = path.as_str().trim_start_matches("context.").split('.').next();
    let name = name.unwrap_or(path.root());
    problem.hint(Hint::give_values(&[name])).help(match condition {
        true => format!("declare it: `{name}: ''` in `context`"),
        false => format!("write {{{{{path}?}}}} if it may be missing, declare it in `context`"),
    })
}

fn set_too_late(who: &str, used: &VariableUse, severity: Severity) -> Diagnostic {
    let path = &used.path;
    let message = format!(
        "the condition of {who} reads `{path}`, which only the step's own `context` sets: here it \
         is null"
    );
    Diagnostic::new(severity, "undefined-variable", message)
        .at(&used.source, used.span, "a condition is looked at before the step has its `context`")
        .help(format!(
            "set `{}` in the recipe's `context`, or compare what the step's `context` is made of",
            path.root()
        ))
}
