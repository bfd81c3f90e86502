//! `towpath explain`: what a recipe is made of, described from its text: what it extends and calls,
//! its inputs, hooks and steps, and which steps the tags leave out; a state machine is drawn. Nothing
//! is started, filled in or evaluated: a condition is shown; `towpath run --dry-run` evaluates it.

mod state_machine;

use super::Execute;
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, Exit};
use crate::session::called_as::{CalledAs, resolved_to_look};
use crate::session::choose_agent::{self, AgentFlags};
use crate::session::request_flags::RequestFlags;
use crate::session::resolve_recipe::show_problems;
use crate::session::state_machine_flags::LimitFlags;
use crate::session::trust;
use crate::terminal::format::{clean, count, duration};
use crate::terminal::screen::{Screen, Tint};
use crate::terminal::table::{Cell, Table};
use crate::terminal::{diagnostics, out};
use std::collections::BTreeSet;
use std::ops::Range;
use towpath_core::{Diagnostic, Map, text_of};
use towpath_recipe::{Effect, Origin, ParseJson, Program, Recipe, Step, Work};
use towpath_view::chart::{Chart, mermaid, svg};
use towpath_view::foreign_text::first_line;
use towpath_view::recipe_json::recipe_json;
use towpath_view::{RunBounds, callee, hooks, required, step_line, transition_text};

/// Show what a recipe would do, without running it.
///
/// Example: towpath explain review-and-commit --format svg > review.svg
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The recipe, by file or by name.
    pub recipe: String,
    #[command(flatten)]
    pub request: RequestFlags,
    #[command(flatten)]
    pub limits: LimitFlags,
    /// The output format.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ExplainFormat::Text)]
    pub format: ExplainFormat,
    /// Same as --format json.
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ExplainFormat {
    /// For the terminal; a state machine is drawn.
    #[default]
    Text,
    /// A Mermaid diagram, as GitHub shows it in Markdown.
    Mermaid,
    /// An SVG image that loads nothing else.
    Svg,
    /// One JSON object.
    Json,
}

impl Args {
    pub fn is_json(&self) -> bool {
        self.json || self.format == ExplainFormat::Json
    }
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let (program, origin, problems) = program(env, self)?;
        let untrusted = trust::needs_consent(env, &program, origin)?;
        if self.is_json() {
            let problems: Vec<Diagnostic> = problems.iter().map(diagnostics::with_flags).collect();
            out::json(&recipe_json(&program, origin, !untrusted, &problems));
            return Ok(Exit::Done);
        }
        let write = match self.format {
            ExplainFormat::Mermaid => Some(mermaid::write as fn(&Chart) -> String),
            ExplainFormat::Svg => Some(svg::write as _),
            ExplainFormat::Text | ExplainFormat::Json => None,
        };
        if let Some(write) = write {
            out::line(write(&Chart::of(&program)).trim_end());
            return Ok(Exit::Done);
        }
        let screen = Screen::new(env);
        match program.root().machine() {
            Some(_) => state_machine::print(&program, &screen),
            None => print(&program, &screen),
        }
        if untrusted {
            let argument = trust::ConsentSubject::of_program(&program).argument(env);
            out::line(format!("Not trusted yet; to trust it: towpath trust {argument}"));
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.is_json()
    }
}

/// The recipe and all it calls, read and checked.
fn program(
    env: &Environment,
    args: &Args,
) -> Result<(Program, Origin, Vec<Diagnostic>), CommandError> {
    let here = args.request.here(env)?;
    let mut request = args.request.request(env, &here, &args.recipe)?;
    args.limits.over(&mut request.run_options.machine);
    let mut resolved = resolved_to_look(env, &request, CalledAs::Towpath)?;
    if let Some(program) = &resolved.program {
        let flags = AgentFlags::default();
        resolved.problems.extend(choose_agent::unknown_modes(&here.settings, &flags, program)?);
    }
    show_problems(&resolved.problems, &args.recipe, env, args.is_json())?;
    match resolved.program {
        Some(program) => {
            args.limits.refuse_for(&program)?;
            Ok((program, resolved.origin, resolved.problems))
        }
        None => Err(CommandError::bad_input(format!("{} cannot be explained", args.recipe))),
    }
}

