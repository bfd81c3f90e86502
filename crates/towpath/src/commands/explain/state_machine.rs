//! A state machine explained: drawn where it fits the terminal, else one line for each transition;
//! then how long it can run and how it can end, with the shortest path to each end.

use super::{print_inputs, print_required, rows};
use crate::terminal::format::{clean, count};
use crate::terminal::out;
use crate::terminal::report::in_lines;
use crate::terminal::screen::{Screen, Tint};
use crate::terminal::table::{Cell, Table};
use std::collections::BTreeSet;
use towpath_recipe::{
    Analysis, End, EndPath, Ending, GuardrailExit, OTHER, Program, Recipe, Restarts, Transition,
};
use towpath_view::chart::{
    Chart, Part, RESTARTS_EXCEEDED, bounds, called, draw, refused_restart, wrapped,
};
use towpath_view::foreign_text::first_line;
use towpath_view::transition_text;

const INDENT: usize = 2;

pub fn print(program: &Program, screen: &Screen) {
    let root = program.root();
    let about = first_line(&root.description);
    let colon = if about.is_empty() { "" } else { ": " };
    let title = format!("{}{colon}{about}", clean(&root.name));
    for line in wrapped(&title, screen.width.unwrap_or(usize::MAX)) {
        out::line(line);
    }
    print_inputs(root, &program.plan.inputs, screen);
    print_required(program, screen);
    let chart = Chart::of(program);
    for (part, index) in chart.parts.iter().zip(called(program)) {
        let recipe = &program.recipes[index];
        if index > 0 {
            out::line(format!("\n{}, called", clean(&recipe.name)));
        }
        match Analysis::of(program, index) {
            Some((analysis, restarts)) => {
                let refused = refused_restart(program, &analysis);
                print_machine(recipe, part, &analysis, (restarts, refused), screen);
            }
            None => {
                let mut table = Table::plain(INDENT);
                let mut listed: BTreeSet<usize> = (0..program.recipes.len()).collect();
                rows(program, index, 0, &mut listed, &mut table);
                table.print(screen);
            }
        }
    }
}

fn print_machine(
    recipe: &Recipe,
    part: &Part,
    analysis: &Analysis,
    (restarts, refused): (Restarts, Option<u32>),
    screen: &Screen,
) {
    out::line("");
    let drawing = draw::draw(part);
    let widest = drawing.iter().map(draw::Line::width).max().unwrap_or(0) + INDENT;
    match screen.width {
        Some(width) if widest <= width => {
            for line in drawing {
                let text = format!("  {}{}", line.text, screen.paint(Tint::Dim, &line.dim));
                out::line(text.trim_end());
            }
        }
        _ => transitions(recipe).print(screen),
    }
    out::line("");
    let room = screen.width.map(|width| width.saturating_sub(INDENT));
    for line in in_lines(bounds(recipe, analysis, restarts), room) {
        out::line(format!("  {line}"));
    }
    let mut ends = ends(recipe, analysis);
    if let Some(most) = refused {
        let after = format!("after {}", count(most as usize, "restart"));
        ends.row(vec![RESTARTS_EXCEEDED.into(), "limit".into(), Cell::tinted(after, Tint::Dim)]);
    }
    if !analysis.paths.is_empty() || !analysis.guardrail_exits.is_empty() {
        out::line("\nends");
        ends.print(screen);
    }
}

fn transitions(recipe: &Recipe) -> Table {
    let mut table = Table::plain(INDENT);
    for step in &recipe.steps {
        for outcome in &step.outcomes {
            if outcome.name == OTHER && matches!(outcome.then, Transition::Exit { .. }) {
                continue;
            }
            table.row(vec![
                clean(&step.id).into(),
                Cell::from(&outcome.name),
                format!("→ {}", transition_text(recipe, &outcome.then)).into(),
            ]);
        }
    }
    table
}

/// Every way a session can end, with the shortest path to it.
fn ends(recipe: &Recipe, analysis: &Analysis) -> Table {
    let mut table = Table::plain(INDENT);
    let (own, other): (Vec<&EndPath>, Vec<&EndPath>) =
        analysis.paths.iter().partition(|path| !path.by_other);
    for path in own.into_iter().chain(other) {
        let end = match &path.end {
            End::Exit(reason, Ending::Success) => clean(reason),
            End::Exit(reason, ending) => format!("{} {}", ending.as_str(), clean(reason)),
            End::Restart(recipe) => format!("restart {}", clean(recipe)),
        };
        let steps: Vec<String> =
            path.steps.iter().map(|(step, _)| clean(&recipe.steps[*step].id)).collect();
        let way = if path.by_other { "on `other`".to_owned() } else { steps.join(", ") };
        let least = if path.by_other { String::new() } else { count(steps.len(), "step") };
        table.row(vec![end.into(), least.into(), Cell::tinted(way, Tint::Dim)]);
    }
    for exit in &analysis.guardrail_exits {
        let after = match exit {
            GuardrailExit::StepVisits { after, .. } => {
                let names = after.iter().map(|step| clean(&recipe.steps[*step].id));
                format!("after {}", names.collect::<Vec<_>>().join(" or "))
            }
            GuardrailExit::TotalSteps => String::new(),
        };
        let cells =
            vec![exit.reason(recipe).into(), "limit".into(), Cell::tinted(after, Tint::Dim)];
        table.row(cells);
    }
    table
}
