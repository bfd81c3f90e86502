//! What a recipe requires and does not get: the first one from the user, a called one from its callers. Like the check for unset variables it
//! errs on the side of silence: whatever an earlier step or some caller may have set counts as given. It is
//! an error where the call is sure to fail in the run that was asked for; where the user may still
//! give the value, or the call may not be reached, it is a warning.

use crate::context_rule::violations;
use crate::draft::{Draft, StepDraft};
use crate::loaded::Loaded;
use crate::recipe::{Named, ValueTemplate, Work};
use crate::request::{Request, RunOptions};
use crate::variable_flow::VariableFlow;
use std::collections::{BTreeSet, HashSet};
use towpath_core::{Diagnostic, Hint, Map, Severity, Value, nearest, quoted_list};

pub(crate) fn missing_in_calls(
    flow: &VariableFlow<'_>,
    inputs: &Map,
    run_options: &RunOptions,
) -> Vec<Diagnostic> {
    let sure = surely_called(flow.loaded, run_options);
    let mut problems = Vec::new();
    for (index, caller) in flow.loaded.iter().enumerate() {
        if flow.open[index] || !caller.is_called {
            continue;
        }
        let mut given = Given::at_the_start(flow, index, inputs);
        for (_, batch) in caller.draft.batches() {
            for call in batch.iter().filter_map(|step| Call::of(flow.loaded, caller, step)) {
                let missing = given.missing(&call);
                if !missing.is_empty() && may_run(call.step, run_options) {
                    let certain = run_options.to_run && sure[index] && always(call.step);
                    problems.push(call.problem(&missing, certain));
                }
            }
            if batch.iter().any(|step| flow.may_set_anything(caller, step)) {
                break;
            }
            for step in batch {
                given.after(flow, caller, step);
            }
        }
    }
    problems
}

/// What is wrong with the values that the user gives the first recipe: those that it needs and does not
/// get, with the names that were set and nothing knows, and those that are not what they must be.
pub(crate) fn wrong_inputs(loaded: &[Loaded], request: &Request) -> Vec<Diagnostic> {
    let Some(Loaded { draft, .. }) = loaded.first().filter(|root| !root.draft.open) else {
        return Vec::new();
    };
    let mut context = draft.context.clone();
    context.extend(request.inputs.clone());
    let severity = if request.run_options.to_run { Severity::Error } else { Severity::Note };
    let ruled = draft.rules.iter().filter(|rule| rule.requires_value());
    let ruled =
        ruled.map(|rule| &rule.variable).filter(|name| !draft.required_context.contains(name));
    let required: Vec<String> = draft.required_context.iter().chain(ruled).cloned().collect();
    let mut problems = Vec::new();
    let missing = missing(&required, &context);
    if !missing.is_empty() {
        let unread: Vec<&str> = unread_names(loaded, &request.inputs);
        let unread = match unread[..] {
            [] => String::new(),
            _ => format!("; nothing knows {}, which was set", quoted_list(&unread)),
        };
        let message = format!("the recipe needs a value for {}{unread}", quoted_list(&missing));
        let problem = Diagnostic::new(severity, "missing-input", message);
        problems.push(problem.hint(Hint::give_values(&missing)));
    }
    problems.extend(violations(&draft.rules, &context, &request.working_dir, severity));
    problems
}

/// The required variables without a value: unset, null or empty.
pub fn missing<'a>(required: &'a [String], context: &Map) -> Vec<&'a str> {
    let empty = |name: &&String| match context.get(name.as_str()) {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(_) => false,
    };
    required.iter().filter(empty).map(String::as_str).collect()
}

/// A step that calls a recipe which was found.
struct Call<'a> {
    step: &'a StepDraft,
    named: &'a Named,
    index: usize,
    called: &'a Draft,
}

impl<'a> Call<'a> {
    fn of(loaded: &'a [Loaded], caller: &Loaded, step: &'a StepDraft) -> Option<Call<'a>> {
        let named = step.calls()?;
        let index = *caller.calls.get(&named.name)?;
        Some(Call { step, named, index, called: &loaded[index].draft })
    }

    fn problem(&self, missing: &[&str], certain: bool) -> Diagnostic {
        let (id, name) = (self.step.shown_id(), &self.named.name);
        let needs = quoted_list(missing);
        let message = format!("step `{id}` calls `{name}`, which needs a value for {needs}");
        let severity = if certain { Severity::Error } else { Severity::Warning };
        let what = if missing.len() == 1 { "it" } else { "them" };
        Diagnostic::new(severity, "missing-input", message)
            .at(
                &self.named.source,
                self.named.span,
                format!("nothing gives {what} a value before this"),
            )
            .help(format!("set {what} in the step's `context`"))
            .hint(Hint::give_values(missing))
    }
}

