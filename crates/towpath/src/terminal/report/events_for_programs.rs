//! The events of a run for other programs: one line each, as text or as JSON, on stderr or into a
//! file. Everything comes from the engine's stream; nothing is kept beyond what the next line needs.
//! Lines for stderr are handed to whoever owns the screen. A file that cannot be written in full is an
//! error that is reported when the run has ended.

mod call_totals;
mod event_fields;
mod known_steps;

use super::rate_limit;
use super::shape::Shape;
use crate::exit::CommandError;
use crate::terminal::format::{clean, now_ms, rfc3339};
use call_totals::Totals;
use event_fields::EventFields;
use known_steps::KnownSteps;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::time::Instant;
use towpath_core::{SessionId, StepPath};
use towpath_engine::{CallStarted, Event, EventKind};
use towpath_run::{
    FailureKind, Movement, Run, RunOutcome, StepKind, StepResult, StepStatus, StepView,
};
use towpath_view::{BACKEND_ERROR, exit_reason, failure_text};

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    Text,
    Json,
}

impl Format {
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Json => "json",
        }
    }
}

/// A step that is entered and not reported yet, since its session is not known before its call.
#[derive(Debug)]
struct Entered {
    step: StepPath,
    /// ` (visit 1/3, total 2/100)`; empty for a visit that continues.
    counts: String,
}

pub struct Events {
    /// On stderr.
    shown: Option<Format>,
    /// Lines that are to be shown.
    lines: Vec<String>,
    file: Option<(PathBuf, File)>,
    failed: Option<String>,
    run: String,
    /// The run's own recipe.
    recipe: String,
    /// The labels of state machines, by their ids.
    labels: BTreeMap<String, String>,
    shape: Shape,
    known: KnownSteps,
    entered: Vec<Entered>,
    /// The present session's `recipe:started` was reported.
    recipe_reported: bool,
    /// The steps of step recipes that have begun, by the order in which they did.
    begun: BTreeMap<StepPath, u32>,
    is_machine: bool,
    /// How the run's state machine ended.
    exit: Option<String>,
    totals: Totals,
}

impl Events {
    /// None where nobody asked for events.
    pub fn asked(
        shown: Option<Format>,
        path: Option<&PathBuf>,
    ) -> Result<Option<Events>, CommandError> {
        let file = match path {
            None => None,
            Some(path) => {
                let mut options = std::fs::OpenOptions::new();
                let file = options.create(true).append(true).mode(0o600).open(path);
                let failed =
                    |e| CommandError::bad_input(format!("--events-file {}: {e}", path.display()));
                Some((path.clone(), file.map_err(failed)?))
            }
        };
        if shown.is_none() && file.is_none() {
            return Ok(None);
        }
        Ok(Some(Events {
            shown,
            lines: Vec::new(),
            file,
            failed: None,
            run: String::new(),
            recipe: String::new(),
            labels: BTreeMap::new(),
            shape: Shape::default(),
            known: KnownSteps::default(),
            entered: Vec::new(),
            recipe_reported: false,
            begun: BTreeMap::new(),
            is_machine: false,
            exit: None,
            totals: Totals::default(),
        }))
    }

    /// Of this run, as it is before its first event.
    pub fn of(self, run: &Run, shape: Shape) -> Events {
        let recipes = run.program().recipes.iter();
        let label = |machine: &towpath_recipe::Machine| machine.label.clone();
        let labels = recipes.filter_map(|r| Some((r.name.clone(), r.machine().map(label)?)));
        Events {
            labels: labels.collect(),
            begun: begun(&run.view(), &shape),
            shape,
            known: KnownSteps::of(run),
            is_machine: run.machine_view().is_some(),
            ..self
        }
    }

    /// What could not be written.
    pub fn failure(self) -> Option<String> {
        let (path, _) = self.file?;
        let why = self.failed?;
        Some(format!("--events-file {}: {why}", path.display()))
    }

