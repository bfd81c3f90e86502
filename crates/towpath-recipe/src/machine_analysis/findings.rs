//! What looks wrong with a machine that is valid: warnings for what is probably a mistake, notes for
//! what is worth knowing. A note is never a reason to change a good recipe.

use super::analysis::{Analysis, GuardrailExit};
use super::end_paths::End;
use super::restart_count::{RestartGraph, target};
use super::step_graph::asks_agent;
use crate::plan::Program;
use crate::recipe::{Guardrails, OTHER, Outcome, Recipe, Step, Transition};
use towpath_core::{Diagnostic, Hint, Span};

pub(super) struct Findings<'a> {
    pub recipe: &'a Recipe,
    pub analysis: &'a Analysis,
}

impl Findings<'_> {
    pub fn all(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for (index, step) in self.recipe.steps.iter().enumerate() {
            found.extend(self.unreachable(index, step));
            found.extend(self.endless(index, step));
            found.extend(without_other(step));
            found.extend(same_targets(step, self.recipe));
        }
        found.extend(self.ends_beyond_the_limit());
        found.extend(self.unreviewed_work());
        found.extend(self.idle_limits());
        found
    }

    fn unreachable(&self, index: usize, step: &Step) -> Option<Diagnostic> {
        let message = format!("Step '{}' is unreachable", step.id);
        (!self.analysis.reachable[index]).then(|| {
            Diagnostic::warning("unreachable-step", message).at(
                &step.source,
                step.spans.id,
                "no outcome of a reachable step leads here",
            )
        })
    }

    fn endless(&self, index: usize, step: &Step) -> Option<Diagnostic> {
        let trapped = self.analysis.reachable[index] && !self.analysis.can_end[index];
        let message = format!("Step '{}' cannot reach an exit", step.id);
        trapped.then(|| {
            Diagnostic::warning("no-exit", message)
                .at(&step.source, step.spans.id, "only a guardrail ends a run that comes here")
                .help("let one of its outcomes lead to an exit, or to a step that has one")
        })
    }

    fn ends_beyond_the_limit(&self) -> Vec<Diagnostic> {
        let limit = self.analysis.guardrails.max_total_steps;
        let far = self.analysis.paths.iter().filter(|path| path.steps.len() as u64 > limit.into());
        far.map(|path| {
            let what = match &path.end {
                End::Exit(reason, _) => format!("Exit '{reason}'"),
                End::Restart(recipe) => format!("The restart of '{recipe}'"),
            };
            let last = path.steps.last().expect("a path has a step");
            let step = &self.recipe.steps[last.0];
            let needs = path.steps.len();
            let within = if limit == 1 { "1 step".to_owned() } else { format!("{limit} steps") };
            let message = format!("{what} cannot be reached within {within}: it takes {needs}");
            Diagnostic::warning("exit-beyond-limit", message)
                .at(&step.source, step.spans.id, "the run ends before this step can")
                .help(format!("raise maxTotalSteps to {needs} or more"))
        })
        .collect()
    }

    fn unreviewed_work(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for exit in &self.analysis.guardrail_exits {
            let GuardrailExit::StepVisits { step, after } = exit else { continue };
            let refused = &self.recipe.steps[*step];
            let others: Vec<String> = after
                .iter()
                .filter(|last| *last != step)
                .map(|last| format!("'{}'", self.recipe.steps[*last].id))
                .collect();
            if others.is_empty() {
                continue;
            }
            let (id, times) = (&refused.id, self.analysis.guardrails.max_step_visits);
            let message = format!(
                "What {} did last can be left behind: '{id}' is entered at most {}",
                others.join(" or "),
                times_in_words(times)
            );
            found.push(
                Diagnostic::note("unreviewed-work", message)
                    .at(&refused.source, refused.spans.id, "refused here, the run ends")
                    .help(format!("the run then ends with max-step-visits-exceeded:{id}")),
            );
        }
        found
    }

    /// A limit that the author wrote on purpose and that does nothing. The defaults are nobody's
    /// purpose, and what a flag sets is not the recipe's.
    fn idle_limits(&self) -> Vec<Diagnostic> {
        let Analysis { guardrails, bounds, guardrail_exits, .. } = self.analysis;
        let (usual, Some(machine)) = (Guardrails::default(), self.recipe.machine()) else {
            return Vec::new();
        };
        if !bounds.exact {
            return Vec::new();
        }
        let ends_visits = |exit: &GuardrailExit| matches!(exit, GuardrailExit::StepVisits { .. });
        let (total, visits) = (guardrails.max_total_steps, guardrails.max_step_visits);
        let mut found = Vec::new();
        if total == machine.guardrails.max_total_steps
            && total != usual.max_total_steps
            && !guardrail_exits.contains(&GuardrailExit::TotalSteps)
        {
            let steps = if bounds.steps == 1 { "step" } else { "steps" };
            let message = format!(
                "maxTotalSteps {total} can never end a session: it has at most {} {steps}",
                bounds.steps
            );
            found.extend(self.idle(message, machine.limits.max_total_steps));
        }
        if visits == machine.guardrails.max_step_visits
            && visits != usual.max_step_visits
            && !guardrail_exits.iter().any(ends_visits)
        {
            let message = format!(
                "maxStepVisits {visits} can never end a session: no step is entered that often"
            );
            found.extend(self.idle(message, machine.limits.max_step_visits));
        }
        found
    }

    fn idle(&self, message: String, span: Option<Span>) -> Option<Diagnostic> {
        span.map(|span| Diagnostic::note("idle-limit", message).at(&self.recipe.source, span, ""))
    }
}

