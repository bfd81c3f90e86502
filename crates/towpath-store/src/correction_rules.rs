//! Correction rules: their numbers, whether they are enabled and how often they matched.
//!
//! A rule is two strings here, its key and its body. A number is given once: a removed rule's
//! number never comes back. The rules of a project are in a file of the project; only their
//! number, whether the user has disabled them and their hits are kept here, by that file's path.

use crate::error::PathlessError;
use crate::keep_newest_rows::count;
use crate::{Store, StoreError};
use rusqlite::{Connection, OptionalExtension as _, Row};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// A user's rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRule {
    pub number: i64,
    pub key: String,
    pub body: String,
    pub enabled: bool,
    /// When it was added or last replaced.
    pub created_ms: i64,
    /// How many calls it matched.
    pub hits: u64,
}

/// What is kept of a project's rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRuleRow {
    pub number: i64,
    pub key: String,
    pub enabled: bool,
    pub hits: u64,
}

/// What became of a rule that was set, with its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetRule {
    Added(i64),
    Replaced(i64),
}

impl SetRule {
    pub fn number(self) -> i64 {
        match self {
            SetRule::Added(number) | SetRule::Replaced(number) => number,
        }
    }
}

/// In the column of the project's file: the rule is the user's.
const USER: &[u8] = b"";

impl Store {
    /// Adds rules, each with its key and its body, all or none; the answers are in their order. A
    /// rule with the same key is replaced: it keeps its number and its hits, and is enabled again.
    pub fn rules_set(
        &mut self,
        rules: &[(String, String)],
        at_ms: i64,
    ) -> Result<Vec<SetRule>, StoreError> {
        self.commit(|conn| rules.iter().map(|(key, body)| set(conn, key, body, at_ms)).collect())
    }

    /// Whether there was such a rule of the user.
    pub fn rule_remove(&mut self, number: i64) -> Result<bool, StoreError> {
        self.commit(|conn| {
            let sql = "DELETE FROM rules WHERE number = ?1 AND project = ?2";
            Ok(conn.prepare_cached(sql)?.execute((number, USER))? > 0)
        })
    }

    /// Enables or disables a rule of the user, or one of a project for this user. Whether there is
    /// such a rule.
    pub fn rule_enable(&mut self, number: i64, enabled: bool) -> Result<bool, StoreError> {
        self.commit(|conn| {
            let sql = "UPDATE rules SET enabled = ?2 WHERE number = ?1";
            Ok(conn.prepare_cached(sql)?.execute((number, enabled))? > 0)
        })
    }

    /// Whether there is a rule with this number, of the user or of a project.
    pub fn has_rule(&self, number: i64) -> Result<bool, StoreError> {
        self.ask(|conn| {
            Ok(conn.prepare_cached("SELECT 1 FROM rules WHERE number = ?1")?.exists([number])?)
        })
    }

    /// The user's rules by number.
    pub fn rules(&self) -> Result<Vec<StoredRule>, StoreError> {
        self.ask(|conn| {
            let mut ask = conn.prepare_cached(
                "SELECT number, key, body, enabled, created_ms, hits FROM rules
                 WHERE project = ?1 ORDER BY number",
            )?;
            Ok(ask.query_map([USER], stored_rule)?.collect::<Result<_, _>>()?)
        })
    }

    /// The numbers of the rules in a project's file, in the order of the keys. What has none yet
    /// gets one.
    pub fn project_rule_numbers(
        &mut self,
        project: &Path,
        keys: &[String],
        at_ms: i64,
    ) -> Result<Vec<i64>, StoreError> {
        self.commit(|conn| {
            keys.iter().map(|key| project_number(conn, project, key, at_ms)).collect()
        })
    }

    /// What is known of the rules of a project's file, by number.
    pub fn project_rules(&self, project: &Path) -> Result<Vec<ProjectRuleRow>, StoreError> {
        self.ask(|conn| {
            let mut ask = conn.prepare_cached(
                "SELECT number, key, enabled, hits FROM rules WHERE project = ?1 ORDER BY number",
            )?;
            let rows = ask.query_map([project.as_os_str().as_bytes()], |row| {
                let (number, key) = (row.get(0)?, row.get(1)?);
                Ok(ProjectRuleRow { number, key, enabled: row.get(2)?, hits: count(row, 3)? })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

/// Adds to the hits of a rule, of the user or of a project; a removed one has none.
pub(crate) fn add_hit(conn: &Connection, number: i64) -> Result<(), PathlessError> {
    let sql = "UPDATE rules SET hits = hits + 1 WHERE number = ?1";
    conn.prepare_cached(sql)?.execute([number])?;
    Ok(())
}

fn set(conn: &Connection, key: &str, body: &str, at_ms: i64) -> Result<SetRule, PathlessError> {
    let replaced: Option<i64> = conn
        .prepare_cached(
            "UPDATE rules SET body = ?3, enabled = 1, created_ms = ?4
             WHERE project = ?1 AND key = ?2 RETURNING number",
        )?
        .query_row((USER, key, body, at_ms), |row| row.get(0))
        .optional()?;
    match replaced {
        Some(number) => Ok(SetRule::Replaced(number)),
        None => Ok(SetRule::Added(insert(conn, USER, key, body, at_ms)?)),
    }
}

fn project_number(
    conn: &Connection,
    project: &Path,
    key: &str,
    at_ms: i64,
) -> Result<i64, PathlessError> {
    let project = project.as_os_str().as_bytes();
    let known = conn
        .prepare_cached("SELECT number FROM rules WHERE project = ?1 AND key = ?2")?
        .query_row((project, key), |row| row.get(0))
        .optional()?;
    known.map_or_else(|| insert(conn, project, key, "", at_ms), Ok)
}

fn insert(
    conn: &Connection,
    project: &[u8],
    key: &str,
    body: &str,
    at_ms: i64,
) -> Result<i64, PathlessError> {
    let sql = "INSERT INTO rules (project, key, body, created_ms) VALUES (?1, ?2, ?3, ?4)";
    Ok(conn.prepare_cached(sql)?.insert((project, key, body, at_ms))?)
}

fn stored_rule(row: &Row<'_>) -> rusqlite::Result<StoredRule> {
    Ok(StoredRule {
        number: row.get(0)?,
        key: row.get(1)?,
        body: row.get(2)?,
        enabled: row.get(3)?,
        created_ms: row.get(4)?,
        hits: count(row, 5)?,
    })
}
