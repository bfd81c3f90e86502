//! Which variables flow between the recipes of a plan: what callers provide, and what callees leave
//! behind. Whatever some caller may provide counts as set.

use crate::dialect::Dialect;
use crate::draft::StepDraft;
use crate::loaded::Loaded;
use std::collections::HashSet;
use towpath_core::{Map, Severity};

pub(crate) type Names<'a> = HashSet<&'a str>;

/// The variables that move between the recipes, until nothing new does.
pub(crate) struct VariableFlow<'a> {
    pub loaded: &'a [Loaded],
    /// That of a name without a value.
    pub severity: Severity,
    /// The names that callers, or the user, may have set before a recipe starts.
    pub provided: Vec<Names<'a>>,
    /// The names that a recipe's steps leave behind for its caller.
    pub returned: Vec<Names<'a>>,
    /// A recipe that may start with any variable set.
    pub open: Vec<bool>,
    /// A recipe one of whose steps may set any variable.
    pub leaks: Vec<bool>,
}

impl<'a> VariableFlow<'a> {
    pub fn new(loaded: &'a [Loaded], inputs: &'a Map, dialect: Dialect) -> VariableFlow<'a> {
        let mut flow = VariableFlow {
            loaded,
            severity: dialect.severity(),
            provided: vec![Names::new(); loaded.len()],
            returned: vec![Names::new(); loaded.len()],
            open: loaded.iter().map(|l| l.draft.open).collect(),
            leaks: loaded.iter().map(|l| l.draft.open).collect(),
        };
        if let Some(root) = flow.provided.first_mut() {
            root.extend(inputs.keys().map(String::as_str));
        }
        while flow.pass() {}
        flow
    }

    /// Whether a step may set any variable, because it or what it calls could not be read.
    pub fn may_set_anything(&self, recipe: &Loaded, step: &StepDraft) -> bool {
        let calls = step.calls().map(|call| recipe.calls.get(&call.name));
        step.unsure || calls.is_some_and(|callee| callee.is_none_or(|callee| self.leaks[*callee]))
    }

    /// The names that can have a value somewhere in a recipe.
    pub fn names_in(&self, index: usize) -> Names<'a> {
        let draft = &self.loaded[index].draft;
        let own = draft.steps.iter().flat_map(|step| &step.context).map(|(key, _)| key.as_str());
        let mut names: Names<'a> = draft.declared().chain(own).collect();
        names.extend(&self.provided[index]);
        names.extend(&self.returned[index]);
        names
    }

    /// One round over all calls; whether anything was learnt.
    fn pass(&mut self) -> bool {
        let mut learnt = false;
        for (index, caller) in self.loaded.iter().enumerate() {
            let draft = &caller.draft;
            let mut returned: Names<'a> = draft.steps.iter().flat_map(StepDraft::writes).collect();
            let mut known: Names<'a> = draft.declared().collect();
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
        doubt |= caller.draft.is_machine && self.leaks[index];
        for step in &caller.draft.steps {
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
fn calls(caller: &Loaded) -> impl Iterator<Item = (&StepDraft, usize)> {
    caller.draft.steps.iter().filter_map(|step| {
        let callee = caller.calls.get(&step.calls()?.name)?;
        Some((step, *callee))
    })
}

fn grow<'a>(names: &mut Names<'a>, more: impl Iterator<Item = &'a str>) -> bool {
    let before = names.len();
    names.extend(more);
    names.len() > before
}
