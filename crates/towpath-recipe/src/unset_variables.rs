//! Which variables can have a value where they are read, over all recipes of a plan. It is careful
//! to one side: whatever some caller may provide counts as set, so that a warning is worth reading.

use crate::analysis_outline::{Gate, Outline, StepOutline};
use crate::loaded_recipe::Loaded;
use crate::recipe::VariableUse;
use std::collections::{HashMap, HashSet};
use towpath_core::{Diagnostic, Map, Severity, VarPath, nearest};

/// Set by the engine for hooks.
pub(crate) const HOOK_VARIABLES: [&str; 3] = ["step_id", "step_status", "error"];
/// How the steps ended, set by the engine.
pub(crate) const STEPS: &str = "steps";
/// Looking for a near name is slow in a recipe of thousands of steps.
pub(crate) const MAX_SUGGESTIONS: usize = 50;

pub(crate) type Names<'a> = HashSet<&'a str>;

pub(crate) fn unset_variables(flow: &Scope<'_>) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (index, recipe) in flow.loaded.iter().enumerate() {
        // In a machine only what is declared is read at all. What is only extended is looked at as
        // a part of the recipe that extends it.
        if !flow.open[index] && !recipe.outline.is_machine && recipe.is_called {
            problems.extend(unset_in_steps(flow, recipe, index));
            if !flow.leaks[index] {
                problems.extend(unset_in_hooks(flow, recipe, index));
            }
        }
    }
    problems
}

/// What moves between the recipes, until nothing new does.
pub(crate) struct Scope<'a> {
    pub loaded: &'a [Loaded],
    /// What callers, or the user, may have set before a recipe starts.
    pub provided: Vec<Names<'a>>,
    /// What a recipe's steps leave behind for its caller.
    pub returned: Vec<Names<'a>>,
    /// A recipe that may start with any variable set.
    pub open: Vec<bool>,
    /// A recipe one of whose steps may set any variable.
    pub leaks: Vec<bool>,
}

impl<'a> Scope<'a> {
    pub fn new(loaded: &'a [Loaded], inputs: &'a Map) -> Scope<'a> {
        let mut flow = Scope {
            loaded,
            provided: vec![Names::new(); loaded.len()],
            returned: vec![Names::new(); loaded.len()],
            open: loaded.iter().map(|l| l.outline.open).collect(),
            leaks: loaded.iter().map(|l| l.outline.open).collect(),
        };
        if let Some(root) = flow.provided.first_mut() {
            root.extend(inputs.keys().map(String::as_str));
        }
        while flow.pass() {}
        flow
    }

    /// Whether a step may set any variable, because it or what it calls could not be read.
    pub fn may_set_anything(&self, recipe: &Loaded, step: &StepOutline) -> bool {
        let calls = step.calls().map(|call| recipe.calls.get(&call.name));
        step.unsure || calls.is_some_and(|callee| callee.is_none_or(|callee| self.leaks[*callee]))
    }

    /// One round over all calls; whether anything was learnt.
    fn pass(&mut self) -> bool {
        let mut learnt = false;
        for (index, caller) in self.loaded.iter().enumerate() {
            let outline = &caller.outline;
            let mut returned: Names<'a> =
                outline.steps.iter().flat_map(StepOutline::writes).collect();
            let mut known: Names<'a> = outline.declared().collect();
            known.extend(&self.provided[index]);
            for (_, callee) in calls(caller) {
                returned.extend(&self.returned[callee]);
            }
            known.extend(&returned);
            learnt |= grow(&mut self.returned[index], returned.into_iter());
            let mut callees = HashSet::new();
            for (step, callee) in calls(caller) {
                if callees.insert(callee) {
                    learnt |= grow(&mut self.provided[callee], known.iter().copied());
                }
                let own = step.context.iter().map(|(key, _)| key.as_str());
                learnt |= grow(&mut self.provided[callee], own);
            }
            learnt |= self.pass_doubt(index);
        }
        learnt
    }

    /// From the first step that may set anything on, every variable may be set.
    fn pass_doubt(&mut self, index: usize) -> bool {
        let caller = &self.loaded[index];
        let mut doubt = self.open[index];
        let mut learnt = false;
        // In a machine any step may come before any other.
        doubt |= caller.outline.is_machine && self.leaks[index];
        for step in &caller.outline.steps {
            let callee = step.calls().and_then(|call| caller.calls.get(&call.name));
            if let Some(callee) = callee.filter(|_| doubt || step.unsure) {
                learnt |= !std::mem::replace(&mut self.open[*callee], true);
            }
            if self.may_set_anything(caller, step) {
                doubt = true;
                learnt |= !std::mem::replace(&mut self.leaks[index], true);
            }
        }
        learnt
    }
}

/// The steps of a recipe that call another one, with its index.
fn calls(caller: &Loaded) -> impl Iterator<Item = (&StepOutline, usize)> {
    caller.outline.steps.iter().filter_map(|step| {
        let callee = caller.calls.get(&step.calls()?.name)?;
        Some((step, *callee))
    })
}

fn grow<'a>(names: &mut Names<'a>, more: impl Iterator<Item = &'a str>) -> bool {
    let before = names.len();
    names.extend(more);
    names.len() > before
}

