//! The transcript of one agent call: its messages, tool uses and edits, as `towpath logs` prints them, live
//! and afterwards. They are read out of what its program printed, by the reader of its backend.

use super::journal::{find, open_for};
use crate::Server;
use crate::answer::{Answer, Refusal};
use crate::routes::Asked;
use serde_json::{Value, json};
use std::path::Path;
use towpath_engine::{CallProgress, JobNews, RunFollower};
use towpath_run::JobEnd;
use towpath_store::{RunRow, Store};
use towpath_view::foreign_text::relative;

/// The most items of one answer.
const MOST: usize = 1000;
/// The detail of one item, such as a file that was written.
const LONGEST: usize = 64 * 1024;

pub(crate) fn answer(server: &Server, asked: &Asked) -> Result<Answer, Refusal> {
    let name = asked.path("run");
    let store = open_for(server, name)?;
    let row = find(&store, name)?;
    let none = || Refusal::not_found(format!("run {} has no such job", row.id));
    let number = asked.path("job").parse().map_err(|_| none())?;
    let mut read = CallTranscript::new(&row.directory);
    let over = read.take(server, &store, &row, number)?.ok_or_else(none)?;
    let after = asked.number("after")?.unwrap_or(0);
    let count = read.items.len();
    let items: Vec<Value> = read.items.into_iter().skip(after).take(MOST).collect();
    Ok(Answer::Json(json!({
        "schema": 1,
        "run_id": row.id,
        "job": number,
        "model": read.model,
        "live": !over,
        "count": count,
        "items": items,
    })))
}

struct CallTranscript<'a> {
    directory: &'a Path,
    items: Vec<Value>,
    model: Option<String>,
}

impl CallTranscript<'_> {
    fn new(directory: &Path) -> CallTranscript<'_> {
        CallTranscript { directory, items: Vec::new(), model: None }
    }

    /// Reads a call, and returns whether it is over; none where there is no such job.
    fn take(
        &mut self,
        server: &Server,
        store: &Store,
        row: &RunRow,
        number: u32,
    ) -> Result<Option<bool>, Refusal> {
        let mut follower = RunFollower::new(store, row.clone(), server.config.zone.clone());
        follower.update(store)?;
        let Some(at) = follower.jobs().iter().position(|job| job.number == number) else {
            return Ok(None);
        };
        follower.read_job(store, at, &mut |news| {
            match news {
                JobNews::Agent(progress) => self.progress(progress),
                JobNews::Ended(end) => self.ended(end),
                JobNews::Output { .. } => {}
            }
            true
        })?;
        Ok(Some(follower.jobs()[at].end.is_some()))
    }

    fn progress(&mut self, progress: CallProgress) {
        let (kind, text) = match progress {
            CallProgress::Doing(what) => ("tool", relative(&what, self.directory)),
            CallProgress::Retrying(what) => ("retry", what),
            CallProgress::Input(text) => ("input", text),
            CallProgress::Diff(text) => ("diff", text),
            CallProgress::Message(text) => ("message", text),
            CallProgress::Model(model) => return self.model = Some(model),
            CallProgress::Session(_) | CallProgress::Writing(_) | CallProgress::Complete => return,
        };
        let end = text.char_indices().nth(LONGEST).map(|(end, _)| end);
        let text = end.map_or(text.clone(), |end| format!("{}…", &text[..end]));
        self.items.push(json!({ "kind": kind, "text": text }));
    }

    /// The answer, where it is not the last message.
    fn ended(&mut self, end: &JobEnd) {
        let answer = end.output.text().unwrap_or_default().trim();
        let last = self.items.iter().rfind(|item| item["kind"] == "message");
        let last = last.and_then(|item| item["text"].as_str()).unwrap_or_default().trim();
        if !answer.is_empty() && !last.ends_with(answer) {
            self.progress(CallProgress::Message(answer.to_owned()));
        }
    }
}
