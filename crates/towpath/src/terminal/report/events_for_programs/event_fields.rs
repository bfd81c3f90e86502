//! What an event reports of a step. Unknown stays unknown.

use serde_json::{Map, Value, json};
use std::time::Instant;
use towpath_core::{SessionId, StepPath};
use towpath_view::Cost;

#[derive(Debug, Clone, Default)]
pub struct EventFields {
    pub session: Option<SessionId>,
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
    /// Its start was reported.
    pub reported: bool,
}

impl EventFields {
    pub fn of(recipe: Option<&str>, step: &StepPath) -> EventFields {
        EventFields {
            recipe: recipe.map(str::to_owned),
            step: Some(step.without_visits()),
            began: Some(Instant::now()),
            ..EventFields::default()
        }
    }

    /// The step is over: where no call reported how long it took, its own time counts.
    pub fn over(&mut self, outcome: &str) {
        self.outcome = Some(outcome.to_owned());
        let since = self.began.map(|began| began.elapsed().as_millis());
        let since = since.and_then(|ms| u64::try_from(ms).ok());
        self.took_ms = self.took_ms.or(since);
    }

    /// The fields that every event has.
    pub fn write(&self, object: &mut Map<String, Value>) {
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
