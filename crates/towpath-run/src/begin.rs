//! How a step begins: its condition, the limits, its hook, and the job that is its work.

use crate::frame::{Before, Frame, FrameState, Phase, StepAt};
use crate::happening::Happening;
use crate::job::{AgentJob, HOOK_TIMEOUT, Job, JobWork, NON_INTERACTIVE_FOOTER};
use crate::outcome::{Failure, FailureKind, StepResult, StepStatus};
use crate::run::Run;
use std::time::Duration;
use towpath_core::{JobKey, JobKind, Map, Template, VarPath, lookup, text_of};
use towpath_recipe::{AgentWork, Recursion, Work, missing};
use towpath_shell::{RecipeVariable, ShellText};

/// A job's work, and the variables of its environment.
pub(crate) type FilledWork = (JobWork, Vec<(String, String)>);

/// What the tags and the condition say about a step.
pub(crate) enum Verdict {
    Run,
    Skip(String),
    Fail(Failure),
}

/// Variables in front of a frame's context.
pub(crate) struct Scope<'a> {
    pub extra: Map,
    pub frame: &'a Frame,
}

impl Scope<'_> {
    fn get(&self, path: &VarPath) -> Option<&towpath_core::Value> {
        lookup(&self.extra, path).or_else(|| lookup(&self.frame.context, path))
    }

    /// A name whose last output is no value.
    fn unreadable(&self, root: &str) -> Option<Failure> {
        if self.extra.contains_key(root) {
            return None;
        }
        self.frame.unreadable.get(root).map(|len| unreadable(root, *len))
    }

    pub fn render(&self, template: &Template) -> Result<String, Failure> {
        let mut out = String::new();
        for part in template.parts() {
            match part {
                towpath_core::Part::Text(text) => out.push_str(text),
                towpath_core::Part::Place(place) => {
                    if let Some(failure) = self.unreadable(place.path.root()) {
                        return Err(failure);
                    }
                    out.push_str(&self.get(&place.path).map(text_of).unwrap_or_default());
                }
            }
        }
        Ok(out)
    }

    /// The text with its values, and the variables of its environment.
    pub fn fill(&self, text: &ShellText) -> Result<FilledWork, Failure> {
        let places = text.places().iter().map(|p| &p.path);
        let variables = text.recipe_variables().iter().map(|v| &v.path);
        if let Some(failure) = places.chain(variables).find_map(|p| self.unreadable(p.root())) {
            return Err(failure);
        }
        let unfit =
            |e: towpath_shell::FillError| failure(format!("{{{{{}}}}}: {}", e.path, e.message));
        let filled = text.fill(&mut |path| self.get(path).map(text_of)).map_err(unfit)?;
        let mut environment = Vec::new();
        for variable in text.recipe_variables() {
            let value = match self.recipe_variable(variable) {
                Some(value) => text_of(value),
                None if variable.has_default => continue,
                None => String::new(),
            };
            environment.push(variable.set(value).map_err(unfit)?);
        }
        Ok((JobWork::Bash(filled), environment))
    }

    fn recipe_variable(&self, variable: &RecipeVariable) -> Option<&towpath_core::Value> {
        let exact = variable.exact();
        exact.and_then(|path| self.get(&path)).or_else(|| self.get(&variable.path))
    }

    /// The names that a command reads and nothing has set.
    pub fn undefined_in(&self, command: &ShellText) -> Vec<String> {
        let variables = command.recipe_variables().iter();
        let unset = variables
            .filter(|v| !v.has_default && self.recipe_variable(v).is_none())
            .map(|v| &v.path);
        self.undefined(command.places().iter().map(|p| &p.path).chain(unset))
    }

    /// Whether everything that a value is made from can be read.
    pub fn readable(&self, value: &towpath_recipe::ValueTemplate) -> Result<(), Failure> {
        let failed = value_roots(value).iter().find_map(|root| self.unreadable(root));
        failed.map_or(Ok(()), Err)
    }

    fn undefined<'a>(&self, paths: impl Iterator<Item = &'a VarPath>) -> Vec<String> {
        let mut names: Vec<String> =
            paths.filter(|p| self.get(p).is_none()).map(ToString::to_string).collect();
        names.sort();
        names.dedup();
        names
    }
}

fn failure(message: String) -> Failure {
    Failure::new(FailureKind::Value, message)
}

