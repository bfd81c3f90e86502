//! The status of a run: one table of words for the journal, lists, filters, JSON and exit codes.

use crate::{FaultKind, StepPath};
use serde::Deserialize as _;
use serde::de::IntoDeserializer as _;
use serde::de::value::{Error, StrDeserializer};
use std::fmt;

/// The status of a run, with what belongs to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum RunStatus {
    /// It has an owner, or had one that has died: the record alone does not show which.
    #[default]
    Running,
    Done,
    Failed {
        step: StepPath,
        /// Of a state machine that ended through an exit without success.
        reason: Option<String>,
    },
    /// For a rate limit, or a fault that may pass.
    Waiting {
        why: FaultKind,
        /// When another try is worth it, where that is known.
        until_ms: Option<i64>,
    },
    /// The user must decide what became of this step.
    Asking {
        step: StepPath,
    },
    /// By a signal.
    Stopped,
    Cancelled,
    /// It has no owner and no end. Never recorded: whoever looks finds it out.
    Interrupted,
    /// Recorded by a newer program.
    Unknown {
        word: String,
        location: String,
    },
}

/// A status without what belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusKind {
    Running,
    Done,
    Failed,
    Waiting,
    Asking,
    Stopped,
    Cancelled,
    Interrupted,
}

impl StatusKind {
    pub const ALL: [StatusKind; 8] = [
        StatusKind::Running,
        StatusKind::Done,
        StatusKind::Failed,
        StatusKind::Waiting,
        StatusKind::Asking,
        StatusKind::Stopped,
        StatusKind::Cancelled,
        StatusKind::Interrupted,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            StatusKind::Running => "running",
            StatusKind::Done => "done",
            StatusKind::Failed => "failed",
            StatusKind::Waiting => "waiting",
            StatusKind::Asking => "asking",
            StatusKind::Stopped => "stopped",
            StatusKind::Cancelled => "cancelled",
            StatusKind::Interrupted => "interrupted",
        }
    }

    /// The kind of this name.
    pub fn named(word: &str) -> Option<StatusKind> {
        StatusKind::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for StatusKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Between the reason of a wait and its end.
const UNTIL: &str = " until ";
/// Between a step and the reason of its state machine.
const REASON: &str = ": ";

impl RunStatus {
    /// The status of a run whose record was changed from outside.
    pub fn damaged() -> RunStatus {
        RunStatus::Unknown { word: "damaged".to_owned(), location: String::new() }
    }

    /// None: a newer program recorded it.
    pub fn kind(&self) -> Option<StatusKind> {
        Some(match self {
            RunStatus::Running => StatusKind::Running,
            RunStatus::Done => StatusKind::Done,
            RunStatus::Failed { .. } => StatusKind::Failed,
            RunStatus::Waiting { .. } => StatusKind::Waiting,
            RunStatus::Asking { .. } => StatusKind::Asking,
            RunStatus::Stopped => StatusKind::Stopped,
            RunStatus::Cancelled => StatusKind::Cancelled,
            RunStatus::Interrupted => StatusKind::Interrupted,
            RunStatus::Unknown { word, .. } => return StatusKind::named(word),
        })
    }

    pub fn is(&self, kind: StatusKind) -> bool {
        self.kind() == Some(kind)
    }

    /// The status in one word.
    pub fn as_str(&self) -> &str {
        match self {
            RunStatus::Unknown { word, .. } => word,
            known => known.kind().map_or("", StatusKind::as_str),
        }
    }

    /// When a waiting run is worth another try, where that is known.
    pub fn waits_until(&self) -> Option<i64> {
        match self {
            RunStatus::Waiting { until_ms, .. } => *until_ms,
            _ => None,
        }
    }

    /// What a waiting run waits for, such as `limit`.
    pub fn waits_for(&self) -> &str {
        match self {
            RunStatus::Waiting { why, .. } => why.as_str(),
            RunStatus::Unknown { location, .. } => location,
            _ => "",
        }
    }

    /// The second column of a record: the step, or what is waited for.
    pub fn location(&self) -> String {
        match self {
            RunStatus::Failed { step, reason: Some(reason) } => format!("{step}{REASON}{reason}"),
            RunStatus::Failed { step, reason: None } | RunStatus::Asking { step } => {
                step.to_string()
            }
            RunStatus::Waiting { why, until_ms: Some(until) } => {
                format!("{}{UNTIL}{until}", why.as_str())
            }
            RunStatus::Waiting { why, until_ms: None } => why.as_str().to_owned(),
            RunStatus::Unknown { location, .. } => location.clone(),
            _ => String::new(),
        }
    }

    /// The status that a record has in two columns, by [`RunStatus::as_str`] and
    /// [`RunStatus::location`].
    pub fn from_columns(word: &str, location: &str) -> RunStatus {
        let step = || StepPath::new(location);
        let known = match StatusKind::named(word) {
            Some(StatusKind::Running) => Some(RunStatus::Running),
            Some(StatusKind::Done) => Some(RunStatus::Done),
            Some(StatusKind::Failed) => {
                let (step, reason) = match location.split_once(REASON) {
                    Some((step, reason)) => (step, Some(reason.to_owned())),
                    None => (location, None),
                };
                Some(RunStatus::Failed { step: StepPath::new(step), reason })
            }
            Some(StatusKind::Waiting) => waiting(location),
            Some(StatusKind::Asking) => Some(RunStatus::Asking { step: step() }),
            Some(StatusKind::Stopped) => Some(RunStatus::Stopped),
            Some(StatusKind::Cancelled) => Some(RunStatus::Cancelled),
            Some(StatusKind::Interrupted) => Some(RunStatus::Interrupted),
            None => None,
        };
        known.unwrap_or_else(|| RunStatus::Unknown {
            word: word.to_owned(),
            location: location.to_owned(),
        })
    }
}

fn waiting(location: &str) -> Option<RunStatus> {
    let (why, until_ms) = match location.split_once(UNTIL) {
        Some((why, until)) => (why, Some(until.parse().ok()?)),
        None => (location, None),
    };
    let why = why.replace(' ', "_");
    let why: StrDeserializer<'_, Error> = why.as_str().into_deserializer();
    Some(RunStatus::Waiting { why: FaultKind::deserialize(why).ok()?, until_ms })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_keeps_its_spelling() {
        let step = || StepPath::new("ci/lint");
        let failed = |reason: &str| {
            let reason = Some(reason.to_owned());
            RunStatus::Failed { step: step(), reason }
        };
        let wait = |why, until_ms| RunStatus::Waiting { why, until_ms };
        let rows = [
            (RunStatus::Running, "running", ""),
            (RunStatus::Done, "done", ""),
            (RunStatus::Failed { step: step(), reason: None }, "failed", "ci/lint"),
            (failed("gave: up"), "failed", "ci/lint: gave: up"),
            (wait(FaultKind::Limit, Some(1_700_000)), "waiting", "limit until 1700000"),
            (wait(FaultKind::Overloaded, None), "waiting", "overloaded"),
            (wait(FaultKind::BadRequest, None), "waiting", "bad request"),
            (RunStatus::Asking { step: step() }, "asking", "ci/lint"),
            (RunStatus::Stopped, "stopped", ""),
            (RunStatus::Cancelled, "cancelled", ""),
            (RunStatus::Interrupted, "interrupted", ""),
        ];
        for (status, word, location) in rows {
            assert_eq!((status.as_str(), status.location().as_str()), (word, location));
            assert_eq!(RunStatus::from_columns(word, location), status);
        }
    }

    #[test]
    fn what_a_newer_program_recorded_stays_as_it_is() {
        let rows =
            [("paused", "x", None), ("waiting", "a vote until 7", Some(StatusKind::Waiting))];
        for (word, location, kind) in rows {
            let status = RunStatus::from_columns(word, location);
            assert!(matches!(status, RunStatus::Unknown { .. }), "{status:?}");
            assert_eq!((status.as_str(), status.location().as_str()), (word, location));
            assert_eq!(status.kind(), kind);
        }
    }
}
