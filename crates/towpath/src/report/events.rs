//! The events of a run for other programs: one line each, as text or as JSON, on stderr or into a
//! file. Everything comes from the engine's stream; nothing is kept beyond what the next line needs.
//! A file that cannot be written in full is an error that is told when the run has ended.

use crate::exit::Stop;
use crate::out;
use crate::words::{now_ms, rfc3339};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use towpath_core::StepPath;
use towpath_engine::{CallEnded, CallStarted, Event};
use towpath_run::{Movement, RunOutcome, StepResult, StepStatus};

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

/// What every event may say about where the run is; unknown is null.
#[derive(Debug, Clone, Default)]
struct Place {
    session: Option<String>,
    recipe: String,
    step: Option<String>,
    count: Option<u32>,
    visit: Option<u32>,
    outcome: Option<String>,
    error: Option<String>,
    model: Option<String>,
    prompt_length: Option<usize>,
    response_length: Option<usize>,
    took_ms: Option<u64>,
    cost_usd: Option<f64>,
}

/// A step that is entered and not told yet, since its session is not known before its call.
#[derive(Debug, Clone)]
struct Entered {
    visit: u32,
    max_visits: u32,
    total: u32,
    max_total: u32,
}

pub struct Events {
    /// On stderr.
    shown: Option<Format>,
    file: Option<(PathBuf, File)>,
    failed: Option<String>,
    run: String,
    label: String,
    place: Place,
    entered: Option<Entered>,
    /// The present session's `recipe:started` was told.
    told: bool,
    /// Steps of a recipe that is a list, started so far.
    started: u32,
    is_machine: bool,
    /// How the run's machine ended.
    exit: Option<String>,
}

impl Events {
    /// None where nobody asked for events.
    pub fn asked(
        shown: Option<Format>,
        path: Option<&PathBuf>,
        label: Option<&str>,
    ) -> Result<Option<Events>, Stop> {
        let file = match path {
            None => None,
            Some(path) => {
                let mut options = std::fs::OpenOptions::new();
                let file = options.create(true).append(true).mode(0o600).open(path);
                let told = |e| Stop::bad_input(format!("--events-file {}: {e}", path.display()));
                Some((path.clone(), file.map_err(told)?))
            }
        };
        if shown.is_none() && file.is_none() {
            return Ok(None);
        }
        Ok(Some(Events {
            shown,
            file,
            failed: None,
            run: String::new(),
            label: label.unwrap_or_default().to_owned(),
            place: Place::default(),
            entered: None,
            told: false,
            started: 0,
            is_machine: label.is_some(),
            exit: None,
        }))
    }

    /// What could not be written.
    pub fn failure(self) -> Option<Stop> {
        let (path, _) = self.file?;
        let why = self.failed?;
        Some(Stop::setup(format!("--events-file {}: {why}", path.display())))
    }

