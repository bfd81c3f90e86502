//! The journal as a view reads it, and the runs that a request can mean.

use crate::Server;
use crate::answer::Refusal;
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};
use towpath_core::RunId;
use towpath_engine::{owner_of, recorded};
use towpath_store::{Found, RunRow, Store};
use towpath_view::amounts_and_times::rfc3339;
use towpath_view::run_json::ShownRun;

/// Opened for each request: the journal may be made, upgraded or replaced while the server runs.
pub(crate) fn open(server: &Server) -> Result<Option<Store>, Refusal> {
    Ok(Store::open_for_reading(&server.config.state)?)
}

/// The journal, for a request that names a run.
pub(crate) fn open_for(server: &Server, run: &str) -> Result<Store, Refusal> {
    open(server)?.ok_or_else(|| no_run(run))
}

fn no_run(name: &str) -> Refusal {
    Refusal::not_found(format!("there is no run {name}"))
}

/// Finds a run by a unique prefix of its id.
pub(crate) fn find(store: &Store, name: &str) -> Result<RunRow, Refusal> {
    match store.find(name)? {
        Found::One(row) => Ok(*row),
        Found::None => Err(no_run(name)),
        Found::Many(ids) => {
            let ids: Vec<String> = ids.iter().take(8).map(ToString::to_string).collect();
            let ids = ids.join(", ");
            Err(Refusal::bad_input(format!("`{name}` is ambiguous: it could be any of {ids}")))
        }
    }
}

pub(crate) fn shown(server: &Server, store: &Store, row: RunRow) -> Result<ShownRun, Refusal> {
    let recorded = recorded(store, &row.id, server.config.run_limits)?;
    Ok(ShownRun::new(store, row, recorded))
}

/// The process that owns a run now; null: none does.
pub(crate) fn owner(server: &Server, store: &Store, id: &RunId) -> Value {
    let Some(holder) = owner_of(store, id) else { return Value::Null };
    let ms = |seconds: u64| i64::try_from(seconds).unwrap_or(0).saturating_mul(1000);
    let since = holder.since.map(|since| rfc3339(ms(since), &server.config.zone));
    json!({ "pid": holder.pid, "host": holder.host, "since": since })
}

pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