fn unreadable(name: &str, len: u64) -> Failure {
    failure(format!(
        "reads `{name}`, whose output of {len} bytes is too large to be a value: \
         write it to a file and hand on the file's name"
    ))
}

impl Run {
    pub(crate) fn verdict(&self, at: StepAt) -> Verdict {
        let definition = self.step(at);
        if let Some(reason) = self.program.plan.tags.against(definition) {
            return Verdict::Skip(reason);
        }
        let Some(condition) = &definition.condition else { return Verdict::Run };
        let frame = &self.frames[at.frame];
        for name in condition.names() {
            if let Some(len) = frame.unreadable.get(name.path.root()) {
                return Verdict::Fail(unreadable(name.path.root(), *len));
            }
        }
        match condition.holds(&frame.context) {
            Ok(true) => Verdict::Run,
            Ok(false) => Verdict::Skip("condition false".to_owned()),
            Err(error) => Verdict::Fail(failure(format!("condition: {}", error.message))),
        }
    }

    /// A step's entry into its frame.
    pub(crate) fn enter(&mut self, at: StepAt, verdict: Verdict) {
        let progress = self.progress_mut(at);
        let visit = progress.visit + 1;
        *progress = crate::frame::Progress { visit, ..Default::default() };
        self.begin(at, verdict);
    }

    /// Begins a step, at its entry or when it is tried again.
    pub(crate) fn begin(&mut self, at: StepAt, verdict: Verdict) {
        match verdict {
            Verdict::Skip(reason) => {
                self.finish_quietly(at, StepStatus::Skipped { reason });
            }
            Verdict::Fail(failure) => self.fail(at, failure),
            Verdict::Run => match self.count(at) {
                Err(failure) => self.fail(at, failure),
                Ok(()) => self.begin_hook_or_work(at),
            },
        }
    }

    fn finish_quietly(&mut self, at: StepAt, status: StepStatus) {
        let result = StepResult::new(status, crate::fact::Output::None);
        self.settled(at, result, Vec::new());
    }

    fn begin_hook_or_work(&mut self, at: StepAt) {
        let recipe = self.recipe(at.frame);
        match &recipe.hooks.pre_step {
            Some(hook) if !self.progress(at).pre_done => {
                self.progress_mut(at).phase = Phase::PreHook;
                let attempt = self.progress(at).attempts.pre;
                let sent = self.want_hook(at, hook, JobKind::PreHook, attempt, "running", "");
                if !sent {
                    self.begin_work(at);
                }
            }
            _ => self.begin_work(at),
        }
    }

    /// Counts an executed step in every frame around it, if no limit stands against it.
    fn count(&mut self, at: StepAt) -> Result<(), Failure> {
        if self.progress(at).counted {
            return Ok(());
        }
        let stack = self.stack(at.frame);
        let mut stated = self.is_in_machine(&stack);
        for at in &stack {
            let limit = self.recipe(*at).recursion.max_total_steps;
            stated |= limit.is_some();
            if limit.is_some_and(|limit| self.frames[*at].executed >= limit) {
                return Err(over("max_total_steps", limit.unwrap_or_default(), Whose::Stated));
            }
        }
        let default = Recursion::DEFAULT_MAX_TOTAL_STEPS;
        if !stated && self.frames[0].executed.saturating_sub(self.frames[0].in_machines) >= default
        {
            return Err(over("max_total_steps", default, Whose::Default));
        }
        let in_machine = u32::from(self.is_in_machine(&stack));
        for at in stack {
            self.frames[at].executed += 1;
            self.frames[at].in_machines += in_machine;
        }
        self.progress_mut(at).counted = true;
        Ok(())
    }

    /// Whether any of these frames is a machine's, which has limits of its own.
    pub(crate) fn is_in_machine(&self, stack: &[usize]) -> bool {
        stack.iter().any(|at| self.frames[*at].machine.is_some())
    }

