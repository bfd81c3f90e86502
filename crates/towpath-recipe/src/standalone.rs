//! A machine written out as one YAML file that includes nothing, for users to change. Read again,
//! it is the same machine; comments and the way its steps were shared are not kept.

use crate::builtin_recipes::{builtin, is_builtin_machine};
use crate::include_files::IncludeFiles;
use crate::read::{ReadContext, read, read_in_context};
use crate::recipe::{
    Effect, Ending, Guardrails, Machine, Outcome, Recipe, RequiredProgram, Step, Transition,
    ValueTemplate, Work,
};
use crate::step_options::StepOptions;
use std::borrow::Cow;
use std::fmt::Write as _;
use towpath_core::{Map, Source, Value};

/// The text of a machine with all its steps in it; none for a step recipe.
pub fn standalone(recipe: &Recipe) -> Option<String> {
    let machine = recipe.machine()?;
    let mut page = Page { text: String::new() };
    page.head(recipe, machine);
    page.line(0, "steps:");
    for step in &recipe.steps {
        page.step(recipe, step);
    }
    Some(page.text)
}

/// A built-in recipe as one file that needs no other beside it.
pub fn builtin_alone(name: &str) -> Option<Cow<'static, str>> {
    let text = builtin(name)?;
    if !is_builtin_machine(name) || read(&Source::new(name, text)).recipe.is_some() {
        return Some(Cow::Borrowed(text));
    }
    let files = |path: &str| IncludeFiles::BuiltIn.file(path);
    let inputs = Map::new();
    let beside = ReadContext::of_files(&files, &inputs);
    let machine = read_in_context(&Source::new(name, text), &beside).recipe?;
    standalone(&machine).map(Cow::Owned)
}

struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, depth: usize, text: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{:1$}{text}", "", depth * 2);
    }

    fn field(&mut self, depth: usize, name: &str, value: &Value) {
        match value {
            Value::String(text) if text.contains('\n') && fits_block(text) => {
                self.block(depth, name, text);
            }
            value => self.line(depth, &format!("{name}: {}", written(value))),
        }
    }

    fn block(&mut self, depth: usize, name: &str, text: &str) {
        let chomp = match (text.ends_with("\n\n"), text.ends_with('\n')) {
            (true, _) => "+",
            (_, true) => "",
            _ => "-",
        };
        self.line(depth, &format!("{name}: |{chomp}"));
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            match line {
                "" => self.text.push('\n'),
                line => self.line(depth + 1, line),
            }
        }
    }

    fn texts(&mut self, depth: usize, fields: &[(&str, &str)]) {
        for (name, text) in fields {
            self.field(depth, name, &Value::String((*text).to_owned()));
        }
    }

    fn head(&mut self, recipe: &Recipe, machine: &Machine) {
        self.texts(
            0,
            &[
                ("id", &recipe.name),
                ("label", &machine.label),
                ("description", &recipe.description),
                ("initialStep", &recipe.steps[machine.initial].id),
            ],
        );
        if let Some(model) = &machine.model {
            self.texts(0, &[("model", model)]);
        }
        let Guardrails { max_step_visits, max_total_steps, exit_on_other } = machine.guardrails;
        self.line(0, "guardrails:");
        self.line(1, &format!("maxStepVisits: {max_step_visits}"));
        self.line(1, &format!("maxTotalSteps: {max_total_steps}"));
        self.line(1, &format!("exitOnOther: {exit_on_other}"));
        self.values(0, &recipe.context);
        self.requires(0, &recipe.requires);
        self.options(0, recipe.options);
    }

    fn options(&mut self, depth: usize, options: StepOptions) {
        let options = serde_json::to_value(options).expect("options can be written");
        for (name, value) in options.as_object().into_iter().flatten() {
            self.field(depth, name, value);
        }
    }

    fn requires(&mut self, depth: usize, programs: &[RequiredProgram]) {
        if !programs.is_empty() {
            let programs = programs.iter().map(|program| quoted(&program.requirement.to_string()));
            self.line(depth, &format!("requires: [{}]", programs.collect::<Vec<_>>().join(", ")));
        }
    }

    fn values(&mut self, depth: usize, context: &Map) {
        if context.is_empty() {
            return;
        }
        self.line(depth, "context:");
        for (name, value) in context {
            self.field(depth + 1, &quoted(name), value);
        }
    }

    fn step(&mut self, recipe: &Recipe, step: &Step) {
        self.line(1, &format!("{}:", quoted(&step.id)));
        match &step.work {
            Work::Agent(agent) => {
                if let Some(model) = &agent.model {
                    self.texts(2, &[("model", model)]);
                }
                self.texts(2, &[("prompt", agent.prompt.source())]);
            }
            Work::Bash { command } => self.texts(2, &[("command", command.text())]),
            Work::Recipe { name, .. } => self.texts(2, &[("recipe", name)]),
        }
        let context = step.context.iter().map(|(name, value)| (name.clone(), template(value)));
        self.values(2, &context.collect());
        if let Some(directory) = &step.working_dir {
            self.texts(2, &[("working_dir", directory.source())]);
        }
        if let Some(output) = &step.output {
            self.texts(2, &[("output", output)]);
        }
        if let Some(timeout) = step.timeout {
            self.line(2, &format!("timeout: {}", timeout.as_secs_f64()));
        }
        if step.effect == Effect::Once {
            self.line(2, "effect: once");
        }
        self.requires(2, &step.requires);
        self.options(2, step.options);
        let names = step.outcomes.iter().map(|outcome| quoted(&outcome.name));
        self.line(2, &format!("outcomes: [{}]", names.collect::<Vec<_>>().join(", ")));
        self.line(2, "onOutcome:");
        for Outcome { name, then } in &step.outcomes {
            let then = match then {
                Transition::Next(index) => {
                    format!("nextStep: {}", quoted(&recipe.steps[*index].id))
                }
                Transition::Exit { reason, ending } => {
                    let action = if *ending == Ending::Fail { "fail" } else { "exit" };
                    let success = match ending {
                        Ending::Fail => "",
                        stated if *stated == Ending::unstated(name) => "",
                        Ending::Success => ", success: true",
                        Ending::Failure => ", success: false",
                        Ending::Ask => ", success: ask",
                    };
                    format!("action: {action}, reason: {}{success}", quoted(reason))
                }
                Transition::Restart { recipe, .. } => {
                    format!("action: restart-new-session, recipeId: {}", quoted(recipe))
                }
            };
            self.line(3, &format!("{}: {{ {then} }}", quoted(name)));
        }
    }
}

/// A value with its placeholders as they were written.
fn template(value: &ValueTemplate) -> Value {
    match value {
        ValueTemplate::Plain(value) => value.clone(),
        ValueTemplate::Text(text) => Value::String(text.source().to_owned()),
        ValueTemplate::List(items) => items.iter().map(template).collect(),
        ValueTemplate::Map(items) => {
            let items = items.iter().map(|(key, item)| (key.clone(), template(item)));
            Value::Object(items.collect())
        }
    }
}

/// Whether a text can be written as a block and be read back the same.
fn fits_block(text: &str) -> bool {
    let plain = |c: char| {
        c == '\n' || !(c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}'))
    };
    !text.starts_with([' ', '\n']) && text.chars().all(plain)
}

fn written(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        // JSON is YAML too.
        value => value.to_string(),
    }
}

/// A text as YAML reads it back: quoted unless it is plainly words.
fn quoted(text: &str) -> String {
    let special = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let words = text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(inside);
    match words && !special.contains(&text.to_ascii_lowercase().as_str()) {
        true => text.to_owned(),
        false => Value::String(text.to_owned()).to_string(),
    }
}
