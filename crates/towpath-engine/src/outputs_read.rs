//! Which outputs a plan reads: what nothing reads can stay on disk.

use std::collections::BTreeSet;
use towpath_core::{JobKey, JobKind};
use towpath_recipe::{ParseJson, Program, Step, ValueTemplate, Work};
use towpath_shell::ShellText;

/// The names that anything in a plan reads. Large outputs that nothing reads stay on disk.
#[derive(Debug, Default)]
pub(crate) struct OutputsRead {
    names: BTreeSet<String>,
    outputs: BTreeSet<(String, String)>,
    /// Steps whose output is looked at for JSON, or is in the result of a recipe that is read.
    whole: BTreeSet<String>,
    /// Steps of machines, whose output may end with an outcome.
    reporting: BTreeSet<String>,
}

impl OutputsRead {
    pub fn of(program: &Program) -> OutputsRead {
        let mut reads = OutputsRead::default();
        reads.add(program);
        reads
    }

    /// Adds what this program reads.
    pub fn add(&mut self, program: &Program) {
        for recipe in &program.recipes {
            let hooks = [&recipe.hooks.pre_step, &recipe.hooks.post_step, &recipe.hooks.on_error];
            hooks.into_iter().flatten().for_each(|hook| self.command(hook));
            recipe.steps.iter().for_each(|step| self.step(step));
        }
        let called = self.results_read(program);
        let steps = called.iter().flat_map(|recipe| &program.recipes[*recipe].steps);
        self.whole.extend(steps.map(|step| step.id.clone()));
    }

    fn step(&mut self, step: &Step) {
        let condition = step.condition.iter().flat_map(towpath_recipe::condition::Condition::names);
        condition.for_each(|name| self.path(name.path.as_str()));
        let directory = step.working_dir.iter().flat_map(towpath_core::Template::placeholders);
        directory.for_each(|placeholder| self.path(placeholder.path.as_str()));
        step.context.iter().for_each(|(_, value)| self.value(value));
        match &step.work {
            Work::Bash { command } => self.command(command),
            Work::Agent(agent) => {
                agent.prompt.placeholders().for_each(|p| self.path(p.path.as_str()));
                let document = agent.document.iter();
                let names = document.flat_map(|document| document.set.free_references());
                names.for_each(|name| self.path(name.path.as_str()));
            }
            Work::Recipe { .. } => {}
        }
        if step.parse_json != ParseJson::No {
            self.whole.insert(step.id.clone());
        }
        if !step.outcomes.is_empty() {
            self.reporting.insert(step.id.clone());
        }
        if let Some(output) = &step.output {
            self.outputs.insert((step.id.clone(), output.clone()));
        }
    }

    /// The recipes whose result is read under the name of the step that called them, and those that
    /// they call in turn: any of their outputs may be in it.
    fn results_read(&self, program: &Program) -> BTreeSet<usize> {
        let mut called = BTreeSet::new();
        let mut grew = true;
        while std::mem::take(&mut grew) {
            for (index, recipe) in program.recipes.iter().enumerate() {
                for step in &recipe.steps {
                    if let Work::Recipe { name, .. } = &step.work
                        && (called.contains(&index) || self.reads(&step.id))
                        && let Some(callee) = program.callee(index, name)
                    {
                        grew |= called.insert(callee);
                    }
                }
            }
        }
        called
    }

    /// Whether the output of a step may be read.
    fn reads(&self, step: &str) -> bool {
        self.whole.contains(step)
            || self.reporting.contains(step)
            || self.names.contains(step)
            || self.outputs.iter().any(|(id, name)| id == step && self.names.contains(name))
    }

    fn command(&mut self, command: &ShellText) {
        command.placeholders().iter().for_each(|p| self.path(p.path.as_str()));
        for variable in command.recipe_variables() {
            self.path(variable.path.as_str());
            variable.exact().iter().for_each(|path| self.path(path.as_str()));
        }
    }

    fn path(&mut self, path: &str) {
        self.names.extend(path.split('.').map(str::to_owned));
    }

    fn value(&mut self, value: &ValueTemplate) {
        match value {
            ValueTemplate::Plain(_) => {}
            ValueTemplate::Text(text) => {
                text.placeholders().for_each(|p| self.path(p.path.as_str()));
            }
            ValueTemplate::List(items) => items.iter().for_each(|i| self.value(i)),
            ValueTemplate::Map(items) => items.iter().for_each(|(_, v)| self.value(v)),
        }
    }

    /// Whether an outcome is looked for in the output of a job.
    pub fn reports(&self, key: &JobKey) -> bool {
        key.kind.is_work() && self.reporting.contains(&key.step)
    }

    /// Whether the output of a job may be read as a value.
    pub fn wants(&self, key: &JobKey) -> bool {
        matches!(key.kind, JobKind::Snapshot | JobKind::GitAdd | JobKind::Document)
            || self.reads(&key.step)
    }
}
