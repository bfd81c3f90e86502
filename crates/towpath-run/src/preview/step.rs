//! The preview of one step: whether its turn comes, whether its tags and its condition let it run, whether
//! its values fit, and what it leaves for the steps after it.

use super::foreseen_context::{ForeseenContext, Sight, Values};
use super::level::{MAY_BE_OVER, OverLimit};
use super::shown::Shown;
use super::{
    Begun, Call, Called, End, Left, NOT_TOLERATED, Next, PreviewFrame, PreviewStep, Reach,
    StepEffect, Tolerable, Verdict, Walk,
};
use crate::failure::Failure;
use crate::scope::{unfit, value_failure};
use crate::start::{callee, join, needs_values};
use crate::step_count::check_depth;
use crate::step_result::StatusName;
use towpath_core::{Map, StepPath, text_of};
use towpath_recipe::condition::Condition;
use towpath_recipe::{ParseJson, Step, Work};
use towpath_shell::ShellText;

impl Walk<'_> {
    /// Begins a step as the run would, up to the recipe that it calls.
    pub(super) fn enter(&mut self, frame: &PreviewFrame<'_>, index: usize) -> Begun {
        self.shown += 1;
        let definition = &frame.recipe.steps[index];
        let values = frame.outlook.values(&definition.context);
        let Shown { text, open, .. } = shown(definition, &values);
        let mut step = PreviewStep {
            path: StepPath::in_frame(frame.path.as_ref(), &definition.id, 1),
            id: definition.id.clone(),
            kind: definition.work.kind(),
            recipe: frame.index,
            index,
            verdict: self.verdict(frame, definition),
            text,
            open,
            directory: directory(definition, &values, &frame.directory),
            options: frame.recipe.command_options(definition),
            hooks: hooks(frame),
            children: Vec::new(),
        };
        let next = match &step.verdict {
            Verdict::Never { .. } if matches!(frame.reach, Reach::Not(_)) => {
                Next::Over(StepEffect::none())
            }
            Verdict::Skipped { .. } | Verdict::Never { .. } => Next::Over(StepEffect::skipped()),
            Verdict::Fails { reason } => {
                Next::Over(frame.failed(definition, value_failure(reason.clone()), true))
            }
            Verdict::Runs | Verdict::Unknown { .. } => {
                self.begin_counted(frame, definition, values, &mut step.verdict)
            }
        };
        Begun { step, next }
    }

    /// A step whose turn comes, or may come. The verdict changes where a limit or a value forbids it.
    fn begin_counted(
        &mut self,
        frame: &PreviewFrame<'_>,
        step: &Step,
        values: Values<'_>,
        verdict: &mut Verdict,
    ) -> Next {
        let mut may_be_over = false;
        if *verdict == Verdict::Runs
            && let Err(over) = self.count()
        {
            if let OverLimit::Surely(failure) = over {
                *verdict = Verdict::Fails { reason: failure.message.clone() };
                return Next::Over(frame.failed(step, failure, true));
            }
            *verdict = Verdict::Unknown { reason: MAY_BE_OVER.to_owned() };
            may_be_over = true;
        }
        let sure = *verdict == Verdict::Runs;
        let mut next = self.begin(frame, step, values, sure).unwrap_or_else(|failure| {
            if sure {
                *verdict = Verdict::Fails { reason: failure.message.clone() };
            }
            Next::Over(frame.failed(step, failure, sure))
        });
        if may_be_over {
            match &mut next {
                Next::Over(effect) => effect.end = NOT_TOLERATED.then(effect.end.clone()),
                Next::Call(called) => called.may_be_over = true,
            }
        }
        next
    }

    /// Continues a step that was begun with the recipe that it calls. The doubt is why it is not
    /// sure how far that gets.
    pub(super) fn follow(
        &mut self,
        frame: &PreviewFrame<'_>,
        begun: &Begun,
        doubt: Option<&str>,
    ) -> (PreviewStep, StepEffect) {
        let mut step = begun.step.clone();
        let called = match &begun.next {
            Next::Over(effect) => return (step, effect.clone()),
            Next::Call(called) => called,
        };
        let definition = &frame.recipe.steps[step.index];
        let reach = match (called.sure, doubt) {
            (false, _) => Reach::Maybe(format!("depends on whether `{}` runs", step.id)),
            (true, Some(doubt)) => Reach::Maybe(doubt.to_owned()),
            (true, None) => Reach::Sure,
        };
        let firm = self.firm;
        let answered = frame.recipe.machine().is_some();
        if definition.continue_on_error || recovers(definition) || answered {
            self.firm = self.levels.len();
        }
        let mut left = match self.opens() {
            false => Left::nothing(NOT_TOLERATED),
            true => self.frame(Call {
                recipe: called.recipe,
                path: Some(step.path.clone()),
                directory: step.directory.clone(),
                given: called.given.clone(),
                reach,
            }),
        };
        self.firm = firm;
        step.children = std::mem::take(&mut left.steps);
        let mut effect = frame.done(definition, Some(left), called.sure);
        if doubt.is_some() || called.may_be_over {
            effect.end = NOT_TOLERATED.then(effect.end);
            effect.status = None;
        }
        (step, effect)
    }

    fn verdict(&self, frame: &PreviewFrame<'_>, step: &Step) -> Verdict {
        if let Reach::Not(reason) = &frame.reach {
            return Verdict::Never { reason: reason.clone() };
        }
        if let Some(reason) = self.program.plan.tags.against(step) {
            return Verdict::Skipped { reason };
        }
        let verdict = match &step.condition {
            None => Verdict::Runs,
            Some(condition) => of_condition(frame, condition),
        };
        match (verdict, &frame.reach) {
            (Verdict::Runs | Verdict::Fails { .. }, Reach::Maybe(reason)) => {
                Verdict::Unknown { reason: reason.clone() }
            }
            (verdict, _) => verdict,
        }
    }

    /// A step that is within all limits, up to the recipe that it calls.
    fn begin(
        &self,
        frame: &PreviewFrame<'_>,
        step: &Step,
        values: Values<'_>,
        sure: bool,
    ) -> Result<Next, Failure> {
        match &step.work {
            Work::Bash { command } => {
                fits(command, &values)?;
                Ok(Next::Over(frame.done(step, None, sure)))
            }
            Work::Agent(_) => Ok(Next::Over(frame.done(step, None, sure))),
            Work::Recipe { name, .. } => {
                let (recipe, given) = self.called(frame, name, values)?;
                Ok(Next::Call(Called { recipe, given, sure, may_be_over: false }))
            }
        }
    }

    /// The recipe that a name means, with what it is given.
    fn called(
        &self,
        frame: &PreviewFrame<'_>,
        name: &str,
        values: Values<'_>,
    ) -> Result<(usize, ForeseenContext), Failure> {
        check_depth(self.open())?;
        let recipe = callee(self.program, frame.index, name)?;
        let given = values.over(frame.outlook.for_callee());
        let callee = &self.program.recipes[recipe];
        let context = ForeseenContext::of_recipe(callee, given.clone());
        needs_values(name, &context.missing(&callee.required_context))?;
        Ok((recipe, given))
    }
}

