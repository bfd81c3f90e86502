//! Repairs of checks, counted: an event in the journal for each attempt, and, only where the user has
//! set an address, the same event sent there. Neither ever fails an install.

use super::tool_session::ToolSession;
use crate::terminal::format::now_ms;
use crate::terminal::out;
use serde::{Deserialize, Serialize};
use towpath_store::{Store, StoreError, TelemetryEvent};
use towpath_tool::RepairMethod;
use towpath_tool::download::HttpClient;
use towpath_tool::self_repair::Attempt;

const EVENT: &str = "verify_self_repair";
/// The time of a call of a model, as long as this machine has seen none.
const MODEL_CALL_MS: u64 = 30_000;

/// An attempt to repair a check.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RepairEvent {
    event: String,
    pub tool: String,
    /// How the check was found; none if it was not.
    pub method: Option<RepairMethod>,
    pub success: bool,
    /// The time that a model would have taken, where none was asked and the repair succeeded; else 0. None in
    /// events of earlier versions.
    pub time_saved_ms: Option<u64>,
    model_calls: usize,
    model_took_ms: Option<u64>,
}

impl RepairEvent {
    fn new(tool: &str, attempt: &Attempt, earlier: &[RepairEvent]) -> RepairEvent {
        let saves = attempt.method.is_some() && attempt.model_calls == 0;
        RepairEvent {
            event: EVENT.to_owned(),
            tool: tool.to_owned(),
            method: attempt.method,
            success: attempt.method.is_some(),
            time_saved_ms: Some(if saves { usual_model_call(earlier) } else { 0 }),
            model_calls: attempt.model_calls,
            model_took_ms: attempt.model_took.map(|took| took.as_millis() as u64),
        }
    }
}

/// The median of the times that a model has taken on this machine.
fn usual_model_call(events: &[RepairEvent]) -> u64 {
    let mut times: Vec<u64> = events.iter().filter_map(|event| event.model_took_ms).collect();
    times.sort_unstable();
    let (low, high) = (times.len().saturating_sub(1) / 2, times.len() / 2);
    match (times.get(low), times.get(high)) {
        (Some(low), Some(high)) => u64::midpoint(*low, *high),
        _ => MODEL_CALL_MS,
    }
}

/// All attempts with their times, the oldest first.
pub fn repair_events(store: &Store) -> Result<Vec<(i64, RepairEvent)>, StoreError> {
    let events = store.telemetry()?.into_iter().filter(|event| event.event == EVENT);
    let read = |event: TelemetryEvent| Some((event.at_ms, serde_json::from_str(&event.body).ok()?));
    Ok(events.filter_map(read).collect())
}

/// Records an attempt to repair a check, if one was needed.
pub fn record_repair(session: &ToolSession<'_>, tool: &str, attempt: Option<&Attempt>) {
    let Some(attempt) = attempt else { return };
    let mut store = Store::open(&session.env.directories.state);
    let earlier = store.as_ref().map_or_else(
        |_| Vec::new(),
        |store| {
            let events = repair_events(store).unwrap_or_default();
            events.into_iter().map(|(_, event)| event).collect()
        },
    );
    let event = RepairEvent::new(tool, attempt, &earlier);
    let body = serde_json::to_string(&event).expect("an event can be written");
    let row = TelemetryEvent { at_ms: now_ms(), event: EVENT.to_owned(), body: body.clone() };
    let stored = match &mut store {
        Ok(store) => store.telemetry_add(&row).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    if let Err(error) = stored {
        out::note(format!("the repair of {tool} is not recorded: {error}"));
    }
    if let Some(url) = &session.settings.tools.telemetry_url.value {
        let client = HttpClient::from_variables(&session.env.variables);
        if let Err(error) = client.post(url, &body) {
            out::note(format!("the repair of {tool} is not reported to {url}: {error}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn attempt(method: Option<RepairMethod>, model_took: Option<u64>) -> Attempt {
        let model_took = model_took.map(Duration::from_millis);
        Attempt { method, model_calls: usize::from(model_took.is_some()), model_took }
    }

    #[test]
    fn the_time_saved_is_that_of_a_usual_model_call() {
        let found = attempt(Some(RepairMethod::OutputDetection), None);
        let saved = |attempt: &Attempt, earlier: &[RepairEvent]| {
            RepairEvent::new("x", attempt, earlier).time_saved_ms
        };
        let took = |ms| {
            let by_model = attempt(Some(RepairMethod::Model), Some(ms));
            RepairEvent::new("x", &by_model, &[])
        };
        assert_eq!(saved(&found, &[]), Some(MODEL_CALL_MS));
        assert_eq!(saved(&found, &[took(9000), took(2000), took(4000)]), Some(4000));
        assert_eq!(saved(&found, &[took(9000), took(2000)]), Some(5500));
        assert_eq!(took(4000).time_saved_ms, Some(0), "a model was asked");
        assert_eq!(saved(&attempt(None, None), &[took(9000)]), Some(0), "nothing was repaired");
    }
}
