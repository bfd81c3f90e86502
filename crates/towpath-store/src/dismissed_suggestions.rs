//! Proposed rules that the user has dismissed.

use crate::{Store, StoreError};

impl Store {
    /// A proposed rule with this key is not proposed again.
    pub fn suggestion_dismiss(&mut self, key: &str, at_ms: i64) -> Result<(), StoreError> {
        self.commit(|conn| {
            let sql = "INSERT OR REPLACE INTO dismissed_suggestions (key, at_ms) VALUES (?1, ?2)";
            conn.prepare_cached(sql)?.execute((key, at_ms))?;
            Ok(())
        })
    }

    pub fn dismissed_suggestions(&self) -> Result<Vec<String>, StoreError> {
        self.ask(|conn| {
            let mut ask =
                conn.prepare_cached("SELECT key FROM dismissed_suggestions ORDER BY key")?;
            Ok(ask.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
    }
}