    pub fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::RunStarted { run, recipe, .. } => {
                self.run = run.to_string();
                self.place.recipe = (*recipe).to_owned();
            }
            Event::Entered { step, recipe, visit, max_visits, total, max_total, model } => {
                let (visit, max_visits) = (*visit, *max_visits);
                let (total, max_total) = (*total, *max_total);
                self.step_begins(step);
                if step.frame().is_none() {
                    self.place.recipe = (*recipe).to_owned();
                }
                self.place.visit = Some(visit);
                self.place.count = Some(total);
                self.place.model = model.map(str::to_owned);
                self.entered = Some(Entered { visit, max_visits, total, max_total });
            }
            Event::CallStarted(call) => self.call_started(call),
            // The start of a machine's agent is told with its call, which knows the session.
            Event::StepStarted { step, kind } if *kind != "agent" || !self.is_machine => {
                self.plain_start(step);
            }
            Event::CallEnded(call) => self.call_ended(call),
            Event::Reminded { step, error } => {
                self.place.step = Some(step.without_visits());
                self.place.error = Some((*error).to_owned());
                let text = format!("[step:retry]    {}: {error}", step.without_visits());
                self.tell(
                    "orchestration_retry",
                    &text,
                    json!({ "step": id(step), "error": error }),
                );
                self.place.error = None;
            }
            Event::Reported { step, report } => {
                self.place.step = Some(id(step));
                self.place.outcome = Some(report.outcome.clone());
                let text = format!("[step:outcome]  {}", report.outcome);
                let more = json!({ "description": report.description });
                self.tell("recipe_step_outcome", &text, more);
            }
            Event::Moved { step, to } => self.moved(step, to),
            Event::StepEnded { step, result, .. } if !self.is_machine => self.ended(step, result),
            Event::RunEnded { outcome, .. } => self.run_ended(outcome),
            _ => {}
        }
    }

    fn step_begins(&mut self, step: &StepPath) {
        let session = self.place.session.take();
        let recipe = std::mem::take(&mut self.place.recipe);
        self.place = Place { session, recipe, step: Some(id(step)), ..Place::default() };
    }

    fn plain_start(&mut self, step: &StepPath) {
        if self.entered.is_none() {
            if self.is_machine {
                return;
            }
            self.step_begins(step);
            self.started += 1;
            self.place.count = Some(self.started);
        }
        self.tell_started();
        self.tell_step();
    }

    fn call_started(&mut self, call: &CallStarted<'_>) {
        if call.session.is_some() {
            self.place.session = call.session.map(str::to_owned);
        }
        self.place.prompt_length = Some(call.length);
        if self.is_machine {
            self.tell_started();
            self.tell_step();
        }
    }

    fn call_ended(&mut self, call: &CallEnded<'_>) {
        let place = &mut self.place;
        place.session = call.session.map(str::to_owned).or(place.session.take());
        place.model = call.model.map(str::to_owned);
        place.prompt_length = Some(call.prompt_length);
        place.response_length = call.length;
        place.took_ms = Some(call.took_ms);
        place.cost_usd = call.usage.and_then(|usage| usage.cost_usd);
        place.error = call.error.map(str::to_owned);
    }

    fn tell_started(&mut self) {
        if std::mem::replace(&mut self.told, true) {
            return;
        }
        let session = self.place.session.as_ref();
        let session = session.map_or(String::new(), |id| format!(" (session: {id})"));
        let text = format!("[recipe:started] {}{session}", self.place.recipe);
        let more = json!({
            "recipe_id": self.place.recipe,
            "recipe_label": self.label,
            "current_step": self.place.step,
            "step_count": self.place.count,
        });
        self.tell("recipe_started", &text, more);
    }

    fn tell_step(&mut self) {
        let step = self.place.step.clone().unwrap_or_default();
        let count = self.place.count;
        let text = match self.entered.take() {
            Some(Entered { visit, max_visits, total, max_total }) => {
                let model = self.place.model.as_ref();
                let model = model.map_or(String::new(), |model| format!(" [model: {model}]"));
                format!(
                    "[step:started]  {step} (visit {visit}/{max_visits}, total {total}/{max_total})\
                     {model}"
                )
            }
            // The reminder is another call of a step that was told.
            None if self.is_machine => return,
            None => format!("[step:started]  {step}"),
        };
        self.tell("recipe_step_started", &text, json!({ "step_count": count }));
    }

    fn moved(&mut self, step: &StepPath, to: &Movement) {
        let from = id(step);
        let at = from.rsplit('/').next().unwrap_or(&from).to_owned();
        match to {
            Movement::Step(next) => {
                let text = format!("[step:transition] {at} → {next}");
                let more = json!({ "from_step": from, "to_step": next });
                self.tell("recipe_step_transition", &text, more);
            }
            Movement::Restart(recipe) => {
                let text = format!("[step:transition] {at} → RESTART {recipe}");
                let more = json!({ "from_step": from, "to_step": null, "restart": recipe });
                self.tell("recipe_step_transition", &text, more);
                self.place = Place { recipe: recipe.clone(), ..Place::default() };
                self.told = false;
            }
            Movement::Exit(exit) if step.frame().is_none() => {
                self.exit = Some(exit.reason.clone());
            }
            Movement::Exit(_) => {}
        }
    }

    fn ended(&mut self, step: &StepPath, result: &StepResult) {
        self.place.step = Some(id(step));
        self.place.outcome = Some(result.status.as_str().to_owned());
        self.place.error = match &result.status {
            StepStatus::Failed(failure) => Some(failure.message.clone()),
            _ => None,
        };
        let text = format!("[step:outcome]  {}", result.status.as_str());
        self.tell("recipe_step_outcome", &text, json!({}));
    }

    fn run_ended(&mut self, outcome: &RunOutcome) {
        self.tell_started();
        let (reason, error) = match outcome {
            RunOutcome::Failed { failure, .. } => {
                (super::reason(failure), Some(failure.message.clone()))
            }
            RunOutcome::Stopped { .. } => ("cancelled".to_owned(), None),
            other => (self.exit.clone().unwrap_or_else(|| other.as_str().to_owned()), None),
        };
        self.place.error.clone_from(&error);
        let more = json!({ "reason": reason, "error": error });
        self.tell("recipe_exited", &format!("[recipe:exited] {reason}"), more);
        self.place.error = None;
        if self.shown == Some(Format::Json) || self.file.is_some() {
            self.tell("turn_complete", "", json!({}));
        }
    }

    fn tell(&mut self, kind: &str, text: &str, more: Value) {
        if self.shown == Some(Format::Text) && !text.is_empty() {
            out::note(crate::words::clean(text));
        }
        let json = (self.shown == Some(Format::Json) || self.file.is_some())
            .then(|| self.object(kind, more).to_string());
        let Some(line) = json else { return };
        if self.shown == Some(Format::Json) {
            out::note(&line);
        }
        if let Some((_, file)) = &mut self.file
            && let Err(error) = file.write_all(format!("{line}\n").as_bytes())
        {
            self.failed.get_or_insert(error.to_string());
        }
    }

    fn object(&self, kind: &str, more: Value) -> Value {
        let place = &self.place;
        let mut object = Map::new();
        object.insert("type".into(), json!(kind));
        object.insert("run".into(), json!(self.run));
        object.insert("at".into(), json!(rfc3339(now_ms())));
        object.insert("session_id".into(), json!(place.session));
        if place.step.is_some() {
            object.insert("step".into(), json!(place.step));
        }
        if let Value::Object(more) = more {
            object.extend(more);
        }
        for (name, value) in [
            ("sessionId", json!(place.session)),
            ("recipeId", json!(place.recipe)),
            ("step", json!(place.step)),
            ("stepCount", json!(place.count)),
            ("visitCount", json!(place.visit)),
            ("outcome", json!(place.outcome)),
            ("error", json!(place.error)),
            ("model", json!(place.model)),
            ("promptLength", json!(place.prompt_length)),
            ("responseLength", json!(place.response_length)),
            ("durationMs", json!(place.took_ms)),
            ("costUsd", json!(place.cost_usd)),
        ] {
            object.insert(name.to_owned(), value);
        }
        Value::Object(object)
    }
}

fn id(step: &StepPath) -> String {
    step.without_visits()
}
