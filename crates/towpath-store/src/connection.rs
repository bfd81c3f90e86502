//! How the database file is opened: write-ahead log, every commit synced, other terminals may
//! look and write at the same time.
//!
//! Closing never checkpoints by itself and keeps SQLite's side files: a database that is
//! refused stays byte for byte as it was, and looking finds the side files there instead of
//! creating them.

use crate::StoreError;
use crate::error::PathlessError;
use crate::private_files::beside;
use rusqlite::config::DbConfig;
use rusqlite::ffi::ErrorCode;
use rusqlite::{Connection, OpenFlags};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// A commit takes a fraction of a millisecond, on a stalled disk seconds: whoever waits this long
/// waits for something stuck, and giving up ends a run.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Pages in the log before they are moved into the database. After a crash, or when nobody has it
/// open, the whole log is read once on opening: a short log keeps that short.
const LOG_PAGES: i64 = 96;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Write,
    Read,
    /// Reading where nothing can be written, not even SQLite's side files.
    Frozen,
}

pub(crate) fn connect(path: &Path, access: Access) -> Result<Connection, StoreError> {
    let sql = |error| PathlessError::Sqlite(error).at(path);
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = match access {
        Access::Write => {
            Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_WRITE)
        }
        Access::Read => Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_ONLY),
        Access::Frozen => {
            let flags = flags | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            Connection::open_with_flags(frozen_uri(path), flags)
        }
    };
    let conn = opened.map_err(sql)?;
    // SQLite quietly opens for reading what it may not write.
    if access == Access::Write && conn.is_readonly("main").map_err(sql)? {
        let error = io::ErrorKind::PermissionDenied.into();
        return Err(StoreError::Unwritable { path: path.to_owned(), error });
    }
    conn.busy_timeout(PATIENCE).map_err(sql)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(sql)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true).map_err(sql)?;
    Ok(conn)
}

/// Settings of a connection that writes, once the database is known to be ours.
pub(crate) fn prepare_to_write(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    let sql = |error| PathlessError::Sqlite(error).at(path);
    write_ahead(conn, path)?;
    conn.pragma_update(None, "synchronous", "FULL").map_err(sql)?;
    conn.pragma_update(None, "wal_autocheckpoint", LOG_PAGES).map_err(sql)?;
    Ok(())
}

/// The mode is kept in the file: it is changed once, by whoever creates it. SQLite does not wait
/// for others here, so this does. A file system that cannot do it keeps the older, slower mode,
/// which loses nothing either.
fn write_ahead(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    let ask = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, String>(0));
    if ask("PRAGMA journal_mode").map_err(|error| PathlessError::Sqlite(error).at(path))? == "wal" {
        return Ok(());
    }
    let deadline = Instant::now() + PATIENCE;
    loop {
        match ask("PRAGMA journal_mode = WAL") {
            Ok(_) => return Ok(()),
            Err(error) if is_busy(&error) && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(error) => return Err(PathlessError::Sqlite(error).at(path)),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Whether the database file alone is complete: no log beside it contains newer pages.
pub(crate) fn log_is_empty(path: &Path) -> bool {
    beside(path, "-wal").metadata().map_or(true, |log| log.len() == 0)
}

fn frozen_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(byte as char),
            _ if byte.is_ascii_alphanumeric() => uri.push(byte as char),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri + "?immutable=1"
}
