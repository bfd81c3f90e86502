//! The slow, thorough look that `doctor` takes: is the database whole, are the files there that it
//! names, can others read it. It reports; it repairs nothing.

use crate::error::shown;
use crate::outputs::{StoredOutput, compare_file, output_path};
use crate::private_files::RUNS;
use crate::{RunFilter, Store, StoreError, StoredFact};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use towpath_core::{RunId, Stream};

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
        for check in [database, records, lost_runs] {
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

/// Every run's row, plans, facts and outputs, compared with their sums.
fn records(store: &Store) -> Result<Vec<String>, StoreError> {
    let mut problems = Vec::new();
    for row in store.runs(&RunFilter::default())? {
        let run = &row.id;
        let mut note = |done: Result<(), StoreError>| match done {
            Ok(()) => {}
            Err(StoreError::DamagedRun { detail, .. }) => {
                problems.push(format!("run {run}: {detail}"));
            }
            Err(error) => problems.push(format!("run {run}: {error}")),
        };
        note(store.run(run).map(drop));
        note(plans(store, run));
        for stream in [Stream::Stdout, Stream::Stderr] {
            match store.load(run, 0, Some(stream)) {
                Ok(facts) => facts.iter().for_each(|fact| note(file(store, run, stream, fact))),
                Err(error) => note(Err(error)),
            }
        }
    }
    problems.dedup();
    Ok(problems)
}

fn plans(store: &Store, run: &RunId) -> Result<(), StoreError> {
    let newest = store.plan(run, None)?.version;
    (1..newest).try_for_each(|version| store.plan(run, Some(version)).map(drop))
}

/// A file may be longer than recorded: a child that lived on may have written more.
fn file(store: &Store, run: &RunId, stream: Stream, fact: &StoredFact) -> Result<(), StoreError> {
    match if stream == Stream::Stdout { &fact.stdout } else { &fact.stderr } {
        Some(StoredOutput::File { name, len, sum }) => {
            compare_file(&output_path(&store.run_directory(run), name)?, *len, *sum)
        }
        _ => Ok(()),
    }
}

/// Directories of runs that the journal does not have.
fn lost_runs(store: &Store) -> Result<Vec<String>, StoreError> {
    let entries = fs::read_dir(store.dir.join(RUNS)).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| RunId::new(entry.file_name().to_str()?));
    let lost = names.filter_map(|run| store.run(&run).err());
    Ok(lost.filter(|e| matches!(e, StoreError::LostRun { .. })).map(|e| e.to_string()).collect())
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