    /// Starts the work of a step, or fails it where its values do not fit.
    pub(crate) fn begin_work(&mut self, at: StepAt) {
        self.progress_mut(at).phase = Phase::Work;
        if self.frames[at.frame].state == FrameState::Expiring {
            // What ended just before its time ran out leads to nothing more until somebody resumes.
            return;
        }
        let definition = self.step(at).clone();
        if self.frames[at.frame].machine.is_some() {
            return self.begin_state(at, &definition);
        }
        let mut extra = Map::new();
        let scope = Scope { extra: Map::new(), frame: &self.frames[at.frame] };
        for (name, value) in &definition.context {
            if let Err(failure) = scope.readable(value) {
                return self.fail(at, failure);
            }
            extra.insert(name.clone(), value.render(&self.frames[at.frame].context));
        }
        let directory = match &definition.working_dir {
            None => Ok(self.frames[at.frame].directory.clone()),
            Some(template) => {
                let scope = Scope { extra: extra.clone(), frame: &self.frames[at.frame] };
                scope.render(template).map(|d| join(&self.frames[at.frame].directory, &d))
            }
        };
        let directory = match directory {
            Ok(directory) => directory,
            Err(failure) => return self.fail(at, failure),
        };
        let timeout = self.time_limit(at);
        match &definition.work {
            Work::Bash { command } => {
                let scope = Scope { extra, frame: &self.frames[at.frame] };
                let undefined = scope.undefined_in(command);
                let filled = scope.fill(command);
                self.warn_undefined(at, undefined);
                self.want_work(at, JobKind::Bash, filled, directory, timeout);
            }
            Work::Agent(agent) => {
                let progress = self.progress(at);
                if progress.before == Before::NotAsked && self.stages_files(agent) {
                    return self.want_snapshot(at, directory);
                }
                if progress.answer.is_some() {
                    return self.want_reminder(at, agent, directory);
                }
                let scope = Scope { extra, frame: &self.frames[at.frame] };
                let undefined = scope.undefined(agent.prompt.places().map(|p| &p.path));
                let work = scope.render(&agent.prompt);
                let work = work.map(|text| (self.agent_job(agent, &text), Vec::new()));
                self.warn_undefined(at, undefined);
                self.want_work(at, JobKind::Agent, work, directory, timeout);
            }
            Work::Recipe { name, .. } => self.call(at, name, extra, directory),
        }
    }

    fn agent_job(&self, agent: &AgentWork, prompt: &str) -> JobWork {
        let reference = agent.agent.as_ref();
        let system = reference.and_then(|reference| self.program.agent(&reference.name));
        JobWork::Agent(Box::new(AgentJob {
            prompt: format!("{}\n\n{NON_INTERACTIVE_FOOTER}", prompt.trim_end()),
            model: agent.model.clone(),
            mode: agent.mode.as_ref().map(|mode| mode.name.clone()),
            agent: reference.map(|reference| reference.name.clone()),
            system: system.map(|agent| agent.text.clone()),
            ..AgentJob::default()
        }))
    }

    fn warn_undefined(&mut self, at: StepAt, names: Vec<String>) {
        let path = self.path(at);
        for name in names {
            let message = format!("{{{{{name}}}}} has no value: it is empty");
            self.happenings.push(Happening::Warning { step: Some(path.clone()), message });
        }
    }

    pub(crate) fn want_work(
        &mut self,
        at: StepAt,
        kind: JobKind,
        work: Result<FilledWork, Failure>,
        directory: String,
        timeout: Option<Duration>,
    ) {
        match work {
            Err(failure) => self.fail(at, failure),
            Ok((work, environment)) => {
                let attempt = self.progress(at).attempts.work;
                let key = self.key(at, attempt, kind);
                let job = Job { key, work, directory, timeout, environment };
                self.ready.push((job, at));
            }
        }
    }

    pub(crate) fn key(&self, at: StepAt, attempt: u32, kind: JobKind) -> JobKey {
        JobKey {
            frame: self.frames[at.frame].path.clone(),
            step: self.step(at).id.clone(),
            visit: self.progress(at).visit,
            attempt,
            call: 0,
            kind,
        }
    }

    /// Wants a hook's job. A hook whose values do not fit is a warning, like one that fails.
    #[expect(clippy::too_many_arguments, reason = "a hook is told everything about its step")]
    pub(crate) fn want_hook(
        &mut self,
        at: StepAt,
        hook: &ShellText,
        kind: JobKind,
        attempt: u32,
        status: &str,
        error: &str,
    ) -> bool {
        let id = self.step(at).id.clone();
        let mut extra = Map::new();
        for (name, written) in &self.progress(at).writes {
            if let crate::frame::Written::Value(value) = written {
                extra.insert(name.clone(), value.clone());
            }
        }
        extra.insert("step_id".into(), id.clone().into());
        extra.insert("step_status".into(), status.into());
        extra.insert("error".into(), error.into());
        let scope = Scope { extra, frame: &self.frames[at.frame] };
        match scope.fill(hook) {
            Ok((work, mut environment)) => {
                environment.push(("STEP_ID".to_owned(), id));
                environment.push(("STEP_STATUS".to_owned(), status.to_owned()));
                let job = Job {
                    key: self.key(at, attempt, kind),
                    work,
                    directory: self.frames[at.frame].directory.clone(),
                    timeout: Some(HOOK_TIMEOUT),
                    environment,
                };
                self.ready.push((job, at));
                true
            }
            Err(failure) => {
                let step = Some(self.path(at));
                let message = format!("{} hook did not run: {}", kind.as_str(), failure.message);
                self.happenings.push(Happening::Warning { step, message });
                false
            }
        }
    }

