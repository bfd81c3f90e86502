//! Repairs of checks, counted: an event in the journal for each attempt, and, only where the user has
//! set an address, the same event sent there. Neither ever fails an install.

use super::tool_session::ToolSession;
use crate::terminal::format::now_ms;
use crate::terminal::out;
use serde_json::json;
use towpath_store::{Store, TelemetryEvent};
use towpath_tool::download::{HttpClient, HttpSettings};
use towpath_tool::self_repair::Attempt;

const EVENT: &str = "verify_self_repair";

/// Records an attempt to repair a check; none was needed if there is none.
pub fn record(session: &ToolSession<'_>, tool: &str, attempt: Option<&Attempt>) {
    let Some(attempt) = attempt else { return };
    // Only a repair by a model shows how long one takes.
    let event = json!({
        "event": EVENT,
        "tool": tool,
        "method": attempt.method,
        "success": attempt.method.is_some(),
        "time_saved_ms": null,
        "model_calls": attempt.model_calls,
        "model_took_ms": attempt.model_took.map(|took| took.as_millis() as u64),
    });
    let row = TelemetryEvent { at_ms: now_ms(), event: EVENT.to_owned(), body: event.to_string() };
    let stored =
        Store::open(&session.env.directories.state).and_then(|mut store| store.telemetry_add(&row));
    if let Err(error) = stored {
        out::note(format!("the repair of {tool} is not recorded: {error}"));
    }
    if let Some(url) = &session.settings.tools.telemetry_url.value {
        let client = HttpClient::new(HttpSettings::from_variables(&session.env.variables));
        if let Err(error) = client.post(url, &event.to_string()) {
            out::note(format!("the repair of {tool} is not reported to {url}: {error}"));
        }
    }
}