    /// The lines for stderr since they were last taken, each whole.
    pub fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }

    pub fn event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::RunStarted { run, recipe, .. } => {
                self.run = run.to_string();
                self.totals.began = Some(Instant::now());
                self.recipe.clone_from(recipe);
            }
            EventKind::Entered { step, recipe, visit, max_visits, total, max_total, model } => {
                let (visit, total) = (*visit, *total);
                let fields = EventFields {
                    visit: Some(visit),
                    count: Some(total),
                    model: model.clone(),
                    ..EventFields::of(Some(recipe), step)
                };
                self.known.enter(step, recipe, fields);
                let counts = format!(" (visit {visit}/{max_visits}, total {total}/{max_total})");
                self.entered.push(Entered { step: step.clone(), counts });
            }
            EventKind::CallStarted(call) => self.call_started(call),
            EventKind::StepStarted { step, kind } if self.is_visit(step) => {
                self.continue_visit(step);
                // An agent's start is reported with its call, which knows the session.
                if *kind != StepKind::Agent {
                    self.enter(step);
                }
            }
            EventKind::StepStarted { step, .. } => self.plain_start(step),
            EventKind::CallEnded(call) => {
                self.totals.call_ended(call);
                self.known.call_ended(call);
            }
            EventKind::Reminded { step, error } => self.reminded(step, error),
            EventKind::Reported { step, report } => {
                self.enter(step);
                let Some(fields) = self.known.get_mut(step) else { return };
                fields.over(&report.outcome);
                let fields = fields.clone();
                let text = format!("[step:outcome]   {}", report.outcome);
                let more = json!({ "description": report.description });
                self.write(&fields, "recipe_step_outcome", &text, more);
            }
            EventKind::Moved { step, to } => self.moved(step, to),
            EventKind::StepEnded { step, result, .. } if !self.is_visit(step) => {
                self.ended(step, result);
            }
            EventKind::RunEnded { outcome, steps, .. } => self.run_ended(outcome, steps),
            _ => {}
        }
    }

    /// Whether it is a step of a state machine, which is reported when it is entered, and again when it
    /// reports.
    fn is_visit(&self, step: &StepPath) -> bool {
        self.known.in_machine(step) || self.shape.is_visit(step) == Some(true)
    }

    /// A visit that began before this owner took the run is reported with what is known of it.
    fn continue_visit(&mut self, step: &StepPath) {
        if self.known.get(step).is_none() {
            let recipe = self.shape.recipe_of(step).unwrap_or_default().to_owned();
            self.known.enter(step, &recipe, EventFields::of(Some(&recipe), step));
        }
        let reported = self.known.get(step).is_some_and(|fields| fields.reported);
        if !reported && !self.entered.iter().any(|entered| entered.step == *step) {
            self.entered.push(Entered { step: step.clone(), counts: String::new() });
        }
    }

    /// Reports the step that a state machine has entered, unless it was reported.
    fn enter(&mut self, step: &StepPath) {
        let Some(at) = self.entered.iter().position(|entered| entered.step == *step) else {
            return;
        };
        let Entered { step, counts } = self.entered.remove(at);
        let Some(fields) = self.known.get_mut(&step) else { return };
        fields.reported = true;
        let fields = fields.clone();
        self.report_recipe(&step, &fields);
        let model = fields.model.as_ref();
        let model = model.map_or(String::new(), |model| format!(" [model: {model}]"));
        let text = format!("[step:started]   {}{counts}{model}", step.without_visits());
        self.write(&fields, "recipe_step_started", &text, json!({ "step_count": fields.count }));
    }

    fn plain_start(&mut self, step: &StepPath) {
        let next = self.begun.len() as u32 + 1;
        let count = *self.begun.entry(step.clone()).or_insert(next);
        let recipe = self.shape.recipe_of(step);
        let fields = EventFields { count: Some(count), ..EventFields::of(recipe, step) };
        self.known.begin(step, fields.clone());
        self.report_recipe(step, &fields);
        let text = format!("[step:started]   {}", step.without_visits());
        self.write(&fields, "recipe_step_started", &text, json!({ "step_count": count }));
    }

    fn call_started(&mut self, call: &CallStarted) {
        // A step that has waited is asked again without a new beginning.
        if self.known.get(&call.step).is_none() {
            match self.is_visit(&call.step) {
                true => self.continue_visit(&call.step),
                false => self.plain_start(&call.step),
            }
        }
        self.known.call_started(call);
        self.enter(&call.step);
    }

    fn own_recipe(&self) -> String {
        self.known.own_recipe().unwrap_or(&self.recipe).to_owned()
    }

    /// The run's own recipe begins, with its first step or with one below that.
    fn report_recipe(&mut self, step: &StepPath, at: &EventFields) {
        if std::mem::replace(&mut self.recipe_reported, true) {
            return;
        }
        let recipe = self.own_recipe();
        let fields = match step.frame() {
            None => at.clone(),
            Some(_) => {
                EventFields { step: at.step.clone(), count: at.count, ..EventFields::default() }
            }
        };
        self.write_recipe_started(&EventFields { recipe: Some(recipe), ..fields });
    }

    fn write_recipe_started(&mut self, fields: &EventFields) {
        let recipe = fields.recipe.clone().unwrap_or_default();
        let session = fields.session.as_ref();
        let session = session.map_or(String::new(), |id| format!(" (session: {id})"));
        let more = json!({
            "recipe_id": recipe,
            "recipe_label": self.labels.get(&recipe).map_or("", String::as_str),
            "current_step": fields.step,
            "step_count": fields.count,
        });
        self.write(fields, "recipe_started", &format!("[recipe:started] {recipe}{session}"), more);
    }

    fn reminded(&mut self, step: &StepPath, error: &str) {
        let known = self.known.get(step).cloned();
        let fields = known.unwrap_or_else(|| EventFields::of(self.shape.recipe_of(step), step));
        let id = step.without_visits();
        let text = format!("[step:retry]     {id}: {error}");
        let more = json!({ "step": id, "error": error });
        let fields = EventFields { error: Some(error.to_owned()), ..fields };
        self.write(&fields, "orchestration_retry", &text, more);
    }

    fn moved(&mut self, step: &StepPath, to: &Movement) {
        let from = step.without_visits();
        let at = from.rsplit('/').next().unwrap_or(&from).to_owned();
        let fields = self.known.get(step).cloned().unwrap_or_default();
        match to {
            Movement::Step(next) => {
                let text = format!("[step:transition] {at} → {next}");
                let more = json!({ "from_step": from, "to_step": next });
                self.write(&fields, "recipe_step_transition", &text, more);
            }
            Movement::Restart(recipe) => {
                let text = format!("[step:transition] {at} → RESTART {recipe}");
                let more = json!({ "from_step": from, "to_step": null, "restart": recipe });
                self.write(&fields, "recipe_step_transition", &text, more);
                self.known.restart(step, recipe);
                self.recipe_reported &= step.frame().is_some();
            }
            Movement::Exit(exit) if step.frame().is_none() => {
                self.exit = Some(exit.reason.clone());
            }
            Movement::Exit(_) => {}
        }
    }

    fn ended(&mut self, step: &StepPath, result: &StepResult) {
        let status = result.status.as_str();
        let recipe = self.shape.recipe_of(step);
        // A step that is skipped never started.
        let known = self.known.get(step).cloned();
        let mut fields =
            known.unwrap_or_else(|| EventFields { began: None, ..EventFields::of(recipe, step) });
        fields.over(status);
        fields.error = match &result.status {
            StepStatus::Failed(failure) => Some(failure_text(failure)),
            _ => None,
        };
        self.known.begin(step, fields.clone());
        let text = format!("[step:outcome]   {status}");
        self.write(&fields, "recipe_step_outcome", &text, json!({}));
    }

    fn run_ended(&mut self, outcome: &RunOutcome, steps: &[StepView]) {
        for step in self.entered.iter().map(|entered| entered.step.clone()).collect::<Vec<_>>() {
            self.enter(&step);
        }
        let limits = rate_limit::met(steps);
        let (reason, error) = match outcome {
            RunOutcome::Failed { failure, .. } if failure.kind == FailureKind::Exit => {
                (exit_reason(failure), Some(failure.detail.clone()).filter(|why| !why.is_empty()))
            }
            RunOutcome::Failed { failure, .. } => {
                (exit_reason(failure), Some(failure_text(failure)))
            }
            RunOutcome::Stopped { .. } => ("cancelled".to_owned(), None),
            RunOutcome::Waiting { until_ms, .. } => {
                let until = until_ms.map(rfc3339);
                let word = if self.is_machine { BACKEND_ERROR } else { outcome.as_str() };
                (word.to_owned(), Some(rate_limit::in_a_line(&limits, until.as_deref())))
            }
            other => (self.exit.clone().unwrap_or_else(|| other.as_str().to_owned()), None),
        };
        let step = match (outcome, limits.as_slice()) {
            (RunOutcome::Failed { step, .. }, _) => Some(step),
            (RunOutcome::Waiting { .. }, [one]) => Some(&one.step),
            _ => None,
        };
        let at = step.and_then(|step| self.known.get(step)).or_else(|| self.known.own());
        let nowhere = || EventFields { recipe: Some(self.own_recipe()), ..EventFields::default() };
        let fields = EventFields { error: None, ..at.cloned().unwrap_or_else(nowhere) };
        if !std::mem::replace(&mut self.recipe_reported, true) {
            self.write_recipe_started(&EventFields {
                recipe: Some(self.own_recipe()),
                ..EventFields::default()
            });
        }
        let why = error
            .as_ref()
            .map_or(String::new(), |error| format!(" — {}", super::fit_text::one_line(error)));
        let more = json!({ "reason": reason, "error": error });
        let last = self.totals.over(EventFields { error, ..fields.clone() }, steps);
        self.write(&last, "recipe_exited", &format!("[recipe:exited]  {reason}{why}"), more);
        if self.shown == Some(Format::Json) || self.file.is_some() {
            self.write(&fields, "turn_complete", "", json!({}));
        }
    }

    /// Another process uses the session that the next call of this recipe needs.
    pub fn locked(&mut self, recipe: &str, session: &SessionId) {
        let fields = EventFields {
            session: Some(session.clone()),
            recipe: Some(recipe.to_owned()),
            ..EventFields::default()
        };
        self.write(&fields, "session_locked", &format!("[session:locked] {session}"), json!({}));
    }

    fn write(&mut self, fields: &EventFields, kind: &str, text: &str, more: Value) {
        if self.shown == Some(Format::Text) && !text.is_empty() {
            self.lines.push(clean(text));
        }
        let json = (self.shown == Some(Format::Json) || self.file.is_some())
            .then(|| self.object(fields, kind, more).to_string());
        let Some(line) = json else { return };
        if let Some((_, file)) = &mut self.file
            && let Err(error) = file.write_all(format!("{line}\n").as_bytes())
        {
            self.failed.get_or_insert(error.to_string());
        }
        if self.shown == Some(Format::Json) {
            self.lines.push(line);
        }
    }

    fn object(&self, fields: &EventFields, kind: &str, more: Value) -> Value {
        let mut object = Map::new();
        object.insert("type".into(), json!(kind));
        object.insert("run".into(), json!(self.run));
        object.insert("at".into(), json!(rfc3339(now_ms())));
        object.insert("session_id".into(), json!(fields.session));
        if fields.step.is_some() {
            object.insert("step".into(), json!(fields.step));
        }
        if let Value::Object(more) = more {
            object.extend(more);
        }
        fields.write(&mut object);
        Value::Object(object)
    }
}

/// The steps of step recipes that have begun, in that order.
fn begun(steps: &[StepView], shape: &Shape) -> BTreeMap<StepPath, u32> {
    fn collect<'a>(steps: &'a [StepView], found: &mut Vec<&'a StepView>) {
        for step in steps {
            found.push(step);
            collect(&step.children, found);
        }
    }
    let mut all = Vec::new();
    collect(steps, &mut all);
    all.retain(|step| step.started_ms.is_some() && shape.is_visit(&step.path) == Some(false));
    all.sort_by_key(|step| step.started_ms);
    all.iter().zip(1..).map(|(step, number)| (step.path.clone(), number)).collect()
}
