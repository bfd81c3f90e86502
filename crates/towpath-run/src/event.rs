//! What happens in a run, as everything that shows or reports it gets it: the terminal, files of
//! events, listeners, and whoever follows the run from another process.
//!
//! The run collects the kinds that it decides ([`Run::take_events`](crate::Run::take_events)). It has
//! no clock: the engine adds what only it sees, and gives every event its number and its time.

use crate::machine_exit::MachineExit;
use crate::reported::Reported;
use crate::run_outcome::RunOutcome;
use crate::step_result::StepResult;
use crate::step_view::StepView;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use towpath_core::{JobKey, RunId, SessionId, StepPath, Stream, Usage};
use towpath_recipe::StepKind;

/// One event of a run. As JSON:
/// `{"seq": 2, "at_ms": 1785406272345, "kind": {"type": "step-started", "data": {…}}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Counts from 1 for each reporter of a run: another owner, or a follower, starts at 1 again.
    pub seq: u64,
    /// In milliseconds since 1970.
    pub at_ms: i64,
    pub kind: EventKind,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data", rename_all = "kebab-case")]
pub enum EventKind {
    RunStarted {
        run: RunId,
        recipe: String,
        #[serde(with = "lossless::path")]
        directory: PathBuf,
        resumed: bool,
        /// Every step, with its status now.
        steps: Vec<StepView>,
    },
    StepStarted {
        step: StepPath,
        kind: StepKind,
    },
    /// New output of a step, as it comes. An agent's answer comes as its stdout.
    Output {
        step: StepPath,
        /// Which of the step's jobs printed it: an attempt of its work, or a hook.
        job: JobKey,
        stream: Stream,
        /// As JSON a string, or a list of numbers where the bytes are not valid UTF-8: also where a
        /// piece ends within a character.
        #[serde(with = "lossless::bytes")]
        bytes: Vec<u8>,
    },
    /// What an agent is doing right now.
    Doing {
        step: StepPath,
        what: String,
    },
    /// An agent has printed something that means nothing to a user: it is not silent.
    Heard {
        step: StepPath,
    },
    StepEnded {
        step: StepPath,
        result: StepResult,
        tolerated: bool,
        took_ms: i64,
    },
    /// A state machine has entered a step. `visit` and `total` count in its session.
    Entered {
        step: StepPath,
        recipe: String,
        visit: u32,
        max_visits: u32,
        total: u32,
        max_total: u32,
        model: Option<String>,
    },
    /// An agent is about to be asked.
    CallStarted(CallStarted),
    /// It has answered, or has not.
    CallEnded(CallEnded),
    /// A state machine's step has reported its outcome.
    Reported {
        step: StepPath,
        report: Reported,
    },
    /// An answer reported nothing; its agent gets a reminder.
    Reminded {
        step: StepPath,
        error: String,
    },
    /// A state machine takes a transition from a step.
    Moved {
        step: StepPath,
        to: Movement,
    },
    /// Files that were staged in git after a step, as git writes their names.
    Staged {
        step: StepPath,
        files: Vec<String>,
    },
    Warning {
        step: Option<StepPath>,
        message: String,
    },
    /// The run is being stopped; its children are being ended.
    Stopping,
    /// Processes that were still alive and have been ended.
    Ended {
        processes: Vec<String>,
        why: EndedWith,
    },
    /// The terminal is about to be given back, or is ours again.
    Suspended,
    Continued,
    RunEnded {
        run: RunId,
        outcome: RunOutcome,
        /// Every step, with its status at the end.
        steps: Vec<StepView>,
    },
}

/// Where a transition leads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Movement {
    Step(String),
    Exit(MachineExit),
    /// The recipe that begins in a new session.
    Restart(String),
}

/// Why processes that were still alive have been ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndedWith {
    /// Their step was ended.
    Step,
    /// The run has ended.
    Run,
    /// An earlier runner of the run died and left them.
    DeadRunner,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallStarted {
    pub step: StepPath,
    /// The id of the backend that answers.
    pub backend: String,
    pub session: Option<SessionId>,
    /// It continues an existing session.
    pub resumes: bool,
    pub model: Option<String>,
    pub is_reminder: bool,
    /// Of the prompt, in characters.
    pub length: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallEnded {
    pub step: StepPath,
    pub session: Option<SessionId>,
    pub model: Option<String>,
    pub is_reminder: bool,
    pub prompt_length: usize,
    /// Of the answer, in characters; none when there is no answer.
    pub length: Option<usize>,
    pub error: Option<String>,
    pub took_ms: u64,
    pub usage: Option<Usage>,
}

/// Bytes without loss in formats of text: a string where they are UTF-8, else a list of numbers.
mod lossless {
    use serde::Deserialize;

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum TextOrNumbers {
        Text(String),
        Numbers(Vec<u8>),
    }

    pub mod bytes {
        use super::TextOrNumbers;
        use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

        pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
            match std::str::from_utf8(bytes) {
                Ok(text) => serializer.serialize_str(text),
                Err(_) => bytes.serialize(serializer),
            }
        }

        pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
            TextOrNumbers::deserialize(from).map(|found| match found {
                TextOrNumbers::Text(text) => text.into_bytes(),
                TextOrNumbers::Numbers(numbers) => numbers,
            })
        }
    }

    pub mod path {
        use serde::{Deserializer, Serializer};
        use std::ffi::OsString;
        use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
        use std::path::{Path, PathBuf};

        pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
            super::bytes::serialize(path.as_os_str().as_bytes(), serializer)
        }

        pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
            super::bytes::deserialize(from).map(|bytes| OsString::from_vec(bytes).into())
        }
    }
}
