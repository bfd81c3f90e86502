//! The aliases in a database of `dp`, versions 1 to 7. The file is only read, and never changed by
//! as much as a side file, unless `dp` has left some itself.

use crate::StoreError;
use crate::connection::{self, Access};
use crate::error::PathlessError;
use crate::private_files::beside;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use std::path::Path;

/// One alias. A column that an older version does not have is an empty string.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DpAliasRow {
    pub from: String,
    pub to: String,
    pub tool: String,
    pub param: String,
    pub command: String,
    pub match_kind: String,
    pub message: String,
}

/// What a database contains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DpAliases {
    pub rows: Vec<DpAliasRow>,
    /// Why rows are missing above, one text for each.
    pub unreadable: Vec<String>,
}

/// An upgrade that was interrupted has left both.
const TABLES: [&str; 2] = ["aliases", "aliases_v3"];
const COLUMNS: [&str; 7] =
    ["from_name", "to_name", "tool", "param", "command", "match_kind", "message"];

/// Reads all aliases.
pub fn read_dp_aliases(path: &Path) -> Result<DpAliases, StoreError> {
    let path = std::path::absolute(path).map_err(|error| StoreError::reading(path, error))?;
    std::fs::metadata(&path).map_err(|error| StoreError::reading(&path, error))?;
    let quiet = connection::log_is_empty(&path) && !beside(&path, "-journal").exists();
    let access = if quiet { Access::Frozen } else { Access::Read };
    let conn = connection::connect(&path, access)?;
    aliases(&conn, &path).map_err(|error| error.at(&path))
}

fn aliases(conn: &Connection, path: &Path) -> Result<DpAliases, PathlessError> {
    let mut found = DpAliases::default();
    let mut tables = 0;
    for table in TABLES {
        let there = columns(conn, table)?;
        if !there.iter().any(|column| column == "from_name") {
            continue;
        }
        tables += 1;
        read_table(conn, table, &there, &mut found)?;
    }
    if tables == 0 {
        let detail = "it is a database, but not one of dp: it has no table `aliases`".to_owned();
        return Err(StoreError::Sqlite { path: path.to_owned(), detail }.into());
    }
    Ok(found)
}

fn columns(conn: &Connection, table: &str) -> Result<Vec<String>, PathlessError> {
    let mut ask = conn.prepare("SELECT name FROM pragma_table_info(?1)")?;
    Ok(ask.query_map([table], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

fn read_table(
    conn: &Connection,
    table: &str,
    there: &[String],
    found: &mut DpAliases,
) -> Result<(), PathlessError> {
    let has = |column: &&str| there.iter().any(|name| name == column);
    let select = COLUMNS.map(|column| if has(&column) { column } else { "''" }).join(", ");
    let mut ask = conn.prepare(&format!("SELECT {select} FROM {table} ORDER BY rowid"))?;
    let mut rows = ask.query([])?;
    while let Some(row) = rows.next()? {
        match alias(row) {
            Ok(alias) if found.rows.contains(&alias) => {}
            Ok(alias) => found.rows.push(alias),
            Err(column) => {
                let from = row.get_ref(0).ok().and_then(|value| value.as_str().ok());
                let name = from.map_or(String::new(), |from| format!(" of {from:?}"));
                found.unreadable.push(format!("`{column}`{name} is no text"));
            }
        }
    }
    Ok(())
}

/// The alias, or the first column that is no text.
fn alias(row: &Row<'_>) -> Result<DpAliasRow, &'static str> {
    let text = |index: usize| match row.get_ref(index) {
        Ok(ValueRef::Text(bytes)) => {
            std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| COLUMNS[index])
        }
        Ok(ValueRef::Null) => Ok(String::new()),
        _ => Err(COLUMNS[index]),
    };
    Ok(DpAliasRow {
        from: text(0)?,
        to: text(1)?,
        tool: text(2)?,
        param: text(3)?,
        command: text(4)?,
        match_kind: text(5)?,
        message: text(6)?,
    })
}