/// The values that are known where a step begins, and the names of which only that is known that
/// something may have set them.
struct Given<'a> {
    values: Map,
    open: HashSet<&'a str>,
}

impl<'a> Given<'a> {
    fn at_the_start(flow: &VariableFlow<'a>, index: usize, inputs: &Map) -> Given<'a> {
        let draft = &flow.loaded[index].draft;
        let mut values = draft.context.clone();
        if index == 0 {
            values.extend(inputs.clone());
        }
        let provided = flow.provided[index].iter().copied();
        // What the user gave the first recipe is known.
        let provided = provided.filter(|name| index > 0 || !inputs.contains_key(*name));
        // What the caller requires itself is looked for where it is called, or asked of the user.
        let required = draft.required_context.iter().map(String::as_str);
        let open = provided.chain(required).collect();
        Given { values, open }
    }

    fn after(&mut self, flow: &VariableFlow<'a>, caller: &Loaded, step: &'a StepDraft) {
        self.open.extend(step.writes());
        if let Some(call) = Call::of(flow.loaded, caller, step) {
            self.open.extend(&flow.returned[call.index]);
        }
    }

    /// The names that the called recipe requires and does not get.
    fn missing<'r>(&self, call: &Call<'r>) -> Vec<&'r str> {
        let mut values = call.called.context.clone();
        values.extend(self.values.clone());
        let mut open: HashSet<&str> = self.open.clone();
        for (name, value) in &call.step.context {
            match literal(value) {
                Some(value) => {
                    values.insert(name.clone(), value);
                    open.remove(name.as_str());
                }
                None => drop(open.insert(name)),
            }
        }
        let mut missing = missing(&call.called.required_context, &values);
        missing.retain(|name| !open.contains(name));
        missing
    }
}

/// A value that is the same in every run.
fn literal(value: &ValueTemplate) -> Option<Value> {
    match value {
        ValueTemplate::Plain(value) => Some(value.clone()),
        ValueTemplate::Text(text) if text.placeholders().next().is_none() => {
            Some(text.render_value(&Map::new()))
        }
        _ => None,
    }
}

/// Which recipes are called whatever the steps give, unless something fails first.
fn surely_called(loaded: &[Loaded], run_options: &RunOptions) -> Vec<bool> {
    let mut sure = vec![false; loaded.len()];
    let mut next: Vec<usize> = (0..loaded.len().min(1)).collect();
    while let Some(index) = next.pop() {
        if std::mem::replace(&mut sure[index], true) {
            continue;
        }
        let caller = &loaded[index];
        // What an agent may finish has not failed for sure.
        let recovers =
            |step: &StepDraft| matches!(step.work, Some(Work::Recipe { recovery: true, .. }));
        let steps = caller.draft.steps.iter();
        let certain =
            steps.filter(|step| always(step) && !recovers(step) && may_run(step, run_options));
        next.extend(certain.filter_map(|step| Some(Call::of(loaded, caller, step)?.index)));
    }
    sure
}

/// Nothing the steps give can keep it from running, and its failure is the recipe's.
fn always(step: &StepDraft) -> bool {
    step.gate.is_always() && !step.continue_on_error
}

fn may_run(step: &StepDraft, run_options: &RunOptions) -> bool {
    !run_options.to_run || run_options.tags.against_tags(&step.when_tags).is_none()
}

/// Inputs that no recipe of the plan declares or reads.
pub(crate) fn unread_inputs(loaded: &[Loaded], inputs: &Map) -> Vec<Diagnostic> {
    let known = known_names(loaded);
    let problem = |name: &str| {
        let message = format!("`{name}` was set, but nothing declares or reads it");
        let problem = Diagnostic::warning("unread-input", message);
        match nearest(name, known.iter().copied()) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem,
        }
    };
    unread_names(loaded, inputs).into_iter().map(problem).collect()
}

/// Their names.
fn unread_names<'a>(loaded: &[Loaded], inputs: &'a Map) -> Vec<&'a str> {
    let known = known_names(loaded);
    inputs.keys().map(String::as_str).filter(|name| !known.contains(name)).collect()
}

fn known_names(loaded: &[Loaded]) -> BTreeSet<&str> {
    let outlines = || loaded.iter().map(|l| &l.draft);
    let declared = outlines().flat_map(Draft::declared);
    let in_steps = outlines().flat_map(|o| o.steps.iter().flat_map(|s| &s.uses));
    let read = in_steps.chain(outlines().flat_map(|o| &o.hooks.uses));
    declared.chain(read.flat_map(|used| [used.path.root(), used.path.as_str()])).collect()
}
