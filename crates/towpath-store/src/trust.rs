//! What a user has agreed to run: a path together with the hash of the whole plan behind it.
//!
//! Consent is to contents: another hash at the same path is another record. Computing the hash and
//! asking the user are done elsewhere.

use crate::{Store, StoreError};
use rusqlite::{OptionalExtension as _, Row};
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// The SHA-256 of a whole plan; shown in hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlanHash(pub [u8; 32]);

impl fmt::Display for PlanHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustRecord {
    pub path: PathBuf,
    pub hash: PlanHash,
    pub at_ms: i64,
    /// What was shown to the user, in a line.
    pub what: String,
}

impl Store {
    /// Remembers a consent; given again, its time and text are the new ones.
    pub fn trust_add(&mut self, record: &TrustRecord) -> Result<(), StoreError> {
        let path = record.path.as_os_str().as_bytes();
        self.commit(|conn| {
            conn.prepare_cached("INSERT OR REPLACE INTO trust VALUES (?1, ?2, ?3, ?4)")?
                .execute((path, record.hash.0, record.at_ms, &record.what))?;
            Ok(())
        })
    }

    /// Takes back every consent for `path`; returns how many there were.
    pub fn trust_remove(&mut self, path: &Path) -> Result<usize, StoreError> {
        self.commit(|conn| {
            let mut delete = conn.prepare_cached("DELETE FROM trust WHERE path = ?1")?;
            Ok(delete.execute([path.as_os_str().as_bytes()])?)
        })
    }

    /// All consents, by path, the newest of a path first.
    pub fn trust_list(&self) -> Result<Vec<TrustRecord>, StoreError> {
        self.ask(|conn| {
            let mut ask = conn.prepare_cached(
                "SELECT path, hash, at_ms, what FROM trust ORDER BY path, at_ms DESC, hash",
            )?;
            Ok(ask.query_map([], trust_record)?.collect::<Result<_, _>>()?)
        })
    }

    /// The newest consent to these contents, wherever they lay.
    pub fn trusted(&self, hash: &PlanHash) -> Result<Option<TrustRecord>, StoreError> {
        self.ask(|conn| {
            let mut ask = conn.prepare_cached(
                "SELECT path, hash, at_ms, what FROM trust WHERE hash = ?1
                 ORDER BY at_ms DESC LIMIT 1",
            )?;
            Ok(ask.query_row([hash.0], trust_record).optional()?)
        })
    }

    /// The consent to these contents at this path.
    pub fn trusted_at(
        &self,
        path: &Path,
        hash: &PlanHash,
    ) -> Result<Option<TrustRecord>, StoreError> {
        let key = (path.as_os_str().as_bytes(), hash.0);
        self.ask(|conn| {
            let mut ask = conn.prepare_cached(
                "SELECT path, hash, at_ms, what FROM trust WHERE path = ?1 AND hash = ?2",
            )?;
            Ok(ask.query_row(key, trust_record).optional()?)
        })
    }
}

fn trust_record(row: &Row<'_>) -> rusqlite::Result<TrustRecord> {
    Ok(TrustRecord {
        path: PathBuf::from(OsString::from_vec(row.get(0)?)),
        hash: PlanHash(row.get(1)?),
        at_ms: row.get(2)?,
        what: row.get(3)?,
    })
}
