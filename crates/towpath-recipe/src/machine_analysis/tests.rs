//! The analysis against a naive walk over every path, and against the bounds of known machines.

use super::analysis::analyse_with;
use super::restart_count::RestartGraph;
use super::session_length::Effort;
use super::*;
use crate::plan::{Plan, PlannedRecipe, Program};
use crate::recipe::{Ending, Flow, Guardrails, LimitSpans, OTHER, Outcome, Recipe, Transition};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use towpath_core::{Severity, Source, Span};

const LIMITS: Guardrails =
    Guardrails { max_step_visits: 3, max_total_steps: 100, exit_on_other: true };

/// Where an outcome leads, in a test's words: a step's index, an exit, or a restart.
#[derive(Debug, Clone, PartialEq)]
enum To {
    Step(usize),
    Exit(&'static str),
    Restart(&'static str),
}

fn exit(reason: String) -> Transition {
    Transition::Exit { reason, ending: Ending::Success }
}

/// A machine whose step 0 is the first; `asks` is which steps are agent steps.
fn machine(name: &str, steps: &[Vec<(&str, To)>], asks: &[bool]) -> Recipe {
    let line = |at: usize| match asks[at] {
        true => format!("  - id: s{at}\n    prompt: do it\n"),
        false => format!("  - id: s{at}\n    command: make\n"),
    };
    let text: String = (0..steps.len()).map(line).collect();
    let mut recipe = read(&format!("name: {name}\nsteps:\n{text}"));
    for (step, outcomes) in recipe.steps.iter_mut().zip(steps) {
        let then = |to: &To| match to {
            To::Step(index) => Transition::Next(*index),
            To::Exit(reason) => exit((*reason).to_owned()),
            To::Restart(recipe) => {
                Transition::Restart { recipe: (*recipe).to_owned(), span: Span::default() }
            }
        };
        let outcomes = outcomes.iter();
        step.outcomes = outcomes
            .map(|(name, to)| Outcome { name: (*name).to_owned(), then: then(to) })
            .collect();
    }
    recipe.flow = Flow::Machine(Machine {
        label: name.to_owned(),
        initial: 0,
        guardrails: LIMITS,
        limits: LimitSpans::default(),
        model: None,
    });
    recipe
}

fn read(text: &str) -> Recipe {
    let read = crate::read(&Source::new("r.yaml", text));
    read.recipe.unwrap_or_else(|| panic!("{text}\n{:?}", read.problems))
}

fn agents(steps: &[Vec<(&str, To)>]) -> Recipe {
    machine("m", steps, &vec![true; steps.len()])
}

fn messages(recipe: &Recipe, severity: Severity) -> Vec<String> {
    let analysis = analyse(recipe, recipe.machine().unwrap().guardrails).unwrap();
    let found = analysis.findings.into_iter().filter(|f| f.severity == severity);
    found.map(|f| f.message).collect()
}

fn reasons(analysis: &Analysis, recipe: &Recipe) -> BTreeSet<String> {
    analysis.guardrail_exits.iter().map(|exit| exit.reason(recipe)).collect()
}

/// Every walk, one by one, as the guardrails are written down.
#[derive(Debug, Default)]
struct Naive {
    steps: u64,
    calls: u64,
    reasons: BTreeSet<String>,
    /// The fewest steps to each exit, by a last outcome that is not `other`, and by one that is.
    exits: BTreeMap<(String, bool), usize>,
    entered: BTreeSet<usize>,
}

impl Naive {
    fn walk(&mut self, recipe: &Recipe, limits: Guardrails, way: &mut Vec<usize>, calls: u64) {
        let step = *way.last().unwrap();
        let calls = calls + 2 * u64::from(matches!(recipe.steps[step].work, crate::Work::Agent(_)));
        self.steps = self.steps.max(way.len() as u64);
        self.calls = self.calls.max(calls);
        self.entered.insert(step);
        for outcome in &recipe.steps[step].outcomes {
            match &outcome.then {
                Transition::Next(next) => {
                    let visits = way.iter().filter(|s| *s == next).count();
                    if visits >= limits.max_step_visits as usize {
                        let id = &recipe.steps[*next].id;
                        self.reasons.insert(format!("max-step-visits-exceeded:{id}"));
                    } else if way.len() >= limits.max_total_steps as usize {
                        self.reasons.insert("max-total-steps".to_owned());
                    } else {
                        way.push(*next);
                        self.walk(recipe, limits, way, calls);
                        way.pop();
                    }
                }
                Transition::Exit { reason, .. } => {
                    let key = (reason.clone(), outcome.name == OTHER);
                    let fewest = self.exits.entry(key).or_insert(usize::MAX);
                    *fewest = (*fewest).min(way.len());
                }
                Transition::Restart { .. } => {}
            }
        }
    }
}

fn any_machine() -> impl Strategy<Value = (Recipe, Guardrails)> {
    let to = |steps: usize| {
        prop_oneof![
            4 => (0..steps).prop_map(To::Step),
            1 => prop_oneof![Just("x"), Just("y")].prop_map(To::Exit),
        ]
    };
    let names = ["a", "b", OTHER];
    let steps = (1_usize..5).prop_flat_map(move |count| {
        let step = prop::collection::vec(to(count), 1..=3)
            .prop_map(move |ways| names.into_iter().zip(ways).collect::<Vec<_>>());
        (prop::collection::vec(step, count), prop::collection::vec(any::<bool>(), count))
    });
    let limits = (1_u32..4, 1_u32..9).prop_map(|(max_step_visits, max_total_steps)| Guardrails {
        max_step_visits,
        max_total_steps,
        exit_on_other: true,
    });
    (steps, limits).prop_map(|((steps, asks), limits)| (machine("m", &steps, &asks), limits))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_bounds_are_those_of_every_walk((recipe, limits) in any_machine()) {
        let mut naive = Naive::default();
        naive.walk(&recipe, limits, &mut vec![0], 0);
        let analysis = analyse(&recipe, limits).unwrap();
        prop_assert!(analysis.bounds.exact);
        prop_assert_eq!(analysis.bounds.steps, naive.steps);
        prop_assert_eq!(analysis.bounds.agent_calls, naive.calls);
        prop_assert_eq!(reasons(&analysis, &recipe), naive.reasons.clone());
        let mut exits = BTreeMap::new();
        for ((reason, by_other), fewest) in naive.exits {
            exits.entry(reason).or_insert((by_other, fewest));
        }
        let paths: BTreeMap<String, (bool, usize)> = analysis.paths.iter().map(|path| {
            let End::Exit(reason, _) = &path.end else { panic!("no restarts here") };
            (reason.clone(), (path.by_other, path.steps.len()))
        }).collect();
        prop_assert_eq!(paths, exits);
    }

    /// With one state allowed there is only the bound; it may be too high, never too low.
    #[test]
    fn an_upper_bound_is_one((recipe, limits) in any_machine()) {
        let exact = analyse(&recipe, limits).unwrap();
        let effort = Effort { states: 0, counters: 0 };
        let bound = analyse_with(&recipe, limits, effort).unwrap();
        prop_assert!(!bound.bounds.exact);
        prop_assert!(bound.bounds.steps >= exact.bounds.steps);
        prop_assert!(bound.bounds.agent_calls >= exact.bounds.agent_calls);
        prop_assert!(bound.bounds.steps <= u64::from(limits.max_total_steps));
        prop_assert!(reasons(&bound, &recipe).is_superset(&reasons(&exact, &recipe)));
    }

    #[test]
    fn a_path_is_a_way_through_the_machine((recipe, limits) in any_machine()) {
        let analysis = analyse(&recipe, limits).unwrap();
        for path in analysis.paths {
            let mut at = 0;
            for (number, (step, outcome)) in path.steps.iter().enumerate() {
                prop_assert_eq!(*step, at);
                let last = number + 1 == path.steps.len();
                match &recipe.steps[at].outcomes[*outcome].then {
                    Transition::Next(next) => { prop_assert!(!last); at = *next; }
                    end => { prop_assert!(last); prop_assert_eq!(End::of(end), Some(path.end.clone())); }
                }
            }
        }
    }
}

/// The catalogue's machines as data, each with what is known of it.
fn known_machines() -> Vec<(Recipe, Value)> {
    let text = include_str!("../../../../tests/cases/builtin-machines.json");
    let all: Value = serde_json::from_str(text).unwrap();
    let recipes = all["recipes"].as_array().unwrap().iter();
    recipes
        .map(|recipe| {
            let id = recipe["id"].as_str().unwrap();
            (from_json(recipe), all["bounds"][id].clone())
        })
        .collect()
}

fn from_json(json: &Value) -> Recipe {
    let steps = json["steps"].as_object().unwrap();
    let index = |id: &str| steps.keys().position(|key| key == id).unwrap();
    let text: String =
        steps.keys().map(|id| format!("  - id: {id}\n    prompt: do it\n")).collect();
    let mut recipe = read(&format!("name: {}\nsteps:\n{text}", json["id"].as_str().unwrap()));
    for (step, own) in recipe.steps.iter_mut().zip(steps.values()) {
        let outcome = |name: &Value| {
            let name = name.as_str().unwrap();
            let to = &own["onOutcome"][name];
            let text = |key: &str| to[key].as_str().map(str::to_owned);
            let then = match (text("nextStep"), text("reason"), text("recipeId")) {
                (Some(next), ..) => Transition::Next(index(&next)),
                (_, Some(reason), _) => exit(reason),
                (.., recipe) => {
                    Transition::Restart { recipe: recipe.unwrap(), span: Span::default() }
                }
            };
            Outcome { name: name.to_owned(), then }
        };
        step.outcomes = own["outcomes"].as_array().unwrap().iter().map(outcome).collect();
    }
    let limit = |key: &str| u32::try_from(json["guardrails"][key].as_u64().unwrap()).unwrap();
    let guardrails = Guardrails {
        max_step_visits: limit("maxStepVisits"),
        max_total_steps: limit("maxTotalSteps"),
        exit_on_other: json["guardrails"]["exitOnOther"].as_bool().unwrap(),
    };
    recipe.flow = Flow::Machine(Machine {
        label: json["label"].as_str().unwrap().to_owned(),
        initial: index(json["initialStep"].as_str().unwrap()),
        guardrails,
        limits: LimitSpans::default(),
        model: None,
    });
    recipe
}

fn program(recipes: Vec<Recipe>) -> Program {
    let planned = recipes.iter().map(|_| PlannedRecipe::default());
    let mut plan = Plan { recipes: planned.collect(), ..Plan::default() };
    for index in 0..recipes.len() {
        let calls = recipes.iter().enumerate().map(|(at, recipe)| (recipe.name.clone(), at));
        plan.recipes[index].calls = calls.collect();
    }
    Program::new(plan, recipes.into_iter().map(Arc::new).collect())
}

#[test]
fn the_known_machines_have_their_bounds() {
    let machines = known_machines();
    assert_eq!(machines.len(), 8);
    for (recipe, known) in machines {
        let analysis = analyse(&recipe, recipe.machine().unwrap().guardrails).unwrap();
        let name = &recipe.name;
        let number = |key: &str| known[key].as_u64().unwrap();
        assert_eq!(recipe.steps.len() as u64, number("steps"), "{name}");
        assert!(analysis.bounds.exact, "{name}");
        assert_eq!(analysis.bounds.steps, number("max_steps_per_session"), "{name}");
        assert_eq!(analysis.bounds.agent_calls, number("max_agent_calls_per_session"), "{name}");
        let listed = known["guardrail_reasons"].as_array().unwrap().iter();
        let listed: BTreeSet<String> = listed.map(|r| r.as_str().unwrap().to_owned()).collect();
        assert_eq!(reasons(&analysis, &recipe), listed, "{name}");
        let paths = analysis.paths.iter().filter(|path| !path.by_other).map(|path| {
            let end = match &path.end {
                End::Exit(reason, _) => reason.clone(),
                End::Restart(_) => "RESTART".to_owned(),
            };
            (end, path.steps.len() as u64)
        });
        let shortest = known["shortest_to_exit"].as_object().unwrap().iter();
        let shortest = shortest.map(|(end, steps)| (end.clone(), steps.as_u64().unwrap()));
        assert_eq!(
            paths.collect::<BTreeMap<_, _>>(),
            shortest.collect::<BTreeMap<_, _>>(),
            "{name}"
        );
        let restarts = RestartGraph::new(&program(vec![recipe.clone()])).restarts(0, None);
        let word = if restarts == Restarts::None { "none" } else { "unbounded" };
        assert_eq!(word, known["restarts"], "{name}");
        assert_eq!(messages(&recipe, Severity::Warning), [""; 0], "{name}");
    }
}

#[test]
fn what_a_review_loop_leaves_behind_is_noted() {
    let machines = known_machines();
    assert_eq!(
        messages(&machines[0].0, Severity::Note),
        ["What 'fix' did last can be left behind: 'code-review' is entered at most 3 times"]
    );
}

#[test]
fn steps_that_nobody_reaches_or_leaves_are_warned_of() {
    let lost = agents(&[
        vec![("ok", To::Exit("done")), (OTHER, To::Exit("o"))],
        vec![("ok", To::Step(0)), (OTHER, To::Exit("o"))],
    ]);
    assert_eq!(messages(&lost, Severity::Warning), ["Step 's1' is unreachable"]);
    let trap = agents(&[vec![("n", To::Step(1))], vec![("n", To::Step(0))]]);
    assert_eq!(
        messages(&trap, Severity::Warning),
        [
            "Step 's0' cannot reach an exit",
            "Step 's0' has no 'other' outcome",
            "Step 's1' cannot reach an exit",
            "Step 's1' has no 'other' outcome",
        ]
    );
    let commands = machine("m", &[vec![("success", To::Exit("done"))]], &[false]);
    assert_eq!(messages(&commands, Severity::Warning), [""; 0]);
}

#[test]
fn limits_that_cannot_bind_and_exits_beyond_them_are_reported() {
    let chain = [vec![("ok", To::Step(1))], vec![("ok", To::Exit("done"))]];
    let recipe = machine("m", &chain, &[false; 2]);
    let reported = |visits, total| {
        let limits =
            Guardrails { max_step_visits: visits, max_total_steps: total, exit_on_other: true };
        let mut recipe = recipe.clone();
        if let Flow::Machine(machine) = &mut recipe.flow {
            let span = Some(Span::default());
            machine.guardrails = limits;
            machine.limits = LimitSpans { max_step_visits: span, max_total_steps: span };
        }
        let analysis = analyse(&recipe, limits).unwrap();
        let messages = analysis.findings.into_iter().map(|f| f.message).collect::<Vec<_>>();
        (messages, analysis.paths.len())
    };
    assert_eq!(reported(3, 100), (vec![], 1));
    let total = "maxTotalSteps 2 can never end a session: it has at most 2 steps";
    let visits = "maxStepVisits 1 can never end a session: no step is entered that often";
    assert_eq!(reported(1, 2), (vec![total.to_owned(), visits.to_owned()], 1));
    let far = "Exit 'done' cannot be reached within 1 step: it takes 2";
    assert_eq!(reported(3, 1), (vec![far.to_owned()], 0));
}

#[test]
fn two_outcomes_with_one_target_are_noted() {
    let recipe = agents(&[vec![
        ("a", To::Exit("x")),
        ("b", To::Exit("x")),
        ("c", To::Exit("y")),
        (OTHER, To::Exit("y")),
    ]]);
    assert_eq!(messages(&recipe, Severity::Note), ["Step 's0': 'a' and 'b' both lead to exit 'x'"]);
}

#[test]
fn restarts_are_followed_from_recipe_to_recipe() {
    let one = |name: &str, to: To| machine(name, &[vec![("ok", to)]], &[false]);
    let all = program(vec![
        one("a", To::Restart("b")),
        one("b", To::Restart("c")),
        one("c", To::Exit("x")),
        one("d", To::Restart("e")),
        one("e", To::Restart("e")),
    ]);
    let graph = RestartGraph::new(&all);
    assert_eq!(graph.restarts(0, None), Restarts::AtMost(2));
    assert_eq!(graph.restarts(0, Some(1)), Restarts::AtMost(1));
    assert_eq!(graph.restarts(2, None), Restarts::None);
    assert_eq!(graph.restarts(3, None), Restarts::Unbounded);
    assert_eq!(graph.restarts(3, Some(7)), Restarts::AtMost(7));
    assert_eq!(graph.restarts(4, Some(0)), Restarts::None);
    let notes = |run_options: MachineOptions| machine_findings(&all, &run_options).len();
    assert_eq!(notes(MachineOptions::default()), 1, "only `e` comes back to itself");
    assert_eq!(notes(MachineOptions { max_restarts: Some(3), ..Default::default() }), 0);
}

#[test]
fn a_large_machine_gets_an_upper_bound_that_is_marked_as_one() {
    let count = 12;
    let mut step: Vec<(&str, To)> = Vec::new();
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    step.extend(names.into_iter().enumerate().map(|(at, name)| (name, To::Step(at))));
    let recipe = agents(&vec![step; count]);
    let analysis = analyse(&recipe, LIMITS).unwrap();
    assert_eq!(analysis.bounds, Bounds { steps: 36, agent_calls: 72, exact: false });
    let limits = Guardrails { max_total_steps: 10, ..LIMITS };
    let analysis = analyse(&recipe, limits).unwrap();
    assert_eq!(analysis.bounds.steps, 10);
    assert_eq!(analysis.bounds.agent_calls, 20);
}

/// A chain that would overflow the stack of anything recursive, and limits as large as they get.
#[test]
fn size_alone_is_no_danger() {
    let count = 5_000;
    let mut chain: Vec<Vec<(&str, To)>> = (1..count).map(|at| vec![("ok", To::Step(at))]).collect();
    chain.push(vec![("ok", To::Exit("done")), ("again", To::Step(0))]);
    let recipe = machine("m", &chain, &vec![false; count]);
    let most =
        Guardrails { max_step_visits: u32::MAX, max_total_steps: u32::MAX, exit_on_other: true };
    let analysis = analyse(&recipe, most).unwrap();
    assert_eq!(analysis.bounds.steps, u64::from(u32::MAX));
    assert!(!analysis.bounds.exact);
    assert_eq!(analysis.paths[0].steps.len(), count);
}
