//! The one stream of events that every reporter is fed from.

use std::path::Path;
use towpath_core::{RunId, StepPath, Usage};
pub use towpath_executor::Stream;
use towpath_recipe::StepKind;
use towpath_run::{Happening, Movement, Reported, RunOutcome, StepResult, StepView};

#[derive(Debug)]
pub enum Event<'a> {
    RunStarted {
        run: &'a RunId,
        recipe: &'a str,
        directory: &'a Path,
        resumed: bool,
        /// Every step, with its status now.
        steps: Vec<StepView>,
    },
    StepStarted {
        step: &'a StepPath,
        kind: StepKind,
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
    /// An agent has printed something that means nothing to a user: it is not silent.
    Heard {
        step: &'a StepPath,
    },
    StepEnded {
        step: &'a StepPath,
        result: &'a StepResult,
        tolerated: bool,
        took_ms: i64,
    },
    /// A state machine has entered a step. `visit` and `total` count in its session.
    Entered {
        step: &'a StepPath,
        recipe: &'a str,
        visit: u32,
        max_visits: u32,
        total: u32,
        max_total: u32,
        model: Option<&'a str>,
    },
    /// An agent is about to be asked.
    CallStarted(CallStarted<'a>),
    /// It has answered, or has not.
    CallEnded(CallEnded<'a>),
    /// A state machine's step has reported its outcome.
    Reported {
        step: &'a StepPath,
        report: &'a Reported,
    },
    /// An answer reported nothing; its agent gets a reminder.
    Reminded {
        step: &'a StepPath,
        error: &'a str,
    },
    /// A state machine continues from a step.
    Moved {
        step: &'a StepPath,
        to: &'a Movement,
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
    /// The run is being stopped; its children are being ended.
    Stopping,
    /// Processes that were still alive and have been ended.
    Ended {
        processes: &'a [String],
        why: EndedWith,
    },
    /// The terminal is about to be given back, or is ours again.
    Suspended,
    Continued,
    RunEnded {
        run: &'a RunId,
        outcome: &'a RunOutcome,
        /// Every step, with its status at the end.
        steps: &'a [StepView],
    },
}

impl<'a> From<&'a Happening> for Event<'a> {
    fn from(happening: &'a Happening) -> Event<'a> {
        match happening {
            Happening::StepStarted { step, kind } => Event::StepStarted { step, kind: *kind },
            Happening::StepEnded { step, result, tolerated, took_ms } => {
                Event::StepEnded { step, result, tolerated: *tolerated, took_ms: *took_ms }
            }
            Happening::Entered { step, recipe, visit, max_visits, total, max_total, model } => {
                Event::Entered {
                    step,
                    recipe,
                    visit: *visit,
                    max_visits: *max_visits,
                    total: *total,
                    max_total: *max_total,
                    model: model.as_deref(),
                }
            }
            Happening::Reported { step, report } => Event::Reported { step, report },
            Happening::Reminded { step, error } => Event::Reminded { step, error },
            Happening::Moved { step, to } => Event::Moved { step, to },
            Happening::Staged { step, files } => Event::Staged { step, files },
            Happening::Warning { step, message } => Event::Warning { step: step.as_ref(), message },
        }
    }
}

/// Why processes that were still alive have been ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndedWith {
    /// Their step was ended.
    Step,
    /// The run has ended.
    Run,
    /// An earlier runner of the run died and left them.
    DeadRunner,
}

#[derive(Debug, Clone, Copy)]
pub struct CallStarted<'a> {
    pub step: &'a StepPath,
    /// The id of the backend that answers.
    pub backend: &'a str,
    pub session: Option<&'a str>,
    /// It continues an existing session.
    pub resumes: bool,
    pub model: Option<&'a str>,
    pub is_reminder: bool,
    /// Of the prompt, in characters.
    pub length: usize,
}

#[derive(Debug, Clone, Copy)]
pub struct CallEnded<'a> {
    pub step: &'a StepPath,
    pub session: Option<&'a str>,
    pub model: Option<&'a str>,
    pub is_reminder: bool,
    pub prompt_length: usize,
    /// Of the answer, in characters; none when there is no answer.
    pub length: Option<usize>,
    pub error: Option<&'a str>,
    pub took_ms: u64,
    pub usage: Option<Usage>,
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
