//! The output of a job, found in the record by the job's key.

use crate::chain::{Chain, fact_id};
use crate::error::PathlessError;
use crate::facts::{FACT, StoredFact, checked_fact, run_number};
use crate::outputs::{StoredOutput, compare_file, output_path};
use crate::{Store, StoreError};
use rusqlite::Connection;
use std::path::PathBuf;
use towpath_core::{RunId, Stream};

/// A job's whole output, or where to read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    Inline(Vec<u8>),
    File { path: PathBuf, len: u64 },
}

/// Files up to this length are compared with their sum whenever they are asked for; larger ones by
/// the thorough look alone.
const COMPARED: u64 = 16 << 20;

impl Store {
    /// What the job `key` printed, from the newest fact with it. `None` when no fact does.
    pub fn output(
        &self,
        run: &RunId,
        key: &str,
        stream: Stream,
    ) -> Result<Option<Output>, StoreError> {
        self.refuse_older_journal(run)?;
        let found = self.ask(|conn| {
            match find_output(conn, run, key, stream, "INDEXED BY outputs_by_key")? {
                // A damaged index may lack what the table has.
                None => find_output(conn, run, key, stream, "NOT INDEXED"),
                found => Ok(found),
            }
        })?;
        let Some(fact) = found else { return Ok(None) };
        match if stream == Stream::Stdout { fact.stdout } else { fact.stderr } {
            None => Ok(None),
            Some(StoredOutput::Inline { bytes, .. }) => {
                Ok(Some(Output::Inline(bytes.unwrap_or_default())))
            }
            Some(StoredOutput::File { name, len, sum }) => {
                let path = output_path(&self.run_directory(run), &name)?;
                if len <= COMPARED && path.exists() {
                    compare_file(&path, len, sum)?;
                }
                Ok(Some(Output::File { path, len }))
            }
        }
    }
}

/// The newest fact with this output, as a link of its chain.
fn find_output(
    conn: &Connection,
    run: &RunId,
    key: &str,
    stream: Stream,
    how: &str,
) -> Result<Option<StoredFact>, PathlessError> {
    let n = run_number(conn, run)?;
    let name = stream.as_str();
    let sql = format!(
        "SELECT {FACT}, {name} FROM facts {how} WHERE id > ?1 AND id < ?2 AND run = ?3 AND key = ?4
            AND {name}_len IS NOT NULL ORDER BY id DESC LIMIT 1"
    );
    let mut ask = conn.prepare_cached(&sql)?;
    let mut rows = ask.query((fact_id(n, 0), fact_id(n + 1, 0), n, key))?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let mut chain = Chain::at(conn, n, run, row.get::<_, u32>(0)?.saturating_sub(1))?;
    checked_fact(row, run, Some(stream), &mut chain).map(Some)
}
