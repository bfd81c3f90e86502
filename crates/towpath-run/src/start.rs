//! How a step begins: its condition, the limits, its hook, and the job or call that is its work.

use crate::condition_value::{ConditionValue, values_read};
use crate::document::NotYet;
use crate::failure::Failure;
use crate::frame::{Frame, FrameState, StepAt};
use crate::job::Job;
use crate::job_end::Output;
use crate::progress::{Activity, Progress, StepVisit, WorkEnd};
use crate::prompt_rendering::DocumentUse;
use crate::run::Run;
use crate::scope::{FilledWork, Scope, value_failure};
use crate::step_count::{StepCount, check_depth, check_total};
use crate::step_result::{StepResult, StepStatus};
use towpath_core::{JobKey, JobKind, Map};
use towpath_recipe::{AgentWork, Program, Step, Work, missing};
use towpath_shell::ShellText;

/// How a step is to begin, and what its condition read.
pub(crate) struct Start {
    pub verdict: StartVerdict,
    pub read: Vec<ConditionValue>,
}

impl Start {
    /// Of a step without tags and condition.
    pub const RUN: Start = Start { verdict: StartVerdict::Run, read: Vec::new() };
}

/// What the tags and the condition of a step mean for it.
pub(crate) enum StartVerdict {
    Run,
    Skip(String),
    Fail(Failure),
}

impl Run {
    pub(crate) fn start(&self, at: StepAt) -> Start {
        let condition = self.step(at).condition.as_ref();
        let read =
            condition.map(|c| values_read(c, &self.frames[at.frame].context)).unwrap_or_default();
        Start { verdict: self.verdict(at), read }
    }

    fn verdict(&self, at: StepAt) -> StartVerdict {
        let step = self.step(at);
        if let Some(reason) = self.program.plan.tags.against(step) {
            return StartVerdict::Skip(reason);
        }
        let Some(condition) = &step.condition else { return StartVerdict::Run };
        let frame = &self.frames[at.frame];
        for name in condition.names() {
            if let Some(failure) = frame.unreadable(&name.path) {
                return StartVerdict::Fail(failure);
            }
        }
        match condition.is_true(&frame.context) {
            Ok(true) => StartVerdict::Run,
            Ok(false) => StartVerdict::Skip("condition false".to_owned()),
            Err(error) => {
                StartVerdict::Fail(value_failure(format!("condition: {}", error.message)))
            }
        }
    }

    /// A new visit of a step.
    pub(crate) fn enter(&mut self, at: StepAt, start: Start) {
        *self.visit_mut(at) = StepVisit::new(self.visit(at).number + 1);
        self.begin(at, start);
    }

    /// Begins a step, at its entry or when it is tried again.
    pub(crate) fn begin(&mut self, at: StepAt, start: Start) {
        self.visit_mut(at).condition_values = start.read;
        match start.verdict {
            StartVerdict::Skip(reason) => {
                let result = StepResult::new(StepStatus::Skipped { reason }, Output::None);
                self.settled(at, WorkEnd::new(result, Vec::new()));
            }
            StartVerdict::Fail(failure) => self.fail(at, failure),
            StartVerdict::Run => match self.count(at) {
                Err(failure) => self.fail(at, failure),
                Ok(()) if self.want_pre_hook(at) => {}
                Ok(()) => self.begin_work(at),
            },
        }
    }

    /// Starts the work of a step, or fails it where its values do not fit.
    pub(crate) fn begin_work(&mut self, at: StepAt) {
        self.visit_mut(at).progress = Progress::Working(Activity::Job);
        // What ended just before its time ran out leads to nothing more until the run is resumed.
        if self.frames[at.frame].state == FrameState::Expiring {
            return;
        }
        let recipe = self.recipe(at.frame);
        let step = &recipe.steps[at.step];
        let (extra, directory) = match self.values_of_step(at, step) {
            Ok(values) => values,
            Err(failure) => return self.fail(at, failure),
        };
        match &step.work {
            Work::Bash { command } => self.begin_command(at, command, extra, directory),
            Work::Agent(agent) => {
                self.flow(at.frame).begin_agent(self, at, agent, extra, directory);
            }
            Work::Recipe { name, .. } => self.call(at, name, extra, directory),
        }
    }

    fn begin_command(&mut self, at: StepAt, command: &ShellText, extra: Map, directory: String) {
        let frame = &self.frames[at.frame];
        let scope = Scope { extra, frame };
        let filled = scope.fill(command);
        if frame.flow.machine().is_none() {
            let undefined = scope.undefined_in(command);
            self.warn_undefined(at, undefined);
        }
        let key = self.key(at, JobKind::Bash);
        match filled {
            Ok(work) => self.want_work(at, key, work, directory),
            Err(failure) => self.fail(at, failure),
        }
    }

