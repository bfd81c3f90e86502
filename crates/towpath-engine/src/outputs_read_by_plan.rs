//! Which outputs a plan reads: what nothing reads can stay on disk.

use std::collections::BTreeSet;
use towpath_core::{JobKey, JobKind};
use towpath_recipe::{ParseJson, Program, ValueTemplate, Work};
use towpath_shell::ShellText;

/// The names that anything in a plan reads. Large outputs that nothing reads stay on disk.
#[derive(Debug, Default)]
pub(crate) struct OutputsRead {
    names: BTreeSet<String>,
    outputs: BTreeSet<(String, String)>,
    /// Steps whose output is looked at for JSON.
    parsed: BTreeSet<String>,
    /// Steps of machines, whose output may end with an outcome.
    reporting: BTreeSet<String>,
}

impl OutputsRead {
    pub fn of(program: &Program) -> OutputsRead {
        let mut reads = OutputsRead::default();
        for recipe in &program.recipes {
            let hooks = [&recipe.hooks.pre_step, &recipe.hooks.post_step, &recipe.hooks.on_error];
            for hook in hooks.into_iter().flatten() {
                reads.command(hook);
            }
            for step in &recipe.steps {
                for name in
                    step.condition.iter().flat_map(towpath_recipe::condition::Condition::names)
                {
                    reads.path(name.path.as_str());
                }
                for placeholder in
                    step.working_dir.iter().flat_map(towpath_core::Template::placeholders)
                {
                    reads.path(placeholder.path.as_str());
                }
                for (_, value) in &step.context {
                    reads.value(value);
                }
                match &step.work {
                    Work::Bash { command } => reads.command(command),
                    Work::Agent(agent) => {
                        agent.prompt.placeholders().for_each(|p| reads.path(p.path.as_str()));
                        let document = agent.document.iter();
                        let names = document.flat_map(|document| document.set.free_references());
                        names.for_each(|name| reads.path(name.path.as_str()));
                    }
                    // The called recipe's last output may be read under this step's name.
                    Work::Recipe { .. } => {}
                }
                if step.parse_json != ParseJson::No {
                    reads.parsed.insert(step.id.clone());
                }
                if !step.outcomes.is_empty() {
                    reads.reporting.insert(step.id.clone());
                }
                if let Some(output) = &step.output {
                    reads.outputs.insert((step.id.clone(), output.clone()));
                }
            }
        }
        reads
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
        let step = key.step.as_str();
        matches!(key.kind, JobKind::Snapshot | JobKind::GitAdd | JobKind::Document)
            || self.parsed.contains(step)
            || self.reports(key)
            || self.names.contains(step)
            || self.outputs.iter().any(|(id, name)| id == step && self.names.contains(name))
            // A last step's output is its recipe's, so any read recipe output may be it.
            || self.outputs.iter().any(|(_, name)| self.names.contains(name))
    }
}
