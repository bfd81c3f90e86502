//! From a program to a chart: its own recipe, then each recipe that it calls. The `other` of a state
//! machine's steps is described in words and not drawn where it ends the run, for every step has it.

use super::machine_bounds_text::bounds;
use super::{Batch, Card, Chart, Kind, Part, Shape, To, Way};
use crate::foreign_text::{clean, first_line};
use crate::step_text::{callee, step_line};
use towpath_recipe::{Analysis, Machine, OTHER, Program, Recipe, Step, Transition, Work};

impl Chart {
    pub fn of(program: &Program) -> Chart {
        let called = called(program);
        let parts = called.iter().map(|recipe| part(program, *recipe, &called));
        Chart { parts: parts.collect() }
    }
}

/// The recipes that are called, in the order in which one meets them.
pub fn called(program: &Program) -> Vec<usize> {
    let mut called = vec![0];
    let mut at = 0;
    while let Some(recipe) = called.get(at).copied() {
        for step in &program.recipes[recipe].steps {
            let callee = callee(program, recipe, step);
            called.extend(callee.filter(|callee| !called.contains(callee)));
        }
        at += 1;
    }
    called
}

fn part(program: &Program, index: usize, called: &[usize]) -> Part {
    let recipe = &program.recipes[index];
    let analysis = Analysis::of(program, index);
    let mut cards: Vec<Card> = recipe
        .steps
        .iter()
        .map(|step| {
            let callee = callee(program, index, step);
            let part = callee.and_then(|callee| called.iter().position(|at| *at == callee));
            Card { calls: part, ..card(program, recipe, step) }
        })
        .collect();
    if let Some((analysis, _)) = &analysis {
        for (card, reachable) in cards.iter_mut().zip(&analysis.reachable) {
            if !reachable {
                card.idle = Some("unreachable".to_owned());
            }
        }
    }
    let (shape, notes) = match (recipe.machine(), analysis) {
        (Some(machine), Some((analysis, restarts))) => {
            (ways(recipe, machine), vec![bounds(recipe, &analysis, restarts).join(" · ")])
        }
        _ => (Shape::Line(batches(recipe)), Vec::new()),
    };
    let about = recipe.description.split_whitespace().collect::<Vec<_>>().join(" ");
    Part { title: clean(&recipe.name), about: clean(&about), notes, cards, shape }
}

fn card(program: &Program, recipe: &Recipe, step: &Step) -> Card {
    let mut detail = Vec::new();
    let kind = match &step.work {
        Work::Bash { .. } => Kind::Command,
        Work::Agent(agent) => {
            let general = recipe.machine().and_then(|machine| machine.model.as_ref());
            detail.extend(agent.agent.as_ref().map(|a| first_line(&a.name)));
            detail.extend(agent.model.as_ref().or(general).map(|m| first_line(m)));
            Kind::Agent
        }
        Work::Recipe { name, .. } => {
            detail.push(first_line(name));
            Kind::Recipe
        }
    };
    if step.continue_on_error {
        detail.push("may fail".to_owned());
    }
    if let (Some(_), Some(condition)) = (&step.parallel_group, &step.condition) {
        detail.push(format!("if {}", first_line(condition.text())));
    }
    let text = if kind == Kind::Recipe { String::new() } else { step_line(step) };
    let idle = program.plan.tags.against(step).map(|why| format!("left out: {}", first_line(&why)));
    let name = clean(&step.id);
    Card { name, kind, detail: detail.join(" · "), text, idle, ..Card::default() }
}

fn batches(recipe: &Recipe) -> Vec<Batch> {
    let batch = |range: &std::ops::Range<usize>| {
        let first = &recipe.steps[range.start];
        let group = first.parallel_group.as_deref().filter(|_| range.len() > 1);
        let condition = first.condition.as_ref().filter(|_| first.parallel_group.is_none());
        Batch {
            cards: range.clone().collect(),
            group: group.map(first_line),
            condition: condition.map(|c| first_line(c.text())),
        }
    };
    recipe.batches().iter().map(batch).collect()
}

fn ways(recipe: &Recipe, machine: &Machine) -> Shape {
    let mut ways = Vec::new();
    for (from, step) in recipe.steps.iter().enumerate() {
        for outcome in &step.outcomes {
            let to = match &outcome.then {
                Transition::Exit { .. } if outcome.name == OTHER => continue,
                Transition::Next(next) => To::Card(*next),
                Transition::Exit { reason, ending } => {
                    To::Exit(format!("{} {}", ending.as_str(), first_line(reason)))
                }
                Transition::Restart { recipe, .. } => To::Restart(first_line(recipe)),
            };
            ways.push(Way { from, label: first_line(&outcome.name), to });
        }
    }
    Shape::Machine { first: machine.initial, ways }
}
