//! Checksums by which a changed, swapped or lost record is noticed.
//!
//! The facts of a run are a chain: each carries the sum of itself and of the one before it, and a
//! plan is a link between two facts. Outputs have a sum of their own, which the fact carries. A file
//! in the run's directory has the number and the sum of the last fact. It is written after the
//! commit and not synced before the run's end: it may be behind the journal, and is never ahead of it.

use crate::StoreError;
use crate::error::PathlessError;
use crate::private_files::sync_directory;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row};
use sha2::{Digest as _, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use towpath_core::RunId;

/// The first half of a SHA-256.
pub type Sum = [u8; 16];

/// In a run's directory: the number and the sum of its last fact.
pub(crate) const LAST_FACT: &str = "last-fact";

/// The sum of a row's values, joined to `before`.
pub(crate) fn sum_of<'a>(before: &[u8], values: impl IntoIterator<Item = ValueRef<'a>>) -> Sum {
    let mut hash = Sha256::new_with_prefix(before);
    for value in values {
        let (kind, bytes): (u8, &[u8]) = match &value {
            ValueRef::Null => (0, &[]),
            ValueRef::Integer(number) => (1, &number.to_le_bytes()),
            ValueRef::Real(number) => (2, &number.to_le_bytes()),
            ValueRef::Text(bytes) => (3, bytes),
            ValueRef::Blob(bytes) => (4, bytes),
        };
        hash.update([kind]);
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    shortened(hash)
}

/// The sum of an output or of a plan's text.
pub(crate) fn sum_of_bytes(bytes: &[u8]) -> Sum {
    shortened(Sha256::new_with_prefix(bytes))
}

/// The sum of all that a reader gives, and its length.
pub(crate) fn sum_of_reader(mut reader: impl Read) -> io::Result<(Sum, u64)> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut len = 0;
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok((shortened(hash), len)),
            Ok(read) => {
                hash.update(&buffer[..read]);
                len += read as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn shortened(hash: Sha256) -> Sum {
    let whole = hash.finalize();
    std::array::from_fn(|index| whole[index])
}

/// The values of a row's first columns.
pub(crate) fn values<'a>(row: &'a Row<'_>, columns: usize) -> rusqlite::Result<Vec<ValueRef<'a>>> {
    (0..columns).map(|column| row.get_ref(column)).collect()
}

/// Facts of one run lie between `fact_id(n, 0)` and `fact_id(n + 1, 0)`.
pub(crate) fn fact_id(n: i64, seq: u32) -> i64 {
    (n << 32) + i64::from(seq)
}

/// The chain of one run, at one of its facts.
pub(crate) struct Chain {
    pub seq: u32,
    pub sum: Sum,
    /// The plans from here on: the fact that each follows, and its version and sum.
    plans: Vec<(u32, i64, Sum)>,
}

impl Chain {
    /// At the fact `seq` of a run; 0: before the first.
    pub fn at(conn: &Connection, n: i64, run: &RunId, seq: u32) -> Result<Chain, PathlessError> {
        let sum = match seq {
            0 => sum_of_bytes(run.as_str().as_bytes()),
            _ => conn
                .prepare_cached("SELECT sum FROM facts WHERE id = ?1")?
                .query_row([fact_id(n, seq)], |row| row.get(0))?,
        };
        let mut ask = conn.prepare_cached(
            "SELECT after, version, sum FROM plans WHERE run = ?1 AND after >= ?2",
        )?;
        let plan = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let plans = ask.query_map((n, seq), plan)?.collect::<Result<_, _>>()?;
        Ok(Chain { seq, sum, plans })
    }

    /// At the last fact of a run.
    pub fn at_end(conn: &Connection, n: i64, run: &RunId) -> Result<Chain, PathlessError> {
        let mut ask = conn.prepare_cached(
            "SELECT seq FROM facts WHERE id > ?1 AND id < ?2 ORDER BY id DESC LIMIT 1",
        )?;
        let last =
            ask.query_row((fact_id(n, 0), fact_id(n + 1, 0)), |row| row.get(0)).optional()?;
        Chain::at(conn, n, run, last.unwrap_or(0))
    }

    /// Adds the next fact, and returns its sum.
    pub fn link(&mut self, values: &[ValueRef<'_>]) -> Sum {
        for (_, version, sum) in self.plans.iter().filter(|(after, ..)| *after == self.seq) {
            let plan = [ValueRef::Integer(*version), ValueRef::Blob(sum)];
            self.sum = sum_of(&self.sum, plan);
        }
        self.seq += 1;
        self.sum = sum_of(&self.sum, values.iter().copied());
        self.sum
    }

    /// Adds the next fact, refused unless it has the sum that it was recorded with.
    pub fn check(
        &mut self,
        run: &RunId,
        values: &[ValueRef<'_>],
        recorded: &[u8],
    ) -> Result<(), StoreError> {
        match self.link(values) == recorded {
            true => Ok(()),
            false => {
                let detail = format!("fact {} is not as it was recorded", self.seq);
                Err(StoreError::DamagedRun { run: run.clone(), detail })
            }
        }
    }
}

/// Adds a plan behind the last fact: it is a link of the run's chain.
pub(crate) fn insert_plan(
    conn: &Connection,
    n: i64,
    run: &RunId,
    plan: &str,
) -> Result<(), PathlessError> {
    let after = Chain::at_end(conn, n, run)?.seq;
    let next = "SELECT coalesce(max(version), 0) + 1 FROM plans WHERE run = ?1";
    let version = conn.prepare_cached(next)?.query_row([n], |row| row.get(0))?;
    let insert = "INSERT INTO plans (run, version, after, sum, plan) VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut insert = conn.prepare_cached(insert)?;
    insert.execute((n, version, after, plan_sum(run, version, plan), plan))?;
    Ok(())
}

/// The sum of a plan, which no other run and no other version has.
pub(crate) fn plan_sum(run: &RunId, version: u32, text: &str) -> Sum {
    let version = ValueRef::Integer(i64::from(version));
    sum_of(run.as_str().as_bytes(), [version, ValueRef::from(text)])
}

pub(crate) fn hex(sum: &Sum) -> String {
    sum.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Notes the last fact beside the run. A failure leaves the one before, which is as good: the run
/// has more facts than that.
pub(crate) fn note_last_fact(run_dir: &Path, chain: &Chain) {
    // All lines have one length: one write replaces the one before.
    let line = format!("{:010} {}\n", chain.seq, hex(&chain.sum));
    let path = run_dir.join(LAST_FACT);
    let opened = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
    let _ = opened.and_then(|mut file| file.write_all(line.as_bytes()));
}

/// Makes what is noted beside the run safe from a power cut, as far as its disk can.
pub(crate) fn sync_last_fact(run_dir: &Path) {
    let _ = File::open(run_dir.join(LAST_FACT)).and_then(|file| file.sync_all());
    let _ = sync_directory(run_dir);
}

/// The last fact as it is noted beside the run: its number, and its sum as text. None where nothing
/// is noted: the run is older than this file, its directory was removed, or the power failed.
pub(crate) fn noted_last_fact(
    run: &RunId,
    run_dir: &Path,
) -> Result<Option<(u32, String)>, StoreError> {
    let path = run_dir.join(LAST_FACT);
    let text = match std::fs::read(&path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(StoreError::reading(&path, error)),
        Ok(bytes) if bytes.is_empty() => return Ok(None),
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
    };
    let noted = text.strip_suffix('\n').and_then(|line| line.split_once(' '));
    let noted = noted.and_then(|(seq, sum)| Some((seq.parse().ok()?, sum.to_owned())));
    noted.map(Some).ok_or_else(|| StoreError::UnclearEnd { run: run.clone(), path })
}