fn unset_in_steps(flow: &Scope<'_>, recipe: &Loaded, index: usize) -> Vec<Diagnostic> {
    let elsewhere = elsewhere(&recipe.outline.steps);
    let mut set: Names<'_> = recipe.outline.declared().collect();
    set.extend(&flow.provided[index]);
    set.insert(STEPS);
    let mut problems = Vec::new();
    for batch in recipe.outline.batches() {
        let mates = Mates::new(batch);
        for (position, step) in batch.iter().enumerate().filter(|(_, step)| !step.unsure) {
            let names = NamesAt { set: &set, mates: &mates, position, elsewhere: &elsewhere };
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

/// What is known of names where a step is.
struct NamesAt<'s, 'a> {
    set: &'s Names<'a>,
    mates: &'s Mates<'a>,
    /// The step's index in its batch.
    position: usize,
    elsewhere: &'s HashMap<&'a str, String>,
}

fn unset_in_step(step: &StepOutline, names: &NamesAt<'_, '_>, suggests: bool) -> Vec<Diagnostic> {
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
            problems.push(set_too_late(&who(step), used));
            continue;
        }
        let own = step.context.iter().map(|(key, _)| key);
        let near = suggests.then(|| meant(names.set, own, &used.path)).flatten();
        let asked = matches!(&step.gate, Gate::Condition(located) if located.condition.asks(root));
        let elsewhere = names.elsewhere.get(root);
        let hint = Hint { elsewhere, near, word: word(step, used), asked };
        problems.push(unset(&who(step), used, hint));
    }
    problems
}

/// Words for null, and what is in a condition that never changes, which is another problem.
fn cannot_slip(step: &StepOutline, used: &VariableUse) -> bool {
    let constant = matches!(&step.gate, Gate::Condition(located) if located.is_constant);
    constant || NULL.contains(&used.path.as_str())
}

/// None is a word of the language, but a name that nothing sets is null.
const NULL: [&str; 4] = ["null", "none", "None", "nil"];

/// What a bare word in a condition is probably meant to be.
fn word(step: &StepOutline, used: &VariableUse) -> Option<String> {
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
    fn new(batch: &'a [StepOutline]) -> Mates<'a> {
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
fn elsewhere(steps: &[StepOutline]) -> HashMap<&str, String> {
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

pub(crate) fn who(step: &StepOutline) -> String {
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

fn unset_in_hooks(flow: &Scope<'_>, recipe: &Loaded, index: usize) -> Vec<Diagnostic> {
    let outline = &recipe.outline;
    let mut set: Names<'_> = outline.declared().collect();
    set.extend(&flow.provided[index]);
    set.extend(&flow.returned[index]);
    set.extend(outline.steps.iter().flat_map(|s| s.context.iter().map(|(key, _)| key.as_str())));
    set.extend(HOOK_VARIABLES);
    set.insert(STEPS);
    let mut reported = HashSet::new();
    let uses = outline.hook_uses.iter().filter(|u| !u.has_default && !is_set(&set, &u.path));
    uses.filter(|used| reported.insert(used.path.root()))
        .map(|used| {
            let near = meant(&set, std::iter::empty(), &used.path);
            unset("a hook", used, Hint { near, ..Hint::default() })
        })
        .collect()
}

/// What is known of a name that nothing sets.
#[derive(Default)]
struct Hint<'a> {
    elsewhere: Option<&'a String>,
    near: Option<&'a str>,
    word: Option<String>,
    /// The condition asks whether it is set.
    asked: bool,
}

fn unset(who: &str, used: &VariableUse, hint: Hint<'_>) -> Diagnostic {
    let path = &used.path;
    let condition = used.is_condition();
    let message = if condition {
        format!("the condition of {who} reads `{path}`, which nothing sets: it will be null")
    } else {
        let then = used.without_value();
        format!("{who} uses {{{{{path}}}}}, which nothing sets: {then}")
    };
    let near = hint.near.map(|near| format!("`{near}`"));
    let meant: Vec<String> = near.into_iter().chain(hint.word).collect();
    let label = match (hint.elsewhere, meant.is_empty()) {
        (Some(label), _) => label.clone(),
        (None, false) => format!("did you mean {}?", meant.join(" or ")),
        (None, true) => String::new(),
    };
    let is_slip = !condition || !label.is_empty();
    let severity = if is_slip || !hint.asked { Severity::Warning } else { Severity::Note };
    let problem = Diagnostic::new(severity, "undefined-variable", message);
    let problem = problem.at(&used.source, used.span, label);
    if is_slip {
        return problem;
    }
    let name = path.as_str().trim_start_matches("context.").split('.').next();
    let name = name.unwrap_or(path.root());
    problem.help(format!("if it may be left out, declare it: `{name}: ''` in `context`"))
}

fn set_too_late(who: &str, used: &VariableUse) -> Diagnostic {
    let path = &used.path;
    let message = format!(
        "the condition of {who} reads `{path}`, which only the step's own `context` sets: here it \
         is null"
    );
    Diagnostic::warning("undefined-variable", message)
        .at(&used.source, used.span, "a condition is looked at before the step has its `context`")
        .help(format!(
            "set `{}` in the recipe's `context`, or compare what the step's `context` is made of",
            path.root()
        ))
}

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