fn print(program: &Program, screen: &Screen) {
    let root = program.root();
    let source = clean(&program.plan.recipes[0].source);
    out::line(format!("{} {} ({source})", clean(&root.name), clean(&root.version)));
    for line in root.description.lines().filter(|line| !line.trim().is_empty()) {
        out::line(format!("  {}", clean(line.trim())));
    }
    if let Some(parent) = program.plan.recipes[0].extends {
        let parent = &program.plan.recipes[parent];
        out::line(format!("  extends {}", clean(&parent.source)));
    }
    print_inputs(root, &program.plan.inputs, screen);
    print_required(program, screen);
    print_hooks(root, screen);
    out::line("\nsteps");
    let mut table = Table::plain(2);
    let mut listed = BTreeSet::from([0]);
    rows(program, 0, 0, &mut listed, &mut table);
    table.print(screen);
    let RunBounds { depth, steps, counts_machines } = RunBounds::of(program);
    let steps = steps.map_or(String::new(), |steps| {
        let machines = program.recipes.iter().any(|recipe| recipe.machine().is_some());
        let besides =
            if machines && !counts_machines { " besides those of state machines" } else { "" };
        format!("at most {}{besides}, ", count(steps as usize, "step"))
    });
    out::line(format!("\n{steps}recipes at most {depth} deep. Nothing was run."));
}

/// The value comes last: a long one would push what is behind it out of sight.
fn print_inputs(root: &Recipe, set: &Map, screen: &Screen) {
    let mut table = Table::plain(2);
    for (name, value) in &root.context {
        let (value, from) = match set.get(name) {
            Some(value) => (value, "set"),
            None => (value, "default"),
        };
        table.row(vec![name.into(), Cell::tinted(from, Tint::Dim), text_of(value).into()]);
    }
    let given = |name: &str| root.context.contains_key(name) || set.contains_key(name);
    let open = root.required_context.iter().filter(|name| !given(name));
    for name in open.clone() {
        table.row(vec![name.into(), Cell::tinted("required", Tint::Dim)]);
    }
    for (name, value) in set.iter().filter(|(name, _)| !root.context.contains_key(*name)) {
        table.row(vec![name.into(), Cell::tinted("set", Tint::Dim), text_of(value).into()]);
    }
    if !root.context.is_empty() || !set.is_empty() || open.count() > 0 {
        out::line("\ninputs");
        table.print(screen);
    }
}

/// The programs that must be there before the run starts, and what requires them.
fn print_required(program: &Program, screen: &Screen) {
    let required = program.requirements();
    if required.is_empty() {
        return;
    }
    out::line("\nrequires");
    let mut table = Table::plain(2);
    for requirement in required {
        let by: Vec<String> = requirement.required_by.iter().map(ToString::to_string).collect();
        let by = Cell::tinted(first_line(&by.join(", ")), Tint::Dim);
        table.row(vec![requirement.to_string().into(), by]);
    }
    table.print(screen);
}

fn print_hooks(root: &Recipe, screen: &Screen) {
    let hooks = hooks(root);
    if hooks.is_empty() {
        return;
    }
    out::line("\nhooks");
    let mut table = Table::plain(2);
    for (name, text) in hooks {
        table.row(vec![name.into(), text.into()]);
    }
    table.print(screen);
}

/// The steps of a recipe, each called recipe below its first call.
fn rows(
    program: &Program,
    recipe: usize,
    depth: usize,
    listed: &mut BTreeSet<usize>,
    table: &mut Table,
) {
    let steps = &program.recipes[recipe].steps;
    for batch in program.recipes[recipe].batches() {
        let group = batch.len() > 1;
        for index in batch.clone() {
            let step = &steps[index];
            let bracket = match (group, index) {
                (false, _) => "",
                (true, at) if at == batch.start => "┌ ",
                (true, at) if at + 1 == batch.end => "└ ",
                (true, _) => "│ ",
            };
            let mut notes = notes(program, recipe, index, batch);
            let callee = callee(program, recipe, step);
            let again = callee.is_some_and(|callee| !listed.insert(callee));
            if again {
                notes.push("its steps: see above".to_owned());
            }
            table.row(vec![
                Cell::own(format!("{}{bracket}{}", "  ".repeat(depth), step.id), Tint::None),
                Cell::tinted(step.work.kind().as_str(), Tint::Dim),
                step_line(step).into(),
            ]);
            if !notes.is_empty() {
                let indent = "  ".repeat(depth + 2);
                table.below(format!("{indent}{}", notes.join(" · ")), Tint::Dim);
            }
            if let Some(callee) = callee.filter(|_| !again) {
                rows(program, callee, depth + 1, listed, table);
            }
        }
    }
}

