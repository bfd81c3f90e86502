//! What an event may say of where a run is, kept for every step by itself: steps may run side by side,
//! and a called recipe's steps are within a step of its caller. Unknown stays unknown; nothing is taken
//! over from another step but a machine's session, which its steps share.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Instant;
use towpath_core::StepPath;
use towpath_engine::{CallEnded, CallStarted};
use towpath_run::Run;
use towpath_view::Cost;

#[derive(Debug, Clone, Default)]
pub struct Place {
    pub session: Option<String>,
    pub recipe: Option<String>,
    pub step: Option<String>,
    pub count: Option<u32>,
    pub visit: Option<u32>,
    pub outcome: Option<String>,
    pub error: Option<String>,
    pub model: Option<String>,
    pub prompt_length: Option<usize>,
    pub response_length: Option<usize>,
    pub took_ms: Option<u64>,
    pub cost: Cost,
    /// Of the prompts of its calls that have ended.
    pub prompted: usize,
    pub began: Option<Instant>,
    /// Its start was told.
    pub told: bool,
}

impl Place {
    pub fn of(recipe: Option<&str>, step: &StepPath) -> Place {
        Place {
            recipe: recipe.map(str::to_owned),
            step: Some(step.without_visits()),
            began: Some(Instant::now()),
            ..Place::default()
        }
    }

    /// The step is over: what no call has told is how long it took.
    pub fn over(&mut self, outcome: &str) {
        self.outcome = Some(outcome.to_owned());
        let since = self.began.map(|began| began.elapsed().as_millis());
        let since = since.and_then(|ms| u64::try_from(ms).ok());
        self.took_ms = self.took_ms.or(since);
    }

    /// The fields that every event has.
    pub fn fields(&self, object: &mut Map<String, Value>) {
        for (name, value) in [
            ("sessionId", json!(self.session)),
            ("recipeId", json!(self.recipe)),
            ("step", json!(self.step)),
            ("stepCount", json!(self.count)),
            ("visitCount", json!(self.visit)),
            ("outcome", json!(self.outcome)),
            ("error", json!(self.error)),
            ("model", json!(self.model)),
            ("promptLength", json!(self.prompt_length)),
            ("responseLength", json!(self.response_length)),
            ("durationMs", json!(self.took_ms)),
            ("costUsd", json!(self.cost.usd)),
            ("costComplete", json!((self.cost.calls > 0).then_some(!self.cost.unknown))),
        ] {
            object.insert(name.to_owned(), value);
        }
    }
}

/// A machine under way: its steps come one after the other, in one session.
#[derive(Debug, Default)]
struct Machine {
    recipe: String,
    session: Option<String>,
    at: Option<StepPath>,
}

/// Where each step is that was told of, and each machine by the step that called it.
#[derive(Debug, Default)]
pub struct Places {
    steps: BTreeMap<StepPath, Place>,
    machines: BTreeMap<Option<StepPath>, Machine>,
}

impl Places {
    /// A machine that goes on is in the middle of a visit that nobody tells of again.
    pub fn of(run: &Run) -> Places {
        let mut places = Places::default();
        let Some(view) = run.machine_view() else { return places };
        let (Some(id), Some(visit)) = (view.step, run.view().pop()) else { return places };
        let place = Place { count: Some(view.steps), ..Place::of(Some(&view.recipe), &visit.path) };
        let times = view.visits.iter().find(|(step, _)| **step == id).map(|(_, times)| *times);
        places.enter(&visit.path, &view.recipe, Place { visit: times, ..place });
        places
    }

    pub fn in_machine(&self, step: &StepPath) -> bool {
        self.machines.contains_key(&step.frame())
    }

    /// A machine enters a step, and has left the one before it.
    pub fn enter(&mut self, step: &StepPath, recipe: &str, place: Place) {
        let machine = self.machines.entry(step.frame()).or_default();
        machine.recipe = recipe.to_owned();
        let session = machine.session.clone();
        if let Some(left) = machine.at.replace(step.clone()) {
            self.steps.remove(&left);
        }
        self.steps.insert(step.clone(), Place { session, ..place });
    }

    /// A step of a list begins.
    pub fn begin(&mut self, step: &StepPath, place: Place) {
        self.steps.insert(step.clone(), place);
    }

    /// A machine goes on in a new session, of this recipe.
    pub fn restart(&mut self, step: &StepPath, recipe: &str) {
        let next = Machine { recipe: recipe.to_owned(), ..Machine::default() };
        if let Some(left) = self.machines.insert(step.frame(), next).and_then(|old| old.at) {
            self.steps.remove(&left);
        }
    }

    pub fn get(&self, step: &StepPath) -> Option<&Place> {
        self.steps.get(step)
    }

    pub fn get_mut(&mut self, step: &StepPath) -> Option<&mut Place> {
        self.steps.get_mut(step)
    }

    /// The recipe that the run's own machine is at; another one after a restart.
    pub fn own_recipe(&self) -> Option<&str> {
        self.machines.get(&None).map(|machine| machine.recipe.as_str())
    }

    /// Where the run's own machine is.
    pub fn own(&self) -> Option<&Place> {
        self.steps.get(self.machines.get(&None)?.at.as_ref()?)
    }

    pub fn call_started(&mut self, call: &CallStarted) {
        self.in_session(&call.step, call.session.as_deref());
        if let Some(place) = self.steps.get_mut(&call.step) {
            place.prompt_length = Some(place.prompted + call.length);
            place.model = call.model.clone();
        }
    }

    /// A step's calls are added up: after a reminder they are the whole visit's.
    pub fn call_ended(&mut self, call: &CallEnded) {
        self.in_session(&call.step, call.session.as_deref());
        let Some(place) = self.steps.get_mut(&call.step) else { return };
        place.model = call.model.clone();
        place.prompted += call.prompt_length;
        place.prompt_length = Some(place.prompted);
        place.response_length = call.length;
        place.took_ms = Some(place.took_ms.unwrap_or(0) + call.took_ms);
        place.cost.count(call.usage.and_then(|usage| usage.cost_usd));
        place.error = call.error.clone();
    }

    fn in_session(&mut self, step: &StepPath, session: Option<&str>) {
        let Some(session) = session else { return };
        if let Some(place) = self.steps.get_mut(step) {
            place.session = Some(session.to_owned());
        }
        let machine = self.machines.get_mut(&step.frame());
        if let Some(machine) = machine.filter(|machine| machine.at.as_ref() == Some(step)) {
            machine.session = Some(session.to_owned());
        }
    }
}
