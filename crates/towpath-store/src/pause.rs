//! The pause of corrections.

use crate::{Store, StoreError};
use rusqlite::{OptionalExtension as _, Row};

/// Corrections are paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    pub since_ms: i64,
    /// `None`: until the user continues.
    pub until_ms: Option<i64>,
}

impl Store {
    /// The pause, which may have ended by now: this crate does not know the time.
    pub fn pause(&self) -> Result<Option<Pause>, StoreError> {
        self.ask(|conn| {
            let mut ask = conn.prepare_cached("SELECT since_ms, until_ms FROM pause")?;
            let pause = |row: &Row<'_>| Ok(Pause { since_ms: row.get(0)?, until_ms: row.get(1)? });
            Ok(ask.query_row([], pause).optional()?)
        })
    }

    /// Begins a pause, instead of the one there is, or ends it.
    pub fn set_pause(&mut self, pause: Option<Pause>) -> Result<(), StoreError> {
        self.commit(|conn| {
            conn.prepare_cached("DELETE FROM pause")?.execute([])?;
            if let Some(Pause { since_ms, until_ms }) = pause {
                let sql = "INSERT INTO pause (one, since_ms, until_ms) VALUES (1, ?1, ?2)";
                conn.prepare_cached(sql)?.execute((since_ms, until_ms))?;
            }
            Ok(())
        })
    }
}
