//! Random plans: up to three levels of called recipes, each a sequence or a machine. A sequence has
//! 2 to 30 steps, groups, hooks, conditions, tolerated failures, `once`, timeouts, tags, JSON that
//! is asked for twice, recovery, staging; machines are in `random_machine.rs`. A new kind of job is added
//! to `step`.

use super::random_machine;
use super::random_numbers::Random;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use towpath_recipe::{MachineOptions, Plan, PlannedRecipe, Program, Tags};

/// A plan of sequences or, `with_machines`, of both kinds of recipe.
pub fn generate(random: &mut Random, with_machines: bool) -> Arc<Program> {
    let levels = 1 + random.below(3);
    let mut size = 2 + random.below(29);
    if levels > 1 {
        size = 2 + random.below(14);
    }
    let machines: Vec<bool> = (0..levels).map(|_| with_machines && random.one_in(2)).collect();
    let callee = |level: usize| (level + 1 < levels).then(|| format!("level{}", level + 1));
    let mut planned = Vec::new();
    for level in (0..levels).rev() {
        let callee = callee(level);
        let name = format!("level{level}");
        let text = if machines[level] {
            machine_text(random, level, &name, 'm', callee.as_deref())
        } else {
            let steps = if level == 0 { size } else { 2 + random.below(5) };
            recipe(random, level, steps, callee.as_deref())
        };
        planned.push((name, level, text));
    }
    planned.reverse();
    for level in (0..levels).filter(|level| machines[*level]) {
        let text = machine_text(random, level, &twin(level), 't', callee(level).as_deref());
        planned.push((twin(level), level, text));
    }
    let indices: BTreeMap<String, usize> =
        planned.iter().enumerate().map(|(index, (name, ..))| (name.clone(), index)).collect();
    let recipes = planned.into_iter().map(|(name, level, text)| {
        let known = [callee(level), Some(format!("level{level}")), Some(twin(level))];
        let calls = known.into_iter().flatten().filter_map(|name| {
            let index = *indices.get(&name)?;
            Some((name, index))
        });
        PlannedRecipe { source: name, text, calls: calls.collect(), ..PlannedRecipe::default() }
    });
    let tags = Tags { include: vec!["t0".to_owned()], exclude: Vec::new() };
    let machine = if with_machines { run_options(random) } else { MachineOptions::default() };
    let plan = Plan { recipes: recipes.collect(), tags, machine, ..Plan::default() };
    match plan.clone().load() {
        Ok(program) => Arc::new(program),
        Err(problems) => {
            let messages: Vec<String> = problems.into_iter().map(|p| p.message).collect();
            panic!("the generator wrote a bad plan: {messages:?}\n{}", text_of(&plan))
        }
    }
}

/// The machine that a level's machine may begin again with, instead of itself.
fn twin(level: usize) -> String {
    format!("twin{level}")
}

fn machine_text(
    random: &mut Random,
    level: usize,
    id: &str,
    letter: char,
    callee: Option<&str>,
) -> String {
    let restarts = [format!("level{level}"), twin(level)];
    random_machine::text(
        random,
        &random_machine::Shape { id, letter, level, callee, restarts: &restarts },
    )
}

/// What a user may show about the machines of a run. Restarts are always bounded.
fn run_options(random: &mut Random) -> MachineOptions {
    MachineOptions {
        max_restarts: Some(random.below(6) as u32),
        max_visits: random.one_in(4).then(|| 1 + random.below(4) as u32),
        session: random.one_in(4).then(|| FOREIGN.into()),
        context: random.one_in(2).then(|| CONTEXT.to_owned()),
        ..MachineOptions::default()
    }
}

/// A session that another user began.
pub const FOREIGN: &str = "theirs";
/// What is before the first prompt of each session.
pub const CONTEXT: &str = "what it is about";

pub fn text(program: &Program) -> String {
    text_of(&program.plan)
}

fn text_of(plan: &Plan) -> String {
    plan.recipes.iter().map(|r| format!("--- {}\n{}", r.source, r.text)).collect()
}

fn recipe(random: &mut Random, level: usize, steps: usize, callee: Option<&str>) -> String {
    let mut text = format!("name: level{level}\ncontext:\n  base: b{level}\n");
    if random.one_in(6) {
        let _ = write!(text, "recursion:\n  max_total_steps: {}\n", 1 + random.below(40));
    }
    if random.one_in(8) {
        let _ = write!(text, "recursion:\n  max_depth: {}\n", 1 + random.below(3));
    }
    if text.matches("recursion:").count() > 1 {
        text = text.replacen("recursion:\n", "", 2).replacen(
            "  max_total",
            "recursion:\n  max_total",
            1,
        );
    }
    if random.one_in(3) {
        text.push_str("hooks:\n");
        for hook in ["pre_step", "post_step", "on_error"] {
            let _ = writeln!(text, "  {hook}: 'echo {hook} {{{{step_id}}}} {{{{base}}}}'");
        }
    }
    text.push_str("steps:\n");
    let mut group = 0;
    let mut left = 0;
    let mut before: Vec<String> = Vec::new();
    let mut batch: Vec<String> = Vec::new();
    for index in 0..steps {
        if left == 0 {
            before.append(&mut batch);
            if random.one_in(5) && steps - index > 2 {
                group += 1;
                left = 2 + random.below(4);
            }
        }
        let id = format!("s{index}");
        step(random, &mut text, &id, &before, callee);
        if left > 0 {
            let _ = writeln!(text, "    parallel_group: g{group}");
            left -= 1;
        }
        batch.push(id);
    }
    text
}

fn step(random: &mut Random, text: &mut String, id: &str, before: &[String], callee: Option<&str>) {
    let _ = writeln!(text, "  - id: {id}");
    let reads = before.get(random.below(before.len().max(1))).cloned();
    let read = reads.as_deref().map_or("none".to_owned(), |name| format!("{{{{{name}}}}}"));
    match (random.below(10), callee) {
        (0..3, Some(callee)) => {
            let _ = writeln!(text, "    recipe: {callee}\n    context:\n      handed: \"{read}\"");
            if random.one_in(6) {
                text.push_str("    timeout: 5\n");
            }
            if random.one_in(3) {
                text.push_str("    recovery_on_failure: true\n");
            }
        }
        (3..5, _) => {
            let _ = writeln!(text, "    prompt: \"do {read} with {{{{base}}}}\"");
            match random.below(6) {
                0 | 1 => text.push_str("    parse_json: true\n"),
                2 => text.push_str("    parse_json_required: true\n"),
                3 => text.push_str("    auto_stage: false\n"),
                _ => {}
            }
        }
        _ => {
            let _ = writeln!(text, "    command: echo {read} {{{{base}}}}");
            if random.one_in(5) {
                text.push_str("    effect: once\n");
            }
            if random.one_in(6) {
                text.push_str("    timeout: 3\n");
            }
        }
    }
    if random.one_in(3) {
        text.push_str("    continue_on_error: true\n");
    }
    if random.one_in(9) {
        let _ = writeln!(text, "    when_tags: [t{}]", random.below(2));
    }
    if let Some(name) = reads.filter(|_| random.one_in(4)) {
        let condition = match random.below(4) {
            0 => format!("'out' in str({name})"),
            1 => format!("steps.{name}.status == 'completed'"),
            2 => format!("steps.{name}.status != 'skipped'"),
            // A type error when the value is no string, such as a called recipe's map.
            _ => format!("{name}.startswith('out')"),
        };
        let _ = writeln!(text, "    condition: \"{condition}\"");
    }
}