    /// Opens the frame of a called recipe.
    pub(crate) fn call(&mut self, at: StepAt, name: &str, extra: Map, directory: String) {
        let depth = self.frames[at.frame].depth + 1;
        if let Err(failure) = self.check_depth(at.frame, depth) {
            return self.fail(at, failure);
        }
        let Some(callee) = self.program.callee(self.frames[at.frame].recipe, name) else {
            return self.fail(at, failure(format!("recipe `{name}` is not in the plan")));
        };
        let mut given = self.frames[at.frame].heritage();
        // What is too large for the caller is too large for the callee.
        let unreadable = self.frames[at.frame].unreadable.clone();
        for (key, value) in extra {
            given.insert(key, value);
        }
        let recipe = std::sync::Arc::clone(&self.program.recipes[callee]);
        let mut child = Frame::new(&recipe, callee, given);
        let missing = missing(&recipe.required_context, &child.context);
        if !missing.is_empty() {
            let names = missing.join("`, `");
            let message = format!("the recipe `{name}` needs a value for `{names}`");
            return self.fail(at, failure(message));
        }
        child.path = Some(self.path(at));
        child.parent = Some(at);
        child.depth = depth;
        child.directory = directory;
        child.unreadable = unreadable;
        self.frames.push(child);
        let index = self.frames.len() - 1;
        self.progress_mut(at).child = Some(index);
        self.dirty.insert(index);
    }

    fn check_depth(&self, frame: usize, depth: u32) -> Result<(), Failure> {
        let mut stated = false;
        for at in self.stack(frame) {
            let limit = self.recipe(at).recursion.max_depth;
            stated |= limit.is_some();
            if limit.is_some_and(|limit| depth - self.frames[at].depth > limit) {
                return Err(over("max_depth", limit.unwrap_or_default(), Whose::Stated));
            }
        }
        let default = Recursion::DEFAULT_MAX_DEPTH;
        if stated || depth <= default {
            return Ok(());
        }
        let machines = self.stack(frame).iter().all(|at| self.frames[*at].machine.is_some());
        Err(over("max_depth", default, Whose::default_of(machines)))
    }
}

/// Who set a limit, and so who can set another one.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Whose {
    Stated,
    Default,
    /// The default where no recipe around could state another one.
    OfMachines,
}

impl Whose {
    pub fn default_of(only_machines: bool) -> Whose {
        if only_machines { Whose::OfMachines } else { Whose::Default }
    }
}

pub(crate) fn over(name: &str, limit: u32, whose: Whose) -> Failure {
    let whose = match whose {
        Whose::Stated => "as the recipe states",
        Whose::Default => "the default; `recursion` raises it",
        Whose::OfMachines => {
            "the default; machines cannot raise it, a list of steps that calls the first of them \
             can, with `recursion`"
        }
    };
    Failure::new(FailureKind::Limit, format!("over the limit {name}: {limit}, {whose}"))
}

pub(crate) fn join(base: &str, directory: &str) -> String {
    if base.is_empty() || directory.starts_with('/') {
        directory.to_owned()
    } else if directory.is_empty() {
        base.to_owned()
    } else {
        format!("{base}/{directory}")
    }
}

fn value_roots(value: &towpath_recipe::ValueTemplate) -> Vec<String> {
    use towpath_recipe::ValueTemplate::{List, Map, Plain, Text};
    match value {
        Plain(_) => Vec::new(),
        Text(template) => template.places().map(|p| p.path.root().to_owned()).collect(),
        List(items) => items.iter().flat_map(value_roots).collect(),
        Map(items) => items.iter().flat_map(|(_, v)| value_roots(v)).collect(),
    }
}