impl PreviewFrame<'_> {
    /// What a step leaves that runs, or may run.
    fn done(&self, step: &Step, called: Option<Left>, sure: bool) -> StepEffect {
        if self.recipe.machine().is_some() {
            // However the work ends, an outcome answers it.
            return StepEffect {
                written: step.output.iter().cloned().collect(),
                ..StepEffect::none()
            };
        }
        let mut written: Vec<String> = Vec::new();
        let mut end = End::Passes;
        if let Some(left) = called {
            if step.parallel_group.is_none() {
                written.extend(left.written);
            }
            end = left.end;
            if !self.recipe.context.contains_key(&step.id) {
                written.push(step.id.clone());
            }
            written.extend(step.output.clone());
        } else {
            written.extend(self.recipe.output_name(step).map(str::to_owned));
        }
        let passes = matches!(end, End::Passes);
        let end = after_failure(step, end, sure);
        let as_expected = passes && sure && !step.continue_on_error && !recovers(step);
        let status =
            (as_expected && step.parse_json != ParseJson::Wanted).then_some(StatusName::Completed);
        StepEffect { written, emptied: None, status, settled: true, end }
    }

    /// What a step leaves whose work cannot start.
    fn failed(&self, step: &Step, failure: Failure, sure: bool) -> StepEffect {
        let reason = failure.message;
        let tolerable = if failure.kind.tolerable() { Tolerable::Always } else { Tolerable::Never };
        let tolerated = step.continue_on_error && tolerable == Tolerable::Always;
        let name = self.recipe.output_name(step).map(str::to_owned);
        let (written, emptied) = match sure {
            true => (Vec::new(), name),
            false => (name.into_iter().collect(), None),
        };
        let end = match (tolerated, sure) {
            (true, _) => End::Passes,
            (false, true) => End::Fails { reason, tolerable },
            (false, false) => End::MayFail(tolerable),
        };
        StepEffect {
            written,
            emptied,
            status: sure.then_some(StatusName::Failed),
            settled: true,
            end,
        }
    }
}

