//! A plan as the user reads it before agreeing: every command, prompt and default value of every
//! recipe, whole. Nothing is shortened and nothing can hide: invisible characters, and those that
//! change the order of a line, are written out.

use towpath_core::Value;
use towpath_recipe::{Hooks, Program, Recipe, RequiredProgram, Step, ValueTemplate, Work};

pub fn program(program: &Program) -> String {
    let mut text = String::new();
    for (planned, recipe) in program.plan.recipes.iter().zip(&program.recipes) {
        text.push_str(&format!("{} ({})\n", visible(&recipe.name), visible(&planned.source)));
        for (name, value) in &recipe.context {
            text.push_str(&format!("  {} = {}\n", visible(name), visible(&value.to_string())));
        }
        requires("  ", &recipe.requires, &mut text);
        hooks(&recipe.hooks, &mut text);
        steps(recipe, &mut text);
        text.push('\n');
    }
    for (name, agent) in &program.plan.agents {
        text.push_str(&format!("agent {name} ({})\n", visible(&agent.source)));
        // What comes with the program is known; what was found is shown whole.
        if agent.path.is_some() {
            block(&agent.text, &mut text);
        }
        text.push('\n');
    }
    text
}

/// What agents may do, which no prompt shows.
pub const AGENTS: &str = "Agents run with all permissions, unless their step sets a `mode`: they can run \
    any command and change any file. After an agent step of a step recipe that ends well, what it changed \
    is staged in git (`git add`), unless `auto_stage: false` is set; nothing is committed.";

pub fn asks_agents(program: &Program) -> bool {
    let mut steps = program.recipes.iter().flat_map(|recipe| &recipe.steps);
    steps.any(|step| matches!(step.work, Work::Agent(_)))
}

fn requires(indent: &str, programs: &[RequiredProgram], text: &mut String) {
    for program in programs {
        text.push_str(&format!("{indent}requires {}\n", program.requirement));
    }
}

fn hooks(hooks: &Hooks, text: &mut String) {
    let named = [
        ("before each step", &hooks.pre_step),
        ("after each step that succeeds", &hooks.post_step),
        ("after each step that fails", &hooks.on_error),
    ];
    for (when, hook) in named {
        if let Some(hook) = hook {
            text.push_str(&format!("  {when}, bash:\n"));
            block(hook.text(), text);
        }
    }
}

fn steps(recipe: &Recipe, text: &mut String) {
    for step in &recipe.steps {
        match &step.work {
            Work::Bash { command } => {
                let notes = recipe.command_options(step).notes();
                let notes: String = notes.map(|note| format!(" {note}")).collect();
                text.push_str(&format!("  {}, bash{}{notes}:\n", step.id, directory(step)));
                block(command.text(), text);
            }
            Work::Agent(agent) => {
                let who = agent.agent.as_ref().map_or(String::new(), |a| format!(" {}", a.name));
                text.push_str(&format!("  {}, agent{who}{}:\n", step.id, directory(step)));
                block(agent.prompt.source(), text);
                let document = agent.document.iter();
                for file in document.flat_map(|document| document.set.files.iter().skip(1)) {
                    let source = &file.document.source;
                    text.push_str(&format!("    imports {}:\n", visible(&source.name)));
                    block(&source.text, text);
                }
            }
            Work::Recipe { name, .. } => {
                let name = visible(name);
                text.push_str(&format!("  {}, calls {name}{}\n", step.id, directory(step)));
            }
        }
        for (name, value) in &step.context {
            let value = visible(&value_of(value).to_string());
            text.push_str(&format!("      with {} = {value}\n", visible(name)));
        }
        requires("      ", &step.requires, text);
    }
}

fn directory(step: &Step) -> String {
    let directory = step.working_dir.as_ref();
    directory.map_or(String::new(), |d| format!(" in {}", visible(d.source())))
}

pub fn block(body: &str, text: &mut String) {
    for line in body.trim_end().split('\n') {
        text.push_str(&format!("      {}\n", visible(line)));
    }
}

/// A value with its templates as they are written.
fn value_of(template: &ValueTemplate) -> Value {
    match template {
        ValueTemplate::Plain(value) => value.clone(),
        ValueTemplate::Text(text) => text.source().into(),
        ValueTemplate::List(items) => items.iter().map(value_of).collect(),
        ValueTemplate::Map(items) => {
            Value::Object(items.iter().map(|(k, v)| (k.clone(), value_of(v))).collect())
        }
    }
}

/// Text in which nothing hides.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if hides(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Control characters, characters without width, and those that change the writing direction.
fn hides(c: char) -> bool {
    let direction = matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2066}'..='\u{2069}');
    let unseen = matches!(c, '\u{00ad}' | '\u{180e}' | '\u{200b}'..='\u{200d}')
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
        || matches!(c, '\u{e0000}'..='\u{e007f}');
    (c.is_control() && c != '\t') || direction || unseen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hides() {
        assert_eq!(
            visible("rm \u{202e}x\u{200b}\u{1b}[2K\r"),
            r"rm \u{202e}x\u{200b}\u{1b}[2K\u{d}"
        );
        assert_eq!(visible("a\té…日"), "a\té…日");
    }
}
