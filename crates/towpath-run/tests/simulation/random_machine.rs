//! Random machines: one to five steps, loops, restarts with themselves or a twin, tight limits,
//! commands, calls of the recipe below, outcomes that exit, fail or ask.

use super::random_numbers::Random;
use std::fmt::Write as _;

/// What a machine is written from.
pub struct Shape<'a> {
    pub id: &'a str,
    /// Names its steps; those of a twin differ where they are no prompts.
    pub letter: char,
    pub level: usize,
    pub callee: Option<&'a str>,
    /// The machines that it may begin again with.
    pub restarts: &'a [String],
}

/// The reasons by which machines exit: some are outcomes of the steps that call them.
const REASONS: [&str; 3] = ["fine", "stuck", "listed"];

pub fn text(random: &mut Random, shape: &Shape) -> String {
    let steps = 1 + random.below(5);
    let kinds: Vec<Kind> = (0..steps).map(|_| kind(random, shape.callee.is_some())).collect();
    let names: Vec<String> =
        kinds.iter().enumerate().map(|(index, kind)| kind.name(shape.letter, index)).collect();
    let (id, level) = (shape.id, shape.level);
    let mut text = format!(
        "id: {id}\nlabel: L\ndescription: d\ninitialStep: {}\ncontext:\n  base: b{level}\n  kept: \
         none\nguardrails: {{maxStepVisits: {}, maxTotalSteps: {}, exitOnOther: false}}\n",
        names[0],
        1 + random.below(6),
        1 + random.below(25)
    );
    if random.one_in(3) {
        text.push_str("model: opus\n");
    }
    text.push_str("steps:\n");
    for (name, kind) in names.iter().zip(&kinds) {
        let _ = writeln!(text, "  {name}:");
        step(random, &mut text, *kind, shape);
        let mut outcomes = match kind {
            Kind::Prompt => vec!["left", "right", "other"],
            Kind::Command => vec!["success", "failure", "third"],
            Kind::Recipe => vec!["success", "failure", "listed"],
        };
        outcomes.truncate(2 + random.below(2));
        let _ = writeln!(text, "    outcomes: [{}]\n    onOutcome:", outcomes.join(", "));
        for outcome in outcomes {
            let _ = writeln!(text, "      {outcome}: {}", transition(random, &names, shape));
        }
    }
    text
}

#[derive(Clone, Copy)]
enum Kind {
    Prompt,
    Command,
    Recipe,
}

impl Kind {
    fn name(self, letter: char, index: usize) -> String {
        match self {
            // A twin's prompts have the same names, so that its visits are counted on.
            Kind::Prompt => format!("p{index}"),
            Kind::Command => format!("{letter}c{index}"),
            Kind::Recipe => format!("{letter}r{index}"),
        }
    }
}

fn kind(random: &mut Random, calls: bool) -> Kind {
    match random.below(8) {
        0..5 => Kind::Prompt,
        5 | 6 if calls => Kind::Recipe,
        _ => Kind::Command,
    }
}

fn step(random: &mut Random, text: &mut String, kind: Kind, shape: &Shape) {
    match (kind, shape.callee) {
        (Kind::Recipe, Some(callee)) => {
            let _ =
                writeln!(text, "    recipe: {callee}\n    context: {{handed: \"{{{{kept}}}}\"}}");
            if random.one_in(4) {
                text.push_str("    timeout: 5\n");
            }
        }
        (Kind::Command, _) => {
            text.push_str("    command: echo {{kept}} {{base}}\n");
            if random.one_in(3) {
                text.push_str("    effect: once\n");
            }
            if random.one_in(4) {
                text.push_str("    timeout: 3\n");
            }
        }
        _ => {
            text.push_str("    prompt: \"do {{base}} after {{kept}}\"\n");
            if random.one_in(3) {
                text.push_str("    model: haiku\n");
            }
        }
    }
    if random.one_in(3) {
        text.push_str("    output: kept\n");
    }
}

fn transition(random: &mut Random, names: &[String], shape: &Shape) -> String {
    match random.below(8) {
        0 | 1 => {
            let reason = REASONS[random.below(REASONS.len())];
            match random.below(6) {
                0 => format!("{{action: fail, reason: {reason}}}"),
                1 => format!("{{action: exit, reason: {reason}, success: false}}"),
                2 => format!("{{action: exit, reason: {reason}, success: true}}"),
                // Within a parallel group a question would come after more or fewer of its steps.
                3 if shape.level == 0 => {
                    format!("{{action: exit, reason: {reason}, success: ask}}")
                }
                _ => format!("{{action: exit, reason: {reason}}}"),
            }
        }
        2 => {
            let target = &shape.restarts[random.below(shape.restarts.len())];
            format!("{{action: restart-new-session, recipeId: {target}}}")
        }
        _ => format!("{{nextStep: {}}}", names[random.below(names.len())]),
    }
}
