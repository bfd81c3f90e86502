//! Which variables can have a value where they are read, over all recipes of a plan. It is careful
//! to one side: whatever some caller may provide counts as set, so that a warning is worth reading.
//! Conditions are left out: there an unset variable is null by design.

use crate::model::VariableUse;
use crate::outline::StepOutline;
use crate::resolve::Loaded;
use std::collections::{HashMap, HashSet};
use towpath_core::{Diagnostic, Map, VarPath, nearest};

/// Set by the engine for hooks.
const HOOK_VARIABLES: [&str; 3] = ["step_id", "step_status", "error"];
/// How the steps went, set by the engine.
const STEPS: &str = "steps";
/// Looking for a near name is slow in a recipe of thousands of steps.
const MAX_SUGGESTIONS: usize = 50;

pub(crate) type Names<'a> = HashSet<&'a str>;

pub(crate) fn unset_variables(flow: &Flow<'_>) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (index, recipe) in flow.loaded.iter().enumerate() {
        // In a machine only what is declared is read at all.
        if !flow.open[index] && !recipe.outline.is_machine {
            problems.extend(unset_in_steps(flow, recipe, index));
            problems.extend(unset_in_hooks(flow, recipe, index));
        }
    }
    problems
}

/// What moves between the recipes, until nothing new does.
pub(crate) struct Flow<'a> {
    pub loaded: &'a [Loaded],
    /// What callers, or the person, may have set before a recipe starts.
    pub provided: Vec<Names<'a>>,
    /// What a recipe's steps leave behind for its caller.
    pub returned: Vec<Names<'a>>,
    /// A recipe about which too little is known.
    pub open: Vec<bool>,
}

impl<'a> Flow<'a> {
    pub fn new(loaded: &'a [Loaded], inputs: &'a Map) -> Flow<'a> {
        let mut flow = Flow {
            loaded,
            provided: vec![Names::new(); loaded.len()],
            returned: vec![Names::new(); loaded.len()],
            open: loaded.iter().map(|l| l.outline.open).collect(),
        };
        if let Some(root) = flow.provided.first_mut() {
            root.extend(inputs.keys().map(String::as_str));
        }
        while flow.pass() {}
        flow
    }

    /// One round over all calls; whether anything was learnt.
    fn pass(&mut self) -> bool {
        let mut learnt = false;
        for (index, caller) in self.loaded.iter().enumerate() {
            let outline = &caller.outline;
            let mut returned: Names<'a> =
                outline.steps.iter().flat_map(StepOutline::writes).collect();
            let mut known: Names<'a> = outline.context.iter().map(String::as_str).collect();
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
                let own = step.context.iter().map(String::as_str);
                learnt |= grow(&mut self.provided[callee], own);
                let open = self.open[index] || self.open[callee];
                learnt |= open != (self.open[index] && self.open[callee]);
                (self.open[index], self.open[callee]) = (open, open);
            }
        }
        learnt
    }
}

/// The steps of a recipe that call another one, with its index.
fn calls(caller: &Loaded) -> impl Iterator<Item = (&StepOutline, usize)> {
    caller.outline.steps.iter().filter_map(|step| {
        let callee = caller.calls.get(step.calls.as_ref()?)?;
        Some((step, *callee))
    })
}

fn grow<'a>(names: &mut Names<'a>, more: impl Iterator<Item = &'a str>) -> bool {
    let before = names.len();
    names.extend(more);
    names.len() > before
}