/// A program's end is known by its exit code and a recipe's by its success, so only an agent needs
/// a way to report that nothing fits.
fn without_other(step: &Step) -> Option<Diagnostic> {
    let missing = asks_agent(step) && !step.outcomes.iter().any(|o| o.name == OTHER);
    let message = format!("Step '{}' has no 'other' outcome", step.id);
    missing.then(|| {
        Diagnostic::warning("no-other", message)
            .at(&step.source, step.spans.id, "its agent cannot report that none of them fits")
            .help("add `other` to its outcomes, with an exit and a reason")
    })
}

fn same_targets(step: &Step, recipe: &Recipe) -> Vec<Diagnostic> {
    let own: Vec<&Outcome> = step.outcomes.iter().filter(|o| o.name != OTHER).collect();
    let mut found = Vec::new();
    for (index, outcome) in own.iter().enumerate() {
        let earlier = own[..index].iter().find(|o| same(&o.then, &outcome.then));
        let Some(earlier) = earlier else { continue };
        let target = match &outcome.then {
            Transition::Next(next) => format!("step '{}'", recipe.steps[*next].id),
            Transition::Exit { reason, .. } => format!("exit '{reason}'"),
            Transition::Restart { recipe, .. } => format!("a restart of '{recipe}'"),
        };
        let message = format!(
            "Step '{}': '{}' and '{}' both lead to {target}",
            step.id, earlier.name, outcome.name
        );
        found.push(Diagnostic::note("same-target", message).at(&step.source, step.spans.id, ""));
    }
    found
}

fn same(a: &Transition, b: &Transition) -> bool {
    match (a, b) {
        (Transition::Next(a), Transition::Next(b)) => a == b,
        _ => End::of(a).is_some() && End::of(a) == End::of(b),
    }
}

/// The restarts of a recipe that can come back to it without end.
pub(super) fn restart_findings(
    program: &Program,
    index: usize,
    reachable: &[bool],
    restarts: &RestartGraph,
) -> Vec<Diagnostic> {
    let recipe = &program.recipes[index];
    let mut found = Vec::new();
    for (_, step) in recipe.steps.iter().enumerate().filter(|(at, _)| reachable[*at]) {
        for outcome in &step.outcomes {
            let Transition::Restart { recipe: name, span } = &outcome.then else { continue };
            let returns =
                target(program, index, name).is_some_and(|to| restarts.returns(index, to));
            if returns {
                let message = "Nothing bounds how often this restarts";
                found.push(
                    Diagnostic::note("unbounded-restarts", message)
                        .at(&step.source, *span, "a new session, with new counts")
                        .hint(Hint::BoundRestarts),
                );
            }
        }
    }
    found
}

fn times_in_words(times: u32) -> String {
    match times {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}
