//! The one stream of happenings that every reporter is fed from.

use std::path::Path;
use towpath_core::{RunId, StepPath};
use towpath_run::{RunOutcome, StepResult, StepView};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

#[derive(Debug)]
pub enum Event<'a> {
    RunStarted {
        run: &'a RunId,
        recipe: &'a str,
        directory: &'a Path,
        resumed: bool,
        /// Every step, as it stands now.
        steps: Vec<StepView>,
    },
    StepStarted {
        step: &'a StepPath,
        kind: &'static str,
    },
    /// New output of a step, as it comes. An agent's answer comes as its stdout.
    Output {
        step: &'a StepPath,
        stream: Stream,
        bytes: &'a [u8],
    },
    /// What an agent is doing right now.
    Doing {
        step: &'a StepPath,
        what: &'a str,
    },
    /// An agent has printed something that says nothing to a person: it is not silent.
    Heard {
        step: &'a StepPath,
    },
    StepEnded {
        step: &'a StepPath,
        result: &'a StepResult,
        tolerated: bool,
        took_ms: i64,
    },
    /// Files that were staged in git after a step, as git writes their names.
    Staged {
        step: &'a StepPath,
        files: &'a [String],
    },
    Warning {
        step: Option<&'a StepPath>,
        message: &'a str,
    },
    /// The run was told to stop; its children are being ended.
    Stopping,
    /// Processes that were still alive and have been ended.
    Ended {
        processes: &'a [String],
        why: &'static str,
    },
    /// The terminal is about to be given back, or is ours again.
    Suspended,
    Continued,
    RunEnded {
        run: &'a RunId,
        outcome: &'a RunOutcome,
    },
}

pub trait Reporter {
    fn event(&mut self, event: &Event<'_>);
    /// Whether more output can be taken now. Output that is not taken stays in its file.
    fn ready(&self) -> bool {
        true
    }
    /// Called some times a second while a run is under way.
    fn tick(&mut self) {}
}
