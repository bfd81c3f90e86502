//! Facts: appended in order, never changed, given back as they were.
//!
//! Appending is the path every step of every run goes through twice: one transaction, statements
//! prepared once. A fact's number counts within its run and starts at 1.

use crate::chain::{
    Chain, Sum, fact_id, hex, insert_plan, note_last_fact, noted_last_fact, sum_of_bytes, values,
};
use crate::error::PathlessError;
use crate::outputs::{OutputRef, StoredOutput};
use crate::run_summary::{Summary, write_summary};
use crate::{Store, StoreError};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, params_from_iter};
use towpath_core::{RunId, Stream};

/// A fact to record. `body` is JSON that only its writer understands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFact {
    pub at_ms: i64,
    pub kind: &'static str,
    /// The key of the job it is about.
    pub key: Option<String>,
    pub body: String,
    pub stdout: Option<OutputRef>,
    pub stderr: Option<OutputRef>,
}

impl NewFact {
    /// A fact about no job, without outputs.
    pub fn new(at_ms: i64, kind: &'static str, body: impl Into<String>) -> NewFact {
        NewFact { at_ms, kind, key: None, body: body.into(), stdout: None, stderr: None }
    }

    fn outputs(&self) -> impl Iterator<Item = &OutputRef> {
        self.stdout.iter().chain(&self.stderr)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFact {
    pub seq: u32,
    pub at_ms: i64,
    pub kind: String,
    pub key: Option<String>,
    pub body: String,
    pub stdout: Option<StoredOutput>,
    pub stderr: Option<StoredOutput>,
}

impl Store {
    /// Records `facts`, and the run's new summary if there is one, in one commit: when it returns
    /// they are on disk, when it fails none of them is.
    pub fn append(
        &mut self,
        run: &RunId,
        facts: &[NewFact],
        summary: Option<&Summary>,
    ) -> Result<(), StoreError> {
        self.record(run, None, facts, summary)
    }

    /// Appends to a run that no other process has taken over: a plan, facts, its new summary.
    pub(crate) fn record(
        &mut self,
        run: &RunId,
        plan: Option<&str>,
        facts: &[NewFact],
        summary: Option<&Summary>,
    ) -> Result<(), StoreError> {
        let known = self.owned.get(run).copied();
        let (owner, chain) = self.commit(|conn| {
            let (n, owner) = owned_run(conn, run)?;
            if known.is_some_and(|known| known != owner) {
                return Err(StoreError::TakenOver(run.clone()).into());
            }
            if let Some(plan) = plan {
                insert_plan(conn, n, run, plan)?;
            }
            let chain = insert_facts(conn, n, run, facts)?;
            if let Some(summary) = summary {
                write_summary(conn, n, summary)?;
            }
            Ok((owner, chain))
        })?;
        self.owned.insert(run.clone(), owner);
        self.recorded(run, facts, &chain);
        Ok(())
    }

    /// Steps after a commit of facts.
    pub(crate) fn recorded(&self, run: &RunId, facts: &[NewFact], chain: &Chain) {
        let dir = self.run_directory(run);
        note_last_fact(&dir, chain);
        // Small outputs are in the row now; their files go.
        facts.iter().flat_map(NewFact::outputs).for_each(|output| output.remove_collected(&dir));
    }

    /// Makes this the owner of a run: whoever was it before can record nothing more of it, also where
    /// the disk has no locks.
    pub fn take_over(&mut self, run: &RunId) -> Result<(), StoreError> {
        let owner = self.commit(|conn| {
            let (n, _) = owned_run(conn, run)?;
            let mut take = conn
                .prepare_cached("UPDATE runs SET owner = owner + 1 WHERE n = ?1 RETURNING owner")?;
            Ok(take.query_row([n], |row| row.get(0))?)
        })?;
        self.owned.insert(run.clone(), owner);
        Ok(())
    }

    /// All facts of the run in order, for replay: a small stdout comes with its bytes, every other
    /// output with its length and location.
    pub fn facts(&self, run: &RunId) -> Result<Vec<StoredFact>, StoreError> {
        self.whole_facts_after(run, 0)
    }

    /// The facts after number `after` (0: all), for showing and following: outputs only with their
    /// lengths and locations.
    pub fn facts_after(&self, run: &RunId, after: u32) -> Result<Vec<StoredFact>, StoreError> {
        self.load(run, after, None)
    }

    /// The facts after number `after`, for a replay that continues.
    pub fn whole_facts_after(
        &self,
        run: &RunId,
        after: u32,
    ) -> Result<Vec<StoredFact>, StoreError> {
        self.load(run, after, Some(Stream::Stdout))
    }

    /// Facts with the bytes of one of their outputs, refused unless all are as they were recorded.
    pub(crate) fn load(
        &self,
        run: &RunId,
        after: u32,
        with: Option<Stream>,
    ) -> Result<Vec<StoredFact>, StoreError> {
        self.refuse_older_journal(run)?;
        self.ask(|conn| {
            let _snapshot = conn.unchecked_transaction()?;
            let n = run_number(conn, run)?;
            let mut chain = Chain::at(conn, n, run, after)?;
            let bytes = with.map_or("NULL", Stream::as_str);
            let sql =
                format!("SELECT {FACT}, {bytes} FROM facts WHERE id > ?1 AND id < ?2 ORDER BY id");
            let mut ask = conn.prepare_cached(&sql)?;
            let mut rows = ask.query((fact_id(n, after), fact_id(n + 1, 0)))?;
            let mut facts = Vec::new();
            while let Some(row) = rows.next()? {
                facts.push(checked_fact(row, run, with, &mut chain)?);
            }
            Ok(facts)
        })
    }

    /// Refuses a run of which the journal lacks the last fact that is noted beside it.
    pub(crate) fn refuse_older_journal(&self, run: &RunId) -> Result<(), StoreError> {
        let check = || {
            // Read before the fact, which is committed before it is noted.
            let Some((seq, sum)) = noted_last_fact(run, &self.run_directory(run))? else {
                return Ok(());
            };
            self.ask(|conn| {
                let n = run_number(conn, run)?;
                match Chain::at(conn, n, run, seq) {
                    Ok(chain) if hex(&chain.sum) == sum => Ok(()),
                    _ => {
                        let found = Chain::at_end(conn, n, run)?.seq;
                        Err(StoreError::LostFacts { run: run.clone(), noted: seq, found }.into())
                    }
                }
            })
        };
        // The owner may be writing the note just now.
        check().or_else(|error| match error {
            StoreError::LostFacts { .. } | StoreError::UnclearEnd { .. } => check(),
            other => Err(other),
        })
    }
}

/// The columns that a fact's sum is made of, then the sum.
pub(crate) const FACT: &str = "seq, at_ms, kind, key, body, stdout_len, stdout_file, stdout_sum,
    stderr_len, stderr_file, stderr_sum, sum";
const SUMMED: usize = 11;

/// A fact from the columns of [`FACT`] and the bytes of one of its outputs, if it is the next in the
/// chain.
pub(crate) fn checked_fact(
    row: &Row<'_>,
    run: &RunId,
    with: Option<Stream>,
    chain: &mut Chain,
) -> Result<StoredFact, PathlessError> {
    chain.check(run, &values(row, SUMMED)?, row.get_ref(SUMMED)?.as_blob().unwrap_or_default())?;
    let output = |stream, first| -> Result<_, PathlessError> {
        let bytes = (with == Some(stream)).then_some(SUMMED + 1);
        let output = StoredOutput::from_row(row, first, bytes)?;
        if let Some(StoredOutput::Inline { bytes: Some(bytes), .. }) = &output
            && row.get::<_, Option<Sum>>(first + 2)? != Some(sum_of_bytes(bytes))
        {
            let detail = format!("the output in fact {} is not as it was recorded", chain.seq);
            return Err(StoreError::DamagedRun { run: run.clone(), detail }.into());
        }
        Ok(output)
    };
    Ok(StoredFact {
        seq: row.get(0)?,
        at_ms: row.get(1)?,
        kind: row.get(2)?,
        key: row.get(3)?,
        body: row.get(4)?,
        stdout: output(Stream::Stdout, 5)?,
        stderr: output(Stream::Stderr, 8)?,
    })
}

/// The run's number in the database.
pub(crate) fn run_number(conn: &Connection, run: &RunId) -> Result<i64, PathlessError> {
    Ok(owned_run(conn, run)?.0)
}

/// The run's number in the database, and that of its owner.
fn owned_run(conn: &Connection, run: &RunId) -> Result<(i64, i64), PathlessError> {
    let mut ask = conn.prepare_cached("SELECT n, owner FROM runs WHERE id = ?1")?;
    let found = ask.query_row([run.as_str()], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    found.ok_or_else(|| StoreError::NoSuchRun(run.clone()).into())
}

/// Adds facts to the run's chain, and returns its end.
pub(crate) fn insert_facts(
    conn: &Connection,
    n: i64,
    run: &RunId,
    facts: &[NewFact],
) -> Result<Chain, PathlessError> {
    facts.iter().flat_map(NewFact::outputs).try_for_each(OutputRef::check)?;
    let mut chain = Chain::at_end(conn, n, run)?;
    let sql = format!(
        "INSERT INTO facts ({FACT}, stdout, stderr, run, id)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    for fact in facts {
        let seq = chain.seq + 1;
        let outputs = [&fact.stdout, &fact.stderr].map(Option::as_ref);
        let sums = outputs.map(|output| output.and_then(OutputRef::sum));
        let [out, err] = [0, 1].map(|i| output_values(outputs[i], sums[i].as_ref()));
        let values = [
            ValueRef::Integer(i64::from(seq)),
            ValueRef::Integer(fact.at_ms),
            ValueRef::from(fact.kind),
            ValueRef::from(fact.key.as_deref()),
            ValueRef::from(fact.body.as_str()),
            out[0],
            out[1],
            out[2],
            err[0],
            err[1],
            err[2],
        ];
        let sum = chain.link(&values);
        let bytes = outputs.map(|output| ValueRef::from(output.and_then(OutputRef::bytes)));
        let id = [ValueRef::Integer(n), ValueRef::Integer(fact_id(n, seq))];
        let rest = [ValueRef::Blob(&sum)].into_iter().chain(bytes).chain(id);
        let all = values.into_iter().chain(rest).map(ToSqlOutput::Borrowed);
        statement.execute(params_from_iter(all))?;
    }
    Ok(chain)
}

/// Gives facts from before there were sums their own.
pub(crate) fn seal_facts(conn: &Connection, n: i64, run: &RunId) -> Result<(), PathlessError> {
    let mut chain = Chain::at(conn, n, run, 0)?;
    let mut ask = conn.prepare_cached("SELECT id, stdout, stderr FROM facts WHERE run = ?1")?;
    let output = |row: &Row<'_>, column| -> rusqlite::Result<_> {
        Ok(row.get_ref(column)?.as_blob_or_null()?.map(sum_of_bytes))
    };
    let sums =
        ask.query_map([n], |row| Ok((row.get::<_, i64>(0)?, output(row, 1)?, output(row, 2)?)))?;
    for (id, stdout, stderr) in sums.collect::<Result<Vec<_>, _>>()? {
        let summed = "UPDATE facts SET stdout_sum = ?2, stderr_sum = ?3 WHERE id = ?1";
        conn.prepare_cached(summed)?.execute((id, stdout, stderr))?;
        let sum = conn
            .prepare_cached(&format!("SELECT {FACT} FROM facts WHERE id = ?1"))?
            .query_row([id], |row| Ok(chain.link(&values(row, SUMMED)?)))?;
        conn.prepare_cached("UPDATE facts SET sum = ?2 WHERE id = ?1")?.execute((id, sum))?;
    }
    Ok(())
}

/// Length, file and sum of an output.
fn output_values<'a>(output: Option<&'a OutputRef>, sum: Option<&'a Sum>) -> [ValueRef<'a>; 3] {
    let len = output.map(|output| i64::try_from(output.len()).unwrap_or(i64::MAX));
    [
        len.map_or(ValueRef::Null, ValueRef::Integer),
        ValueRef::from(output.and_then(OutputRef::file_name)),
        ValueRef::from(sum.map(Sum::as_slice)),
    ]
}
