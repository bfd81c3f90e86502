//! The latest events, numbered without gaps. The first number is the time of the server's start in
//! milliseconds, so that numbers also grow from one server to the next.

use crate::views::journal::now_ms;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// How many events are kept for those who reconnect.
const KEPT: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    Run { run: String },
    RunRemoved { run: String },
    Output { run: String, output: String, bytes: u64 },
}

impl Change {
    fn json(&self, seq: u64) -> Value {
        match self {
            Change::Run { run } => json!({ "seq": seq, "kind": "run-changed", "run": run }),
            Change::RunRemoved { run } => json!({ "seq": seq, "kind": "run-removed", "run": run }),
            Change::Output { run, output, bytes } => json!({
                "seq": seq, "kind": "output", "run": run, "output": output, "bytes": bytes,
            }),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Events {
    kept: Mutex<Kept>,
    latest: watch::Sender<u64>,
}

#[derive(Debug)]
struct Kept {
    /// The number before the first change.
    before: u64,
    changes: VecDeque<Change>,
}

/// What came after a number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum After {
    Changes {
        messages: Vec<String>,
        latest: u64,
    },
    /// Some of it is not kept any more, or the number is not one of this server.
    Lost {
        latest: u64,
    },
}

impl Default for Events {
    fn default() -> Events {
        Events::starting_at(u64::try_from(now_ms()).unwrap_or(0))
    }
}

impl Events {
    fn starting_at(before: u64) -> Events {
        let kept = Mutex::new(Kept { before, changes: VecDeque::new() });
        Events { kept, latest: watch::Sender::new(before) }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn latest(&self) -> u64 {
        *self.latest.borrow()
    }

    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.latest.subscribe()
    }

    pub fn add(&self, changes: Vec<Change>) {
        if changes.is_empty() {
            return;
        }
        let mut kept = self.kept();
        kept.changes.extend(changes);
        while kept.changes.len() > KEPT {
            kept.changes.pop_front();
            kept.before += 1;
        }
        let latest = kept.before + kept.changes.len() as u64;
        drop(kept);
        self.latest.send_replace(latest);
    }

    pub fn after(&self, since: u64) -> After {
        let kept = self.kept();
        let latest = kept.before + kept.changes.len() as u64;
        if since < kept.before || since > latest {
            return After::Lost { latest };
        }
        let skipped = (since - kept.before) as usize;
        let numbered = kept.changes.iter().skip(skipped).zip(since + 1..);
        let messages = numbered.map(|(change, seq)| change.json(seq).to_string()).collect();
        After::Changes { messages, latest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str) -> Change {
        Change::Run { run: name.to_owned() }
    }

    #[test]
    fn nothing_is_missed_and_nothing_comes_twice() {
        let events = Events::starting_at(100);
        events.add(vec![run("a"), run("b")]);
        events.add(vec![run("c")]);
        let After::Changes { messages, latest: 103 } = events.after(101) else { panic!() };
        let expected = [
            r#"{"seq":102,"kind":"run-changed","run":"b"}"#,
            r#"{"seq":103,"kind":"run-changed","run":"c"}"#,
        ];
        assert_eq!(messages, expected);
        assert_eq!(events.after(103), After::Changes { messages: vec![], latest: 103 });
    }

    #[test]
    fn what_is_not_kept_any_more_is_reported() {
        let events = Events::starting_at(100);
        for _ in 0..3 {
            events.add(vec![run("a"); KEPT / 2]);
        }
        let latest = 100 + 3 * (KEPT as u64 / 2);
        assert_eq!(events.after(100), After::Lost { latest });
        assert_eq!(events.after(latest + 1), After::Lost { latest }, "of another server");
        let After::Changes { messages, .. } = events.after(latest - 1) else { panic!() };
        assert_eq!(messages.len(), 1);
    }
}