    /// What a step asks its agent.
    pub(crate) fn own_prompt(
        &mut self,
        at: StepAt,
        agent: &AgentWork,
        extra: Map,
        directory: &str,
    ) -> Result<String, NotYet> {
        if let Some(document) = &agent.document {
            return self.text_of_document(at, DocumentUse::Prompt, document, &extra, directory);
        }
        let frame = &self.frames[at.frame];
        let scope = Scope { extra, frame };
        let text = scope.render(&agent.prompt);
        if frame.flow.machine().is_none() {
            let undefined = scope.undefined(agent.prompt.placeholders().map(|p| &p.path));
            self.warn_undefined(at, undefined);
        }
        text.map_err(|failure| {
            self.fail(at, failure);
            NotYet
        })
    }

    /// The variables of a step's own, and the directory it works in.
    pub(crate) fn values_of_step(&self, at: StepAt, step: &Step) -> Result<(Map, String), Failure> {
        let frame = &self.frames[at.frame];
        let mut scope = Scope { extra: Map::new(), frame };
        let mut extra = Map::new();
        for (name, value) in &step.context {
            scope.readable(value)?;
            extra.insert(name.clone(), value.render(&frame.context));
        }
        scope.extra = extra;
        let directory = match &step.working_dir {
            None => frame.directory.clone(),
            Some(template) => join(&frame.directory, &scope.render(template)?),
        };
        Ok((scope.extra, directory))
    }

    fn warn_undefined(&mut self, at: StepAt, names: Vec<String>) {
        for name in names {
            self.warn(at, format!("{{{{{name}}}}} has no value: it is empty"));
        }
    }

    /// Wants the job that is a step's work.
    pub(crate) fn want_work(
        &mut self,
        at: StepAt,
        key: JobKey,
        (work, environment): FilledWork,
        directory: String,
    ) {
        let recipe = self.recipe(at.frame);
        let step = &recipe.steps[at.step];
        let work = work.failing(recipe.fails_on(Some(step)));
        let (timeout, sandboxed) = (self.work_timeout(at), recipe.is_sandboxed(step));
        self.ready.push((Job { key, work, directory, timeout, environment, sandboxed }, at));
    }

    /// The key of a step's next job of a kind.
    pub(crate) fn key(&self, at: StepAt, kind: JobKind) -> JobKey {
        let visit = self.visit(at);
        JobKey {
            frame: self.frames[at.frame].path.clone(),
            step: self.step(at).id.clone(),
            visit: visit.number,
            attempt: visit.attempts.next(kind),
            call: 0,
            kind,
        }
    }

    /// Opens the frame of a called recipe.
    fn call(&mut self, at: StepAt, name: &str, extra: Map, directory: String) {
        match self.called_frame(at, name, extra, directory) {
            Err(failure) => self.fail(at, failure),
            Ok(child) => {
                self.frames.push(child);
                let called = self.frames.len() - 1;
                self.visit_mut(at).progress = Progress::Working(Activity::Called(called));
                self.dirty.insert(called);
            }
        }
    }

    fn called_frame(
        &self,
        at: StepAt,
        name: &str,
        extra: Map,
        directory: String,
    ) -> Result<Frame, Failure> {
        let caller = &self.frames[at.frame];
        let open = self.stack(at.frame);
        check_depth(open.iter().map(|frame| self.recipe_of(*frame)))?;
        let callee = callee(&self.program, caller.recipe, name)?;
        let given = caller.given_to_callee(extra);
        let recipe = &self.program.recipes[callee];
        let child = Frame {
            path: Some(self.path(at)),
            parent: Some(at),
            depth: caller.depth + 1,
            directory,
            ..Frame::new(recipe, callee, given)
        };
        needs_values(name, &missing(&recipe.required_context, &child.context))?;
        Ok(child)
    }

    /// Counts an executed step in every frame around it, if no limit forbids it.
    fn count(&mut self, at: StepAt) -> Result<(), Failure> {
        if self.visit(at).counted {
            return Ok(());
        }
        let open = self.stack(at.frame);
        check_total(open.iter().map(|frame| (self.recipe_of(*frame), self.frames[*frame].count)))?;
        let one = StepCount::one(self.is_in_machine(&open));
        for frame in open {
            self.frames[frame].count.add(one);
        }
        self.visit_mut(at).counted = true;
        Ok(())
    }
}

/// The recipe that a name means in another one.
pub(crate) fn callee(program: &Program, caller: usize, name: &str) -> Result<usize, Failure> {
    let callee = program.callee(caller, name);
    callee.ok_or_else(|| value_failure(format!("recipe `{name}` is not in the plan")))
}

/// Refuses to call a recipe without its required variables.
pub(crate) fn needs_values(name: &str, missing: &[&str]) -> Result<(), Failure> {
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join("`, `");
    Err(value_failure(format!("the recipe `{name}` needs a value for `{names}`")))
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