/// How a step ends whose called recipe ends so.
fn after_failure(step: &Step, end: End, sure: bool) -> End {
    let (End::MayFail(tolerable) | End::Fails { tolerable, .. }) = end else { return end };
    if step.continue_on_error && tolerable != Tolerable::Never {
        return match tolerable {
            Tolerable::Always => End::Passes,
            _ => NOT_TOLERATED,
        };
    }
    let recovers = recovers(step) && tolerable != Tolerable::Never;
    match end {
        End::Fails { .. } if sure && !recovers => end,
        _ => End::MayFail(tolerable),
    }
}

fn recovers(step: &Step) -> bool {
    matches!(step.work, Work::Recipe { recovery: true, .. })
}

fn of_condition(frame: &PreviewFrame<'_>, condition: &Condition) -> Verdict {
    if condition.foresee(&Map::new(), &|_| true) == Ok(Some(false)) {
        return Verdict::Never { reason: "its condition is always false".to_owned() };
    }
    match frame.outlook.foresee(condition) {
        Ok(Some(true)) => Verdict::Runs,
        Ok(Some(false)) => Verdict::Skipped { reason: "condition false".to_owned() },
        Ok(None) => Verdict::Unknown { reason: depends_on(frame, condition) },
        Err(error) => Verdict::Fails { reason: format!("condition: {}", error.message) },
    }
}

fn depends_on(frame: &PreviewFrame<'_>, condition: &Condition) -> String {
    let mut names: Vec<String> = Vec::new();
    for name in condition.names() {
        let shown = format!("‹{}›", name.path);
        if frame.outlook.is_unknown(&name.path) && !names.contains(&shown) {
            names.push(shown);
        }
    }
    match names.is_empty() {
        true => "takes too long to compute before the run".to_owned(),
        false => format!("depends on {}", names.join(", ")),
    }
}

fn shown(step: &Step, values: &Values<'_>) -> Shown {
    match &step.work {
        Work::Bash { command } => values.command(command),
        Work::Agent(agent) => values.template(&agent.prompt),
        Work::Recipe { name, .. } => Shown { text: name.clone(), ..Shown::default() },
    }
}

fn directory(step: &Step, values: &Values<'_>, base: &str) -> String {
    match &step.working_dir {
        None => base.to_owned(),
        Some(template) => join(base, &values.template(template).text),
    }
}

fn hooks(frame: &PreviewFrame<'_>) -> Vec<&'static str> {
    let hooks = &frame.recipe.hooks;
    let around = [("pre_step", &hooks.pre_step), ("post_step", &hooks.post_step)];
    around.into_iter().filter(|(_, hook)| hook.is_some()).map(|(name, _)| name).collect()
}

/// Checks that the values that are known fit their placeholders.
fn fits(command: &ShellText, values: &Values<'_>) -> Result<(), Failure> {
    let mut value = |path: &towpath_core::VarPath| match values.see(path) {
        Sight::Known(value) => value.map(text_of),
        // A digit fits every placeholder.
        Sight::Unknown => Some("0".to_owned()),
    };
    command.fill(&mut value).map(drop).map_err(unfit)
}
