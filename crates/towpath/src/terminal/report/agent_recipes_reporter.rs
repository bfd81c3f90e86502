//! The reporter of `agent-recipes`: each answer on stdout, and with `--verbose` the state of the
//! machine on stderr, line by line. How output is passed on is left to the plain reporter, which prints
//! nothing of its own here.

use super::output_sink::Sink;
use super::plain::Plain;
use super::shape::Shape;
use super::shared_event_lines;
use super::styled_line::Line;
use super::{OutputOptions, RunScreen};
use crate::terminal::format::clean;
use towpath_core::StepPath;
use towpath_engine::{Event, EventKind, Reporter};
use towpath_run::{FailureKind, Movement, RunOutcome};
use towpath_view::{BACKEND_ERROR, exit_reason};

pub struct Orchestration<O: Sink> {
    plain: Plain<O>,
    verbose: bool,
    json: bool,
}

impl<O: Sink> Orchestration<O> {
    pub fn new(outlet: O, options: OutputOptions, shape: Shape) -> Orchestration<O> {
        let quiet = OutputOptions { quiet: true, verbose: false, ..options };
        let plain = Plain::new(outlet, quiet, shape);
        Orchestration { plain, verbose: options.verbose, json: options.json }
    }

    fn log(&mut self, text: &str) {
        if self.verbose {
            self.plain.print_always(&Line::plain(clean(&format!("[orchestration] {text}"))));
        }
    }

    fn moved(&mut self, step: &StepPath, to: &Movement) {
        let from = name(step);
        match to {
            Movement::Step(next) => self.log(&format!("Transition: {from} → {next}")),
            Movement::Restart(recipe) => {
                self.log(&format!("Transition: {from} → RESTART {recipe}"));
                self.log(&format!("Starting recipe: {recipe}"));
            }
            Movement::Exit(exit) if step.frame().is_none() => {
                self.log(&format!("Exit: {}", exit.reason));
            }
            Movement::Exit(exit) => self.log(&format!("Exit of {step}: {}", exit.reason)),
        }
    }

    fn ended(&mut self, outcome: &RunOutcome) {
        match outcome {
            // The transition has been logged.
            RunOutcome::Failed { failure, .. } if failure.kind == FailureKind::Exit => {}
            RunOutcome::Failed { failure, .. } => {
                self.log(&format!("Exit: {}", exit_reason(failure)));
            }
            RunOutcome::Stopped { .. } => self.log("Exit: cancelled"),
            RunOutcome::Waiting { .. } => self.log(&format!("Exit: {BACKEND_ERROR}")),
            RunOutcome::Done | RunOutcome::Asking { .. } => {}
        }
    }
}

/// A step's own name.
fn name(step: &StepPath) -> String {
    let path = step.without_visits();
    path.rsplit('/').next().unwrap_or(&path).to_owned()
}

impl<O: Sink> RunScreen for Orchestration<O> {
    fn aside(&mut self, line: &str) {
        self.plain.print_always(&Line::plain(line));
    }
}

impl<O: Sink> Reporter for Orchestration<O> {
    fn event(&mut self, event: &Event) {
        self.plain.event(event);
        match &event.kind {
            EventKind::RunStarted { recipe, .. } => self.log(&format!("Starting recipe: {recipe}")),
            EventKind::Entered { step, visit, max_visits, total, max_total, .. } => {
                let step = name(step);
                self.log(&format!(
                    "Step: {step} (visit {visit}/{max_visits}, total {total}/{max_total})"
                ));
            }
            EventKind::CallStarted(call) => {
                let what = if call.is_reminder { "reminder" } else { "prompt" };
                let model = call.model.as_deref().unwrap_or("default");
                let (length, backend) = (call.length, &call.backend);
                self.log(&format!("Sending {what} ({length} chars) to {backend} [{model}]"));
            }
            EventKind::Reported { report, .. } => {
                self.log(&format!("Outcome extracted: {}", report.outcome));
            }
            EventKind::Reminded { error, .. } => {
                self.log(&format!("Outcome extraction failed: {error}"));
            }
            EventKind::Moved { step, to } => self.moved(step, to),
            EventKind::Warning { .. } | EventKind::Stopping => {
                if let Some(line) = shared_event_lines::of(&event.kind, false, false) {
                    self.plain.print_always(&line);
                }
            }
            EventKind::RunEnded { outcome, .. } => {
                self.ended(outcome);
                if !self.json {
                    self.plain.end_line();
                }
            }
            _ => {}
        }
    }

    fn ready(&self) -> bool {
        self.plain.ready()
    }

    fn tick(&mut self) {
        self.plain.tick();
    }
}
