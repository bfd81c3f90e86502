//! The reporter of another program's habits: what the steps print, warnings, and where asked for one
//! line on stderr when a step starts and one when it is over, in a form that scripts read. How output
//! is passed on is left to the plain reporter, which prints nothing of its own here.

use super::fit_text::one_line;
use super::output_sink::Sink;
use super::plain::Plain;
use super::shape::Shape;
use super::shared_event_lines;
use super::styled_line::Line;
use super::{OutputOptions, RunScreen};
use crate::terminal::format::clean;
use towpath_core::StepPath;
use towpath_engine::{Event, EventKind, Reporter};
use towpath_run::{StepResult, StepStatus};

pub struct StepLines<O: Sink> {
    plain: Plain<O>,
    shape: Shape,
    progress: bool,
    json: bool,
}

impl<O: Sink> StepLines<O> {
    pub fn new(outlet: O, options: OutputOptions, shape: Shape, progress: bool) -> StepLines<O> {
        let quiet = OutputOptions { quiet: true, ..options };
        StepLines {
            plain: Plain::new(outlet, quiet, shape.clone()),
            shape,
            progress,
            json: options.json,
        }
    }

    fn print_step(&mut self, what: &str, step: &StepPath, end: &str) {
        if self.progress {
            let position = self.shape.position(step);
            let line = format!("[step:{what}] {} {position}{end}", clean(step.as_str()));
            self.plain.print_always(&Line::plain(line));
        }
    }
}

/// ` — ok`, ` — skipped: needs tag release`
fn step_end(result: &StepResult, tolerated: bool) -> String {
    match &result.status {
        StepStatus::Completed => " — ok".to_owned(),
        StepStatus::Degraded { reason } => format!(" — degraded: {}", one_line(reason)),
        StepStatus::Recovered { failure } => {
            format!(" — recovered: {}", one_line(&failure.message))
        }
        StepStatus::Skipped { reason } => format!(" — skipped: {}", one_line(reason)),
        StepStatus::Failed(failure) => {
            let tolerated = if tolerated { ", tolerated" } else { "" };
            format!(" — failed: {}{tolerated}", one_line(&failure.message))
        }
    }
}

impl<O: Sink> RunScreen for StepLines<O> {
    fn aside(&mut self, line: &str) {
        self.plain.print_always(&Line::plain(line));
    }
}

impl<O: Sink> Reporter for StepLines<O> {
    fn event(&mut self, event: &Event) {
        if let EventKind::StepStarted { step, .. } = &event.kind {
            self.print_step("start", step, "");
        }
        self.plain.event(event);
        match &event.kind {
            EventKind::StepEnded { step, result, tolerated, .. } => {
                self.print_step("complete", step, &step_end(result, *tolerated));
            }
            EventKind::Warning { .. } | EventKind::Ended { .. } | EventKind::Stopping => {
                if let Some(line) = shared_event_lines::of(&event.kind, false, false) {
                    self.plain.print_always(&line);
                }
            }
            EventKind::RunEnded { .. } if !self.json => self.plain.end_line(),
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

#[cfg(test)]
mod tests {
    use super::super::reporter_test_support::*;
    use super::*;

    #[test]
    fn a_line_when_a_step_starts_and_one_when_it_is_over() {
        let seen = Recorder::new(80, 24);
        let shape = Shape::of(driven(&[("r", RECIPE), ("ci", CALLED)], &mut ok).program());
        let mut reporter = StepLines::new(seen.clone(), options(), shape, true);
        reporter.run(Vec::new());
        reporter.start("build", "bash");
        reporter.print("build", "made");
        reporter.end("build", &completed(), 10);
        reporter.end("docs", &skipped("needs tag docs"), 0);
        reporter.start("ci/lint", "bash");
        reporter.tolerate("ci/lint", &failed("exit 2", ""), 5);
        reporter.warn("build", "careful");
        assert_eq!(seen.stdout_text(), "made");
        assert_eq!(
            seen.stderr_text(),
            "[step:start] build (1/3)\n\
             [step:complete] build (1/3) — ok\n\
             [step:complete] docs (2/3) — skipped: needs tag docs\n\
             [step:start] ci/lint (1/2)\n\
             [step:complete] ci/lint (1/2) — failed: exit 2, tolerated\n\
             warning: build: careful\n"
        );
    }

    fn ok(_: &towpath_core::JobKey) -> towpath_run::JobEnd {
        towpath_run::JobEnd::new(towpath_run::JobStatus::Exited(0))
    }

    const RECIPE: &str = "name: r\nsteps:\n  - { id: build, command: x }\n  - { id: docs, command: x }\n  - { id: ci, recipe: ci }\n";
    const CALLED: &str =
        "name: ci\nsteps:\n  - { id: lint, command: x }\n  - { id: test, command: x }\n";

    #[test]
    fn without_progress_only_warnings_are_printed() {
        let seen = Recorder::new(80, 24);
        let mut reporter = StepLines::new(seen.clone(), options(), shape(&[]), false);
        reporter.run(Vec::new());
        reporter.start("a", "bash");
        reporter.print("a", "out\n");
        reporter.end("a", &completed(), 0);
        assert_eq!((seen.stdout_text().as_str(), seen.stderr_text().as_str()), ("out\n", ""));
    }
}
