//! What can be known of a machine before it runs: the longest session that its guardrails allow,
//! the ways it can end, and what looks wrong. Bounds are those of one session; a restart begins a
//! new one. Steps that call recipes count as one step, and the agents of those recipes as none.

use super::end_paths::{End, EndPath, end_paths};
use super::findings::{Findings, restart_findings};
use super::restart_count::{RestartGraph, Restarts};
use super::session_length::{Effort, Walks, walks};
use super::step_graph::{Graph, asks_agent};
use crate::plan::Program;
use crate::recipe::{Guardrails, Recipe, Work};
use crate::request::MachineOptions;
use towpath_core::Diagnostic;

#[derive(Debug, Clone)]
pub struct Analysis {
    pub guardrails: Guardrails,
    /// Which steps can be entered at all.
    pub reachable: Vec<bool>,
    /// Which steps can be followed, at last, by an exit or a restart.
    pub can_end: Vec<bool>,
    /// Which steps can be followed, at last, by themselves.
    pub in_loop: Vec<bool>,
    pub bounds: Bounds,
    /// The shortest way to each end, in the file's order.
    pub paths: Vec<EndPath>,
    /// The guardrails that can end a session.
    pub guardrail_exits: Vec<GuardrailExit>,
    /// Whether a step calls a recipe, whose own agent calls come on top.
    pub calls_recipes: bool,
    /// Warnings and notes; what is an error has no `Recipe`.
    pub findings: Vec<Diagnostic>,
}

/// The most that one session can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub steps: u64,
    /// With a reminder in every visit.
    pub agent_calls: u64,
    /// False: there were too many states to search, and the true numbers may be lower.
    pub exact: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuardrailExit {
    /// The step may not be entered again; it can be refused after these.
    StepVisits {
        step: usize,
        after: Vec<usize>,
    },
    TotalSteps,
}

impl GuardrailExit {
    /// The reason a run gives that ended so.
    pub fn reason(&self, recipe: &Recipe) -> String {
        match self {
            GuardrailExit::StepVisits { step, .. } => {
                format!("max-step-visits-exceeded:{}", recipe.steps[*step].id)
            }
            GuardrailExit::TotalSteps => "max-total-steps".to_owned(),
        }
    }
}

/// Looks at a machine under these guardrails; none for a sequence.
pub fn analyse(recipe: &Recipe, guardrails: Guardrails) -> Option<Analysis> {
    analyse_with(recipe, guardrails, Effort::default())
}

pub(super) fn analyse_with(
    recipe: &Recipe,
    guardrails: Guardrails,
    effort: Effort,
) -> Option<Analysis> {
    let graph = Graph::new(recipe, recipe.machine()?.initial);
    let asks: Vec<bool> = recipe.steps.iter().map(asks_agent).collect();
    let walks = walks(&graph, &asks, guardrails, effort);
    let ends = |at: &usize| recipe.steps[*at].outcomes.iter().any(|o| End::of(&o.then).is_some());
    let goals: Vec<usize> = (0..recipe.steps.len()).filter(ends).collect();
    let in_loop = (0..recipe.steps.len()).map(|step| graph.component(step).cyclic).collect();
    let mut analysis = Analysis {
        guardrails,
        can_end: graph.leading_to(&goals),
        in_loop,
        bounds: Bounds { steps: walks.steps, agent_calls: walks.calls, exact: walks.exact },
        paths: end_paths(recipe, &graph, guardrails.max_total_steps),
        guardrail_exits: guardrail_exits(&walks),
        calls_recipes: recipe.steps.iter().any(|s| matches!(s.work, Work::Recipe { .. })),
        reachable: graph.reachable,
        findings: Vec::new(),
    };
    analysis.findings = Findings { recipe, analysis: &analysis }.all();
    let limit = u64::from(guardrails.max_total_steps);
    analysis.paths.retain(|path| path.steps.len() as u64 <= limit);
    Some(analysis)
}

impl Analysis {
    /// The same for a recipe of a program, where it is known what its restarts lead to.
    pub fn of(program: &Program, index: usize) -> Option<(Analysis, Restarts)> {
        let recipe = &program.recipes[index];
        let run_options = &program.plan.machine;
        let analysis = analyse(recipe, recipe.machine()?.guardrails_with(run_options))?;
        let restarts = RestartGraph::new(program).restarts(index, run_options.max_restarts);
        Some((analysis, restarts))
    }
}

/// The findings in all machines of a program, their restarts included.
pub fn machine_findings(program: &Program, run_options: &MachineOptions) -> Vec<Diagnostic> {
    let restarts = RestartGraph::new(program);
    let mut findings = Vec::new();
    for (index, recipe) in program.recipes.iter().enumerate() {
        let limits = recipe.machine().map(|machine| machine.guardrails_with(run_options));
        let Some(analysis) = limits.and_then(|limits| analyse(recipe, limits)) else { continue };
        findings.extend(analysis.findings);
        if run_options.max_restarts.is_none() {
            findings.extend(restart_findings(program, index, &analysis.reachable, &restarts));
        }
    }
    findings
}

fn guardrail_exits(walks: &Walks) -> Vec<GuardrailExit> {
    let visits = walks.refused.iter().map(|(step, after)| GuardrailExit::StepVisits {
        step: *step,
        after: after.iter().copied().collect(),
    });
    visits.chain(walks.total_refused.then_some(GuardrailExit::TotalSteps)).collect()
}
