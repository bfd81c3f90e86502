//! Whether another process has written, and how far each run has come: cheap enough to be asked many
//! times a second.

use crate::{Store, StoreError};
use towpath_core::RunId;

/// How far a run has come. Whatever is recorded of it changes this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPosition {
    pub id: RunId,
    /// The status in one word.
    pub status: String,
    /// The number of its last fact.
    pub facts: u32,
}

impl Store {
    /// A number that changes with every commit of another connection.
    pub fn data_version(&self) -> Result<i64, StoreError> {
        self.ask(|conn| {
            let mut ask = conn.prepare_cached("PRAGMA data_version")?;
            Ok(ask.query_row([], |row| row.get(0))?)
        })
    }

    /// Every run, the oldest first.
    pub fn run_positions(&self) -> Result<Vec<RunPosition>, StoreError> {
        let rows: Vec<(String, String, u32)> = self.ask(|conn| {
            let mut ask = conn.prepare_cached(
                "SELECT id, status, coalesce((SELECT seq FROM facts
                     WHERE facts.id > (runs.n << 32) AND facts.id < ((runs.n + 1) << 32)
                     ORDER BY facts.id DESC LIMIT 1), 0)
                 FROM runs ORDER BY n",
            )?;
            let rows = ask.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?;
        let position = |(id, status, facts): (String, String, u32)| {
            Some(RunPosition { id: RunId::new(&id)?, status, facts })
        };
        Ok(rows.into_iter().filter_map(position).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewFact, NewRun, Summary};
    use tempfile::tempdir;

    #[test]
    fn a_commit_of_another_connection_is_seen_and_where_it_was() {
        let directory = tempdir().unwrap();
        let mut writer = Store::open(directory.path()).unwrap();
        let new = NewRun {
            recipe: String::new(),
            source: String::new(),
            directory: Default::default(),
            plan: String::new(),
            created_ms: 0,
            summary: Summary::default(),
        };
        let fact = NewFact::new(0, "noted", "{}");
        let mut ids = ["aaaa", "bbbb"].iter().map(|id| RunId::new(id).unwrap());
        let mut create = || writer.create_run(&new, &mut |_| ids.next().unwrap(), &[]).unwrap();
        let (first, second) = (create(), create());
        let reader = Store::open_for_reading(directory.path()).unwrap().unwrap();
        let before = reader.data_version().unwrap();
        assert_eq!(reader.data_version().unwrap(), before);
        writer.append(&first, &[fact.clone(), fact], None).unwrap();
        assert_ne!(reader.data_version().unwrap(), before);
        let position =
            |id: &RunId, facts| RunPosition { id: id.clone(), status: "running".to_owned(), facts };
        let expected = [position(&first, 2), position(&second, 0)];
        assert_eq!(reader.run_positions().unwrap(), expected);
    }
}
