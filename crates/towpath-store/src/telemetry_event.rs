//! What the program counts of its own work, such as repairs of a tool's check. It stays in the journal;
//! sending it anywhere is done elsewhere, and only if the user wants that.

use crate::{Store, StoreError};

/// More is not kept: the oldest events make room.
const MOST: i64 = 10_000;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TelemetryEvent {
    pub at_ms: i64,
    pub event: String,
    /// JSON.
    pub body: String,
}

impl Store {
    pub fn telemetry_add(&mut self, event: &TelemetryEvent) -> Result<(), StoreError> {
        self.commit(|conn| {
            conn.prepare_cached("INSERT INTO telemetry (at_ms, event, body) VALUES (?1, ?2, ?3)")?
                .execute((event.at_ms, &event.event, &event.body))?;
            conn.prepare_cached(
                "DELETE FROM telemetry WHERE n <= (SELECT max(n) FROM telemetry) - ?1",
            )?
            .execute([MOST])?;
            Ok(())
        })
    }

    /// All events, the oldest first.
    pub fn telemetry(&self) -> Result<Vec<TelemetryEvent>, StoreError> {
        self.ask(|conn| {
            let mut ask =
                conn.prepare_cached("SELECT at_ms, event, body FROM telemetry ORDER BY n")?;
            let events = ask.query_map([], |row| {
                Ok(TelemetryEvent { at_ms: row.get(0)?, event: row.get(1)?, body: row.get(2)? })
            })?;
            Ok(events.collect::<Result<_, _>>()?)
        })
    }
}
