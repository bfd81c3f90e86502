//! What a user sees of a run: while it runs, and how it ended.
//!
//! A reporter is fed the engine's events and nothing else; which one is chosen depends on whether
//! a user watches a terminal. A step's own output is passed on as it is. Nothing here decides
//! anything about the run.

mod agent_recipes_reporter;
mod continue_conversation;
mod doubtful_skips;
pub mod events_for_programs;
mod failed_step;
mod final_lines;
mod fit_text;
mod line_buffer;
mod live;
mod live_block;
mod newline_between_steps;
pub mod next_commands;
mod output_sink;
mod plain;
pub mod rate_limit;
mod recipe_runner_reporter;
#[cfg(test)]
pub mod reporter_test_support;
mod shape;
mod shared_event_lines;
mod step_status_board;
mod styled_line;
mod tame_agents;
mod writer;

pub use continue_conversation::{ByHand, by_hand};
pub use doubtful_skips::{described, warnings_of as condition_warnings_of};
pub use failed_step::{find, has_output, logs};
pub use final_lines::{counts, unused};
pub use fit_text::{fitted, wrapped};
#[cfg(test)]
pub use shape::RecipeShape;
pub use shape::{Shape, bare};
pub use tame_agents::Terminals;

use crate::environment::Environment;
use crate::exit::CommandError;
use crate::terminal::format::{clean, now_ms};
use crate::terminal::out;
use agent_recipes_reporter::Orchestration;
use events_for_programs::{Events, Format};
use live::{Live, SHOW_CURSOR};
use output_sink::Standard;
use plain::Plain;
use recipe_runner_reporter::StepLines;
use std::path::Path;
use tame_agents::TameAgents;
use towpath_core::{RunId, StepPath};
use towpath_engine::{Reporter, RunEnd, TerminalText};
use towpath_run::{Failure, FailureKind, Run, RunOutcome, StepView};

/// The heading in the help of flags for what is reported of a run.
pub const OUTPUT: &str = "Output";

/// Events for other programs.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct EventFlags {
    /// Print every event as a line on stderr: as text, or as JSON.
    #[arg(long = "events", value_name = "FORMAT", value_enum, help_heading = OUTPUT)]
    pub format: Option<Format>,
    /// Append every event to this file, as a JSON line.
    #[arg(long = "events-file", value_name = "FILE", help_heading = OUTPUT)]
    pub file: Option<std::path::PathBuf>,
}

/// What a machine's step reported.
pub fn outcome(result: &towpath_run::StepResult) -> Option<String> {
    shared_event_lines::report(result)
}

/// `the agent's session: ID` of a state machine that was interrupted, for a user who wants to look at the
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
    Some(format!("the agent's session: {}", clean(session.as_str())))
}

/// What is shown, and how.
#[derive(Debug, Clone, Copy)]
pub struct OutputOptions {
    /// stderr is a terminal.
    pub terminal: bool,
    /// stdout leads to the same file or terminal as stderr.
    pub joined: bool,
    pub color: bool,
    pub quiet: bool,
    pub verbose: bool,
    /// stdout belongs to the JSON object alone.
    pub json: bool,
    /// The run's directory is not the current one, so its whole path is shown.
    pub elsewhere: bool,
    pub reporter: ReporterKind,
}

/// Which lines are printed beside what the steps print.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReporterKind {
    #[default]
    Own,
    /// Warnings only, and one line per start and end of a step where that is asked for.
    StepLines { progress: bool },
    /// A machine's answers, and its state where asked for.
    Orchestration,
}

impl OutputOptions {
    /// As the terminal is, with nothing asked for.
    pub fn new(env: &Environment) -> OutputOptions {
        OutputOptions {
            terminal: env.stderr_terminal,
            joined: output_sink::joined(),
            color: env.color,
            quiet: false,
            verbose: false,
            json: false,
            elsewhere: false,
            reporter: ReporterKind::Own,
        }
    }

    /// What gives the terminal back where this process is killed: the live view hides the cursor.
    pub fn text_if_killed(&self) -> Option<TerminalText> {
        let device = std::fs::read_link("/proc/self/fd/2").ok().filter(|_| self.live())?;
        Some(TerminalText { device, text: SHOW_CURSOR.to_owned() })
    }

    /// Whether the block at the bottom of the screen is drawn.
    pub fn live(&self) -> bool {
        let lines = match self.reporter {
            ReporterKind::Own => false,
            ReporterKind::StepLines { progress } => progress,
            ReporterKind::Orchestration => self.verbose,
        };
        self.terminal && !self.quiet && !lines
    }
}

/// The reporter that shows a run like this.
pub fn screen(run: &Run, options: OutputOptions) -> Box<dyn RunScreen> {
    let shape = Shape::of(run.program());
    match options.reporter {
        _ if options.live() => {
            let shape = shape.bounded(run.program());
            tame(Live::new(Standard::new(), options, shape).resuming(run), options)
        }
        ReporterKind::Own => tame(Plain::new(Standard::new(), options, shape), options),
        ReporterKind::StepLines { progress } => {
            tame(StepLines::new(Standard::new(), options, shape, progress), options)
        }
        ReporterKind::Orchestration => {
            tame(Orchestration::new(Standard::new(), options, shape), options)
        }
    }
}

fn tame(screen: impl RunScreen + 'static, options: OutputOptions) -> Box<dyn RunScreen> {
    Box::new(TameAgents::new(screen, Terminals::of_process(), options))
}

impl EventFlags {
    /// Refuses a file for events that cannot be written, before anything begins.
    pub fn check(&self) -> Result<(), CommandError> {
        Events::asked(self.format, self.file.as_ref()).map(drop)
    }
}

/// What is printed about the step that a run failed with: its error, what it was to do, and where all of
/// its output is.
pub fn failure(
    work: Option<String>,
    run: &RunId,
    (step, failure): (&StepPath, &Failure),
    view: Option<&StepView>,
    (width, color): (Option<usize>, bool),
) -> Vec<String> {
    let lines = failed_step::block_with(work, run, step, failure, view, width);
    lines.iter().map(|line| line.render(color)).collect()
}

/// Columns of the terminal on stderr.
pub fn columns() -> usize {
    output_sink::size().0
}

/// A reporter that also prints lines of others, each as a whole line and in its turn.
pub trait RunScreen: Reporter {
    fn aside(&mut self, line: &str);
}

/// Parts of one sentence in lines of at most so many columns, broken between the parts.
pub fn in_lines(parts: Vec<String>, limit: Option<usize>) -> Vec<String> {
    let parts = parts.into_iter().map(styled_line::Line::plain).collect();
    styled_line::joined("", "  ", parts, limit).iter().map(|line| line.render(false)).collect()
}

/// The last lines: what happened, and what to do next. `directory` is the run's, `current` ours; `edited`:
/// the recipe is not what it was when the run began.
pub fn ending(
    options: &OutputOptions,
    end: &RunEnd,
    edited: bool,
    directory: &Path,
    current: &Path,
) {
    if options.quiet && end.outcome == RunOutcome::Done {
        return;
    }
    let width = options.terminal.then(|| output_sink::size().0);
    let talks = by_hand(&end.run.view(), directory, current);
    out::message(&final_lines::text(end, &talks, edited, options.color, width, now_ms()));
}