fn unset_in_steps(flow: &Flow<'_>, recipe: &Loaded, index: usize) -> Vec<Diagnostic> {
    let steps = &recipe.outline.steps;
    let writers = first_writers(steps);
    let mut set: Names<'_> = recipe.outline.context.iter().map(String::as_str).collect();
    set.extend(&flow.provided[index]);
    set.insert(STEPS);
    let mut problems = Vec::new();
    for stage in steps.chunk_by(|a, b| a.group.is_some() && a.group == b.group) {
        let mates = Mates::new(stage);
        for (position, step) in stage.iter().enumerate() {
            let mut told = HashSet::new();
            let given: Names<'_> = step.context.iter().map(String::as_str).collect();
            let in_condition = step.uses.iter().filter(|used| used.is_condition());
            let asked: Names<'_> = in_condition.map(|used| used.path.root()).collect();
            for used in &step.uses {
                let root = used.path.root();
                let own = used.field != "context" && given.contains(root);
                // A mate's output is another problem, told where groups are checked.
                let set_before = is_set(&set, &used.path) || mates.other_writes(position, root);
                if own && used.is_condition() && !set_before && told.insert(root) {
                    problems.push(set_too_late(&who(step), used));
                }
                let known = set_before || own;
                // A step that asks for it first, by its condition, knows that it may be unset.
                let asked = asked.contains(root);
                // Unset is null by design in a condition; unless it looks like a slip of the hand.
                let condition = used.is_condition();
                if !known && (condition || !asked) && !told.contains(root) {
                    let near = (problems.len() < MAX_SUGGESTIONS)
                        .then(|| meant(&set, &step.context, &used.path))
                        .flatten();
                    if condition && near.is_none() {
                        continue;
                    }
                    told.insert(root);
                    problems.push(unset(&who(step), used, near, writers.get(root)));
                }
            }
        }
        for step in stage {
            set.extend(step.writes());
            if let Some(callee) = step.calls.as_ref().and_then(|name| recipe.calls.get(name)) {
                set.extend(&flow.returned[*callee]);
            }
        }
    }
    problems
}

/// Who writes which variable in one stage: the writer's place in it, none when there are several.
struct Mates<'a>(HashMap<&'a str, Option<usize>>);

impl<'a> Mates<'a> {
    fn new(stage: &'a [StepOutline]) -> Mates<'a> {
        let mut writers: HashMap<&str, Option<usize>> = HashMap::new();
        for (index, step) in stage.iter().enumerate() {
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

/// The first step that writes each variable, by its id.
fn first_writers(steps: &[StepOutline]) -> HashMap<&str, &str> {
    let mut writers = HashMap::new();
    for step in steps {
        let Some(id) = step.id.as_deref() else { continue };
        for name in step.writes() {
            writers.entry(name).or_insert(id);
        }
    }
    writers
}

fn who(step: &StepOutline) -> String {
    step.id.as_ref().map_or("a step".to_owned(), |id| format!("step `{id}`"))
}

/// What was meant by a variable that nothing sets: the same without `context.` before it, for
/// variables are read by their own names, or else a name that is nearly the same.
fn meant<'a>(set: &Names<'a>, own: &'a [String], path: &'a VarPath) -> Option<&'a str> {
    let mut known: Vec<&str> = set.iter().copied().chain(own.iter().map(String::as_str)).collect();
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

fn unset_in_hooks(flow: &Flow<'_>, recipe: &Loaded, index: usize) -> Vec<Diagnostic> {
    let outline = &recipe.outline;
    let mut set: Names<'_> = outline.context.iter().map(String::as_str).collect();
    set.extend(&flow.provided[index]);
    set.extend(&flow.returned[index]);
    set.extend(outline.steps.iter().flat_map(|s| s.context.iter().map(String::as_str)));
    set.extend(HOOK_VARIABLES);
    set.insert(STEPS);
    let mut told = HashSet::new();
    let uses = outline.hook_uses.iter().filter(|used| !is_set(&set, &used.path));
    uses.filter(|used| told.insert(used.path.root()))
        .map(|used| {
            let near = meant(&set, &[], &used.path);
            unset("a hook", used, near, None)
        })
        .collect()
}

fn unset(who: &str, used: &VariableUse, near: Option<&str>, writer: Option<&&str>) -> Diagnostic {
    let path = &used.path;
    let message = if used.is_condition() {
        format!("the condition of {who} reads `{path}`, which nothing sets: it will be null")
    } else {
        format!("{who} uses {{{{{path}}}}}, which nothing sets: it will be empty")
    };
    let label = match (writer, near) {
        (Some(step), _) => format!("step `{step}` sets it, but not before this"),
        (None, Some(near)) => format!("did you mean `{near}`?"),
        (None, None) => String::new(),
    };
    Diagnostic::warning("undefined-variable", message).at(&used.source, used.span, label)
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
    let declared = outlines().flat_map(|o| o.context.iter().map(String::as_str));
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