/// What follows when a step is skipped: the next step, or the group that it begins.
fn after(steps: &[Step], batch: &Range<usize>) -> String {
    let Some(next) = steps.get(batch.end) else { return "end".to_owned() };
    let opens_group = |name: &String| {
        steps.get(batch.end + 1).is_some_and(|other| other.parallel_group.as_ref() == Some(name))
    };
    match next.parallel_group.as_ref().filter(|name| opens_group(name)) {
        Some(name) => format!("group {}", first_line(name)),
        None => first_line(&next.id),
    }
}

fn notes(program: &Program, recipe: usize, index: usize, batch: &Range<usize>) -> Vec<String> {
    let steps = &program.recipes[recipe].steps;
    let (step, opens_group) = (&steps[index], batch.len() > 1 && index == batch.start);
    let mut notes = Vec::new();
    for outcome in &step.outcomes {
        let target = transition_text(&program.recipes[recipe], &outcome.then);
        notes.push(format!("{} → {target}", first_line(&outcome.name)));
    }
    if let (true, Some(name)) = (opens_group, &step.parallel_group) {
        notes.push(format!("group {}: these run at the same time", first_line(name)));
    }
    if let Some(condition) = &step.condition {
        let round = match &step.parallel_group {
            None => format!(", else → {}", after(steps, batch)),
            Some(_) => String::new(),
        };
        notes.push(format!("if {}{round}", first_line(condition.text())));
    }
    if !step.when_tags.is_empty() {
        let tags = &program.plan.tags;
        notes.push(match tags.against(step) {
            Some(why) if tags.is_empty() => first_line(&why),
            Some(why) => format!("left out: {}", first_line(&why)),
            None => format!("tag {}", first_line(&step.when_tags.join(" or "))),
        });
    }
    if step.source.name != program.recipes[recipe].source.name {
        notes.push(format!("from {}", first_line(&step.source.name)));
    }
    if let Work::Agent(agent) = &step.work {
        notes.extend(agent.agent.as_ref().map(|a| format!("as {}", first_line(&a.name))));
        notes.extend(agent.model.as_ref().map(|m| format!("model {}", first_line(m))));
        notes.extend(agent.mode.as_ref().map(|m| format!("mode {}", first_line(&m.name))));
    }
    if let Some(directory) = &step.working_dir {
        notes.push(format!("in {}", first_line(directory.source())));
    }
    if let Some(timeout) = step.timeout {
        let ms = i64::try_from(timeout.as_millis()).unwrap_or(i64::MAX);
        notes.push(format!("at most {}", duration(ms)));
    }
    if step.continue_on_error {
        notes.push("may fail".to_owned());
    }
    match step.parse_json {
        ParseJson::No => {}
        ParseJson::Wanted => notes.push("takes JSON out of its output".to_owned()),
        ParseJson::Required => notes.push("fails without JSON in its output".to_owned()),
    }
    if let Work::Recipe { recovery: true, .. } = &step.work {
        notes.push("an agent finishes its work when it fails".to_owned());
    }
    if step.effect == Effect::Once {
        notes.push("once: asks before it runs again".to_owned());
    }
    notes.extend(program.recipes[recipe].command_options(step).notes().map(str::to_owned));
    if !step.requires.is_empty() {
        notes.push(format!("requires {}", required(&step.requires).join(", ")));
    }
    if let Some(output) = &step.output {
        notes.push(format!("output {output}"));
    }
    notes
}
