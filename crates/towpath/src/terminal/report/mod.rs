//! What a person sees of a run: while it goes, and how it ended.
//!
//! A reporter is fed the engine's events and nothing else; which one is chosen depends on whether
//! somebody watches a terminal. A step's own output is passed on as it is. Nothing here decides
//! anything about the run.

mod background_writer;
mod block;
mod board;
mod conversation;
mod ending;
mod event_lines;
pub mod events;
mod failure;
mod line;
mod line_break;
mod line_buffer;
mod live;
pub mod next_commands;
mod orchestration;
mod plain;
pub mod rate_limit;
mod shape;
mod sink;
mod step_lines;
#[cfg(test)]
pub mod testing;

pub use conversation::{ByHand, by_hand};
pub use ending::{counts, unused};
pub use failure::{find, has_output, logs};
pub use line::{fitted, relative};
#[cfg(test)]
pub use shape::RecipeShape;
pub use shape::{Shape, bare};

use crate::environment::Environment;
use crate::exit::CommandError;
use crate::terminal::format::{clean, now_ms};
use crate::terminal::out;
use events::{Events, Format};
use live::Live;
use orchestration::Orchestration;
use plain::Plain;
use sink::Standard;
use std::path::Path;
use step_lines::StepLines;
use towpath_engine::{Reporter, RunEnd};
use towpath_run::{FailureKind, Run, RunOutcome};

/// The heading in the help of flags for what is told of a run.
pub const OUTPUT: &str = "Output";

/// Events for other programs.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct EventFlags {
    /// Say every event in a line on stderr: as text, or as JSON.
    #[arg(long = "events", value_name = "FORMAT", value_enum, help_heading = OUTPUT)]
    pub format: Option<Format>,
    /// Append every event to this file, as a JSON line.
    #[arg(long = "events-file", value_name = "FILE", help_heading = OUTPUT)]
    pub file: Option<std::path::PathBuf>,
}

/// What a machine's step reported.
pub fn outcome(result: &towpath_run::StepResult) -> Option<String> {
    event_lines::report(result)
}

/// `the agent's session: ID` of a machine that was cut off, for whoever wants to look at the
/// conversation in the agent's own program.
pub fn session(end: &RunEnd) -> Option<String> {
    let ended = match &end.outcome {
        RunOutcome::Done => true,
        RunOutcome::Failed { failure, .. } => {
            matches!(failure.kind, FailureKind::Limit | FailureKind::Guardrail(_))
        }
        _ => false,
    };
    let session = end.session.as_ref().filter(|_| !ended)?;
    Some(format!("the agent's session: {}", clean(session)))
}

/// What is shown, and how.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// stderr is a terminal.
    pub terminal: bool,
    /// stdout leads to the same place as stderr.
    pub joined: bool,
    pub color: bool,
    pub quiet: bool,
    pub verbose: bool,
    /// stdout belongs to the JSON object alone.
    pub json: bool,
    pub voice: Voice,
}

/// Whose lines are said beside what the steps print.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Voice {
    #[default]
    Own,
    /// Warnings only, and one line per start and end of a step where that is asked for.
    Stepwise { progress: bool },
    /// A machine's answers, and its state where asked for.
    Orchestration,
}

impl Look {
    /// As the terminal is, with nothing asked for.
    pub fn new(env: &Environment) -> Look {
        Look {
            terminal: env.stderr_terminal,
            joined: sink::joined(),
            color: env.color,
            quiet: false,
            verbose: false,
            json: false,
            voice: Voice::Own,
        }
    }

    /// Whether the block at the bottom of the screen is drawn.
    pub fn live(&self) -> bool {
        let lines = match self.voice {
            Voice::Own => false,
            Voice::Stepwise { progress } => progress,
            Voice::Orchestration => self.verbose,
        };
        self.terminal && !self.quiet && !lines
    }
}

/// The reporter that shows a run like this.
pub fn screen(run: &Run, look: Look) -> Box<dyn RunScreen> {
    let shape = Shape::of(run.program());
    match look.voice {
        _ if look.live() => {
            let shape = shape.bounded(run.program());
            Box::new(Live::new(Standard::new(), look, shape).resuming(run))
        }
        Voice::Own => Box::new(Plain::new(Standard::new(), look, shape)),
        Voice::Stepwise { progress } => {
            Box::new(StepLines::new(Standard::new(), look, shape, progress))
        }
        Voice::Orchestration => Box::new(Orchestration::new(Standard::new(), look, shape)),
    }
}

impl EventFlags {
    /// Says before anything begins when the file for events cannot be written.
    pub fn check(&self) -> Result<(), CommandError> {
        Events::asked(self.format, self.file.as_ref()).map(drop)
    }
}

/// Columns of the terminal on stderr.
pub fn columns() -> usize {
    sink::size().0
}

/// A reporter that also prints lines of others, each as a whole line and in its turn.
pub trait RunScreen: Reporter {
    fn aside(&mut self, line: &str);
}

/// Parts of one sentence in lines of at most so many columns, broken between the parts.
pub fn in_lines(parts: Vec<String>, limit: Option<usize>) -> Vec<String> {
    let parts = parts.into_iter().map(line::Line::plain).collect();
    line::joined("", "  ", parts, limit).iter().map(|line| line.render(false)).collect()
}

/// The last lines: what happened, and what to do next. `directory` is the run's, `current` ours.
pub fn ending(look: &Look, end: &RunEnd, directory: &Path, current: &Path) {
    if look.quiet && end.outcome == RunOutcome::Done {
        return;
    }
    let width = look.terminal.then(|| sink::size().0);
    let talks = by_hand(&end.run.view(), directory, current);
    out::message(&ending::text(end, &talks, look.color, width, now_ms()));
}
