//! What rules did to calls: the text before and after, which rules, and what ran then.
//!
//! Recording a correction counts the hits of its rules in the same commit, once per id: a log that
//! is folded in again after a crash counts nothing twice.

use crate::correction_rules::add_hit;
use crate::error::PathlessError;
use crate::keep_newest_rows::forget_old;
use crate::tool_calls::Order;
use crate::where_clause::WhereClause;
use crate::{Store, StoreError};
use rusqlite::{Connection, Row, params};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CorrectionRow {
    pub id: String,
    pub at_ms: i64,
    pub host: String,
    pub version: Option<String>,
    pub session: Option<String>,
    pub directory: Option<String>,
    /// The numbers of the rules.
    pub rules: Vec<i64>,
    pub before: String,
    /// Empty where the call was refused.
    pub after: String,
    pub decision: String,
    /// What the host ran, once that is known.
    pub ran: Option<String>,
}

/// Which corrections to list; what is `None` does not narrow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CorrectionFilter {
    pub since_ms: Option<i64>,
    pub host: Option<String>,
    pub session: Option<String>,
    pub rule: Option<i64>,
    /// At most so many, of those that come first.
    pub limit: Option<u32>,
    pub order: Order,
}

const COLUMNS: &str =
    "id, at_ms, host, version, session, directory, rules, before, after, decision, ran";

impl Store {
    /// Records corrections in one commit, and counts a hit for each rule of each new one. Returns
    /// how many were new. The newest 100,000 are kept; hits stay.
    pub fn corrections_add(&mut self, corrections: &[CorrectionRow]) -> Result<usize, StoreError> {
        self.commit(|conn| {
            let mut new = 0;
            for correction in corrections {
                if insert(conn, correction)? {
                    new += 1;
                    correction.rules.iter().try_for_each(|rule| add_hit(conn, *rule))?;
                }
            }
            forget_old(conn, "corrections")?;
            Ok(new)
        })
    }

    pub fn corrections(&self, filter: &CorrectionFilter) -> Result<Vec<CorrectionRow>, StoreError> {
        let limit = filter.limit.map_or(-1, i64::from);
        let rule = filter.rule.map(|number| format!(",{number},"));
        let narrowed = WhereClause::default()
            .by("at_ms >= ?", filter.since_ms)
            .by("host = ?", filter.host.as_deref())
            .by("session = ?", filter.session.as_deref())
            .by("instr(',' || rules || ',', ?) > 0", rule);
        let sql = format!(
            "SELECT {COLUMNS} FROM corrections {} ORDER BY {} LIMIT {limit}",
            narrowed.clause(),
            filter.order.sql()
        );
        self.ask(|conn| {
            let mut ask = conn.prepare_cached(&sql)?;
            let rows = ask.query_map(&narrowed.values()[..], correction)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Records what ran after a correction. Whether there is such a correction.
    pub fn correction_ran(&mut self, id: &str, ran: &str) -> Result<bool, StoreError> {
        self.commit(|conn| {
            let sql = "UPDATE corrections SET ran = ?2 WHERE id = ?1";
            Ok(conn.prepare_cached(sql)?.execute((id, ran))? > 0)
        })
    }
}

fn insert(conn: &Connection, correction: &CorrectionRow) -> Result<bool, PathlessError> {
    let rules: Vec<String> = correction.rules.iter().map(i64::to_string).collect();
    let sql = format!(
        "INSERT OR IGNORE INTO corrections ({COLUMNS})
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
    );
    let added = conn.prepare_cached(&sql)?.execute(params![
        correction.id,
        correction.at_ms,
        correction.host,
        correction.version,
        correction.session,
        correction.directory,
        rules.join(","),
        correction.before,
        correction.after,
        correction.decision,
        correction.ran,
    ])?;
    Ok(added > 0)
}

fn correction(row: &Row<'_>) -> rusqlite::Result<CorrectionRow> {
    let rules = row.get_ref(6)?.as_str()?;
    Ok(CorrectionRow {
        id: row.get(0)?,
        at_ms: row.get(1)?,
        host: row.get(2)?,
        version: row.get(3)?,
        session: row.get(4)?,
        directory: row.get(5)?,
        rules: rules.split(',').filter_map(|number| number.parse().ok()).collect(),
        before: row.get(7)?,
        after: row.get(8)?,
        decision: row.get(9)?,
        ran: row.get(10)?,
    })
}
