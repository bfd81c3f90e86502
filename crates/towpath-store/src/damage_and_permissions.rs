//! The slow, thorough look that `doctor` takes: is the database whole, are the files there that it
//! names, can others read it. It reports; it repairs nothing.

use crate::error::shown;
use crate::outputs::output_path;
use crate::{Store, StoreError};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use towpath_core::RunId;

impl Store {
    /// One line per problem; none when all is well.
    pub fn integrity(&self) -> Result<Vec<String>, StoreError> {
        let mut problems = self.damage()?;
        problems.extend(self.open_to_others());
        Ok(problems)
    }

    /// What is not as it was written, a line each.
    pub fn damage(&self) -> Result<Vec<String>, StoreError> {
        let mut problems = Vec::new();
        for check in [database, files] {
            match check(self) {
                Ok(found) => problems.extend(found),
                // Damage is what this looks for: a finding, not a failure to look.
                Err(StoreError::Damaged { detail, .. }) => problems.push(detail),
                Err(error) => return Err(error),
            }
        }
        Ok(problems)
    }

    /// What other users could read, a line each.
    pub fn open_to_others(&self) -> Vec<String> {
        let private = [&self.dir, &self.path];
        private.into_iter().filter_map(|path| open_to_others(path)).collect()
    }
}

fn database(store: &Store) -> Result<Vec<String>, StoreError> {
    let mut problems = store.lines("PRAGMA integrity_check")?;
    problems.retain(|line| line != "ok");
    let orphans = "SELECT 'a row of ' || \"table\" || ' belongs to no ' || parent
                   FROM pragma_foreign_key_check";
    problems.extend(store.lines(orphans)?);
    let planless = "SELECT 'run ' || id || ' has no plan' FROM runs
                    WHERE n NOT IN (SELECT run FROM plans)";
    problems.extend(store.lines(planless)?);
    Ok(problems)
}

fn files(store: &Store) -> Result<Vec<String>, StoreError> {
    let named = "SELECT runs.id, stdout_file, stdout_len FROM facts JOIN runs ON n = run
                    WHERE stdout_file IS NOT NULL
                 UNION ALL
                 SELECT runs.id, stderr_file, stderr_len FROM facts JOIN runs ON n = run
                    WHERE stderr_file IS NOT NULL";
    let named: Vec<(String, String, i64)> = store.ask(|conn| {
        let mut ask = conn.prepare(named)?;
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        Ok(ask.query_map([], row)?.collect::<Result<_, _>>()?)
    })?;
    Ok(named
        .into_iter()
        .filter_map(|(run, name, len)| {
            let run = RunId::new(&run)?;
            let path = output_path(&store.run_directory(&run), &name).ok()?;
            file_problem(&path, len.unsigned_abs()).map(|what| format!("run {run}: {what}"))
        })
        .collect())
}

/// A file may be longer than recorded: a child that lived on may have written more.
fn file_problem(path: &Path, len: u64) -> Option<String> {
    match fs::metadata(path) {
        Err(error) => Some(format!("the output {} cannot be read: {error}", shown(path))),
        Ok(found) if found.len() < len => {
            Some(format!("the output {} has {} of {len} bytes", shown(path), found.len()))
        }
        Ok(_) => None,
    }
}

fn open_to_others(path: &Path) -> Option<String> {
    let mode = fs::metadata(path).ok()?.permissions().mode() & 0o777;
    let what = format!("{} is open to other users (mode {mode:o})", shown(path));
    (mode & 0o077 != 0).then_some(what)
}

impl Store {
    fn lines(&self, sql: &str) -> Result<Vec<String>, StoreError> {
        self.ask(|conn| {
            let mut ask = conn.prepare(sql)?;
            Ok(ask.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
    }
}
