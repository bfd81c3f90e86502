//! A machine written out as a plain outline: its limits, its steps in the file's order, and where
//! each outcome leads. It is what `agent-recipes --dry-run` shows, line by line.

use crate::recipe::{Ending, Recipe, Step, Transition, Work};
use crate::request::MachineOptions;
use std::fmt::Write as _;

/// The outline of a machine with what the user asked for; none for a sequence.
pub fn dry_run_layout(recipe: &Recipe, run_options: &MachineOptions) -> Option<String> {
    let machine = recipe.machine()?;
    let limits = machine.guardrails_with(run_options);
    let mut text = format!("Recipe: {}\n", line(&recipe.name));
    let _ = writeln!(text, "  Label: {}", line(&machine.label));
    let _ = writeln!(text, "  Description: {}", line(&recipe.description));
    let _ = writeln!(
        text,
        "  Guardrails: maxStepVisits={}, maxTotalSteps={}, exitOnOther={}",
        limits.max_step_visits, limits.max_total_steps, limits.exit_on_other
    );
    text.push_str("\n  Steps:\n");
    for (index, step) in recipe.steps.iter().enumerate() {
        let initial = if index == machine.initial { " (initial)" } else { "" };
        let _ = writeln!(text, "    {}{initial}", line(&step.id));
        let _ = writeln!(text, "      Outcomes: {}", outcomes(recipe, step));
        let _ = writeln!(text, "      {}", worker(step, machine.model.as_deref(), run_options));
    }
    Some(text)
}

fn outcomes(recipe: &Recipe, step: &Step) -> String {
    let shown = step.outcomes.iter().map(|outcome| {
        let target = match &outcome.then {
            Transition::Next(next) => line(&recipe.steps[*next].id),
            Transition::Exit { ending: Ending::Fail, .. } => "FAIL".to_owned(),
            Transition::Exit { .. } => "EXIT".to_owned(),
            Transition::Restart { recipe, .. } => format!("RESTART {}", line(recipe)),
        };
        format!("{} → {target}", line(&outcome.name))
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Who does the work. A step's own model wins, then the user's, then the recipe's.
fn worker(step: &Step, general: Option<&str>, run_options: &MachineOptions) -> String {
    let agent = match &step.work {
        Work::Bash { command } => return format!("Command: {}", line(command.text())),
        Work::Recipe { name, .. } => return format!("Recipe: {}", line(name)),
        Work::Agent(agent) => agent,
    };
    let asked = run_options.model.as_deref();
    match (agent.model.as_deref(), asked, general) {
        (Some(own), ..) => format!("Model: {}", line(own)),
        (None, Some(asked), _) => format!("Model: {} (--model)", line(asked)),
        (None, None, Some(general)) => format!("Model: {} (recipe)", line(general)),
        (None, None, None) => "Model: (default)".to_owned(),
    }
}

/// Foreign text as a part of one line.
fn line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
