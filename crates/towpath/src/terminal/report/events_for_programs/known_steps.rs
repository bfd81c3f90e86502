//! The steps that were reported, each with its fields: steps may run side by side, and a called recipe's
//! steps are within a step of its caller. Nothing is taken over from another step but a machine's
//! session, which its steps share.

use super::event_fields::EventFields;
use std::collections::BTreeMap;
use towpath_core::{SessionId, StepPath};
use towpath_engine::{CallEnded, CallStarted};
use towpath_run::Run;

/// A machine under way: its steps come one after the other, in one session.
#[derive(Debug, Default)]
struct Machine {
    recipe: String,
    session: Option<SessionId>,
    at: Option<StepPath>,
}

/// The steps that were reported, and each state machine by the step that called it.
#[derive(Debug, Default)]
pub struct KnownSteps {
    steps: BTreeMap<StepPath, EventFields>,
    machines: BTreeMap<Option<StepPath>, Machine>,
}

impl KnownSteps {
    /// A state machine that is resumed is in the middle of a visit, which is not reported again.
    pub fn of(run: &Run) -> KnownSteps {
        let mut known = KnownSteps::default();
        let Some(view) = run.machine_view() else { return known };
        let (Some(id), Some(visit)) = (view.step, run.view().pop()) else { return known };
        let fields = EventFields {
            count: Some(view.steps),
            ..EventFields::of(Some(&view.recipe), &visit.path)
        };
        let times = view.visits.iter().find(|(step, _)| **step == id).map(|(_, times)| *times);
        known.enter(&visit.path, &view.recipe, EventFields { visit: times, ..fields });
        known
    }

    pub fn in_machine(&self, step: &StepPath) -> bool {
        self.machines.contains_key(&step.frame())
    }

    /// A machine enters a step, and has left the one before it.
    pub fn enter(&mut self, step: &StepPath, recipe: &str, fields: EventFields) {
        let machine = self.machines.entry(step.frame()).or_default();
        machine.recipe = recipe.to_owned();
        let session = machine.session.clone();
        if let Some(left) = machine.at.replace(step.clone()) {
            self.steps.remove(&left);
        }
        self.steps.insert(step.clone(), EventFields { session, ..fields });
    }

    /// A step of a step recipe begins.
    pub fn begin(&mut self, step: &StepPath, fields: EventFields) {
        self.steps.insert(step.clone(), fields);
    }

    /// A state machine continues in a new session, with this recipe.
    pub fn restart(&mut self, step: &StepPath, recipe: &str) {
        let next = Machine { recipe: recipe.to_owned(), ..Machine::default() };
        if let Some(left) = self.machines.insert(step.frame(), next).and_then(|old| old.at) {
            self.steps.remove(&left);
        }
    }

    pub fn get(&self, step: &StepPath) -> Option<&EventFields> {
        self.steps.get(step)
    }

    pub fn get_mut(&mut self, step: &StepPath) -> Option<&mut EventFields> {
        self.steps.get_mut(step)
    }

    /// The recipe that the run's own machine is at; another one after a restart.
    pub fn own_recipe(&self) -> Option<&str> {
        self.machines.get(&None).map(|machine| machine.recipe.as_str())
    }

    /// Where the run's own machine is.
    pub fn own(&self) -> Option<&EventFields> {
        self.steps.get(self.machines.get(&None)?.at.as_ref()?)
    }

    pub fn call_started(&mut self, call: &CallStarted) {
        self.in_session(&call.step, call.session.as_ref());
        if let Some(fields) = self.steps.get_mut(&call.step) {
            fields.prompt_length = Some(fields.prompted + call.length);
            fields.model = call.model.clone();
        }
    }

    /// A step's calls are added up: after a reminder they are the whole visit's.
    pub fn call_ended(&mut self, call: &CallEnded) {
        self.in_session(&call.step, call.session.as_ref());
        let Some(fields) = self.steps.get_mut(&call.step) else { return };
        fields.model = call.model.clone();
        fields.prompted += call.prompt_length;
        fields.prompt_length = Some(fields.prompted);
        fields.response_length = call.length;
        fields.took_ms = Some(fields.took_ms.unwrap_or(0) + call.took_ms);
        fields.cost.count(call.usage.and_then(|usage| usage.cost_usd));
        fields.error = call.error.clone();
    }

    fn in_session(&mut self, step: &StepPath, session: Option<&SessionId>) {
        let Some(session) = session else { return };
        if let Some(fields) = self.steps.get_mut(step) {
            fields.session = Some(session.clone());
        }
        let machine = self.machines.get_mut(&step.frame());
        if let Some(machine) = machine.filter(|machine| machine.at.as_ref() == Some(step)) {
            machine.session = Some(session.clone());
        }
    }
}
