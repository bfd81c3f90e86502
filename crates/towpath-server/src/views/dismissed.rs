//! Failures that the user has seen and put aside: a line for each in a file of the state directory, with
//! how much of the run was recorded then. A run that continued since is shown again.

use super::journal::{find, open_for};
use crate::Server;
use crate::answer::{Answer, Refusal};
use crate::live::events::Change;
use crate::routes::{Asked, NoBody};
use serde_json::json;
use std::collections::HashMap;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use towpath_core::RunId;
use towpath_store::Store;

/// The file is read, changed and replaced by one request at a time.
static WRITING: Mutex<()> = Mutex::new(());

/// The dismissed runs, as far as they are as they were then.
#[derive(Debug, Default)]
pub(crate) struct Dismissed(HashMap<String, u32>);

fn file(server: &Server) -> PathBuf {
    server.config.state.join("ui").join("dismissed")
}

impl Dismissed {
    pub fn read(server: &Server, store: &Store) -> Result<Dismissed, Refusal> {
        let Ok(text) = fs::read_to_string(file(server)) else { return Ok(Dismissed::default()) };
        let marks = text.lines().filter_map(|line| {
            let (id, facts) = line.split_once(' ')?;
            Some((id.to_owned(), facts.parse().ok()?))
        });
        let marks: HashMap<String, u32> = marks.collect();
        let now = store.run_positions()?.into_iter();
        let now = now.map(|position| (position.id.to_string(), position.facts));
        Ok(Dismissed(now.filter(|(id, facts)| marks.get(id) == Some(facts)).collect()))
    }

    pub fn has(&self, run: &RunId) -> bool {
        self.0.contains_key(run.as_str())
    }
}

/// Puts a run aside.
pub(crate) fn dismiss(server: &Server, asked: &Asked) -> Result<Answer, Refusal> {
    let NoBody {} = asked.body_as()?;
    let name = asked.path("run");
    let store = open_for(server, name)?;
    let id = find(&store, name)?.id;
    let facts = store.facts_after(&id, 0)?.last().map_or(0, |fact| fact.seq);
    let _alone = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut marks = Dismissed::read(server, &store)?.0;
    marks.insert(id.to_string(), facts);
    let path = file(server);
    let directory = path.parent().unwrap_or(&server.config.state);
    let text: String = marks.iter().map(|(id, facts)| format!("{id} {facts}\n")).collect();
    fs::create_dir_all(directory).map_err(Refusal::state)?;
    let mut written = tempfile::NamedTempFile::new_in(directory).map_err(Refusal::state)?;
    written.write_all(text.as_bytes()).map_err(Refusal::state)?;
    written.persist(path).map_err(Refusal::state)?;
    server.events.add(vec![Change::Run { run: id.to_string() }]);
    Ok(Answer::Json(json!({ "schema": 1, "success": true, "run_id": id })))
}
