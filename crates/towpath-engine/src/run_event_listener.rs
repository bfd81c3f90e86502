//! Reports of a run while it is driven. A listener is fed from the same stream of events as
//! every reporter, in its order: a step's start, its output line by line, its end.

use crate::event_reporter::Reporter;
use crate::recipe_result::StepReport;
use std::collections::BTreeMap;
use std::io::{Stderr, Write};
use std::time::Duration;
use towpath_core::Stream;
use towpath_run::{Event, EventKind, StepStatus};

/// A longer line is reported in pieces of this size.
const LONGEST_LINE: usize = 64 << 10;

/// Gets what happens in a run. It is called from the loop that drives the run, which continues when
/// the call returns. Steps are named by their paths, as `build` or `ci/build`.
pub trait Listener {
    /// Every event of the run, as it is: also those for which there is a method below.
    fn on_event(&mut self, event: &Event) {
        let _ = event;
    }

    /// `step_type` is `bash`, `agent` or `recipe`.
    fn on_step_start(&mut self, step_id: &str, step_type: &str) {
        let _ = (step_id, step_type);
    }

    /// Also of a step that was skipped, which has not started.
    fn on_step_complete(&mut self, result: &StepReport) {
        let _ = result;
    }

    /// A line of what a step prints, on stdout or stderr, without its end. An agent's answer comes
    /// when it is complete.
    fn on_output(&mut self, step_id: &str, line: &str) {
        let _ = (step_id, line);
    }

    fn on_warning(&mut self, step_id: Option<&str>, message: &str) {
        let _ = (step_id, message);
    }
}

/// Listens to nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NullListener;

impl Listener for NullListener {}

/// Writes what happens, a line each. What cannot be written is not written: a run does not fail
/// because nobody reads along.
#[derive(Debug)]
pub struct WriterListener<W> {
    writer: W,
}

/// Writes to this process's stderr.
pub type StderrListener = WriterListener<Stderr>;

impl<W: Write> WriterListener<W> {
    pub fn new(writer: W) -> WriterListener<W> {
        WriterListener { writer }
    }
}

impl WriterListener<Stderr> {
    pub fn stderr() -> StderrListener {
        WriterListener::new(std::io::stderr())
    }
}

impl<W: Write> Listener for WriterListener<W> {
    fn on_step_start(&mut self, step_id: &str, step_type: &str) {
        let _ = writeln!(self.writer, "▶ {step_id} ({step_type})");
    }

    fn on_step_complete(&mut self, result: &StepReport) {
        let mark = match result.status {
            StepStatus::Failed(_) => '✗',
            StepStatus::Skipped { .. } => '·',
            _ => '✓',
        };
        let (step, status) = (&result.step_id, result.status.as_str());
        let why = result.error.as_deref().and_then(|e| e.lines().next()).unwrap_or_default();
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        let took = seconds(result.duration);
        let _ = writeln!(self.writer, "{mark} {step} {status} in {took}{why}");
    }

    fn on_output(&mut self, step_id: &str, line: &str) {
        let _ = writeln!(self.writer, "  {step_id} │ {line}");
    }

    fn on_warning(&mut self, step_id: Option<&str>, message: &str) {
        let step = step_id.map_or(String::new(), |step| format!("{step}: "));
        let _ = writeln!(self.writer, "warning: {step}{message}");
    }
}

fn seconds(time: Duration) -> String {
    match time.as_secs() {
        whole @ 60.. => format!("{} m {} s", whole / 60, whole % 60),
        _ => format!("{:.1} s", time.as_secs_f64()),
    }
}

/// Feeds a listener.
pub(crate) struct Listening<'a> {
    listener: &'a mut dyn Listener,
    /// Lines that have begun, by step and whether they are stdout's.
    begun: BTreeMap<(String, bool), Vec<u8>>,
}

impl<'a> Listening<'a> {
    pub fn new(listener: &'a mut dyn Listener) -> Listening<'a> {
        Listening { listener, begun: BTreeMap::new() }
    }

    fn output(&mut self, step: &str, stdout: bool, bytes: &[u8]) {
        let begun = self.begun.entry((step.to_owned(), stdout)).or_default();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            begun.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                begun.pop();
                report_line(self.listener, step, begun);
            }
            while begun.len() >= LONGEST_LINE {
                let rest = begun.split_off(whole_characters(begun));
                report_line(self.listener, step, begun);
                *begun = rest;
            }
        }
    }

    fn end_lines(&mut self, step: &str) {
        for stdout in [true, false] {
            if let Some(mut begun) = self.begun.remove(&(step.to_owned(), stdout))
                && !begun.is_empty()
            {
                report_line(self.listener, step, &mut begun);
            }
        }
    }
}

fn report_line(listener: &mut dyn Listener, step: &str, line: &mut Vec<u8>) {
    listener.on_output(step, &String::from_utf8_lossy(line));
    line.clear();
}

/// Where to split a line that continues: not within a character.
fn whole_characters(line: &[u8]) -> usize {
    let end = LONGEST_LINE.min(line.len());
    let continues = |at: &usize| line.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (end - 3..=end).rev().find(|at| !continues(at)).unwrap_or(end)
}

impl Reporter for Listening<'_> {
    fn event(&mut self, event: &Event) {
        self.listener.on_event(event);
        match &event.kind {
            EventKind::StepStarted { step, kind } => {
                self.listener.on_step_start(step.as_str(), kind.as_str());
            }
            EventKind::Output { step, stream, bytes, .. } => {
                self.output(step.as_str(), *stream == Stream::Stdout, bytes);
            }
            EventKind::StepEnded { step, result, tolerated, took_ms } => {
                self.end_lines(step.as_str());
                let took = Duration::from_millis(took_ms.unsigned_abs());
                self.listener.on_step_complete(&StepReport::new(step, result, *tolerated, took));
            }
            EventKind::Warning { step, message } => {
                self.listener
                    .on_warning(step.as_ref().map(towpath_core::StepPath::as_str), message);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use towpath_core::StepPath;

    #[derive(Default)]
    struct Lines(Vec<String>);

    impl Listener for Lines {
        fn on_output(&mut self, step_id: &str, line: &str) {
            self.0.push(format!("{step_id}: {line}"));
        }
    }

    fn heard(pieces: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::default();
        let mut listening = Listening::new(&mut lines);
        for bytes in pieces {
            let (step, job) = (StepPath::new("a"), "a#1.0.0:bash".parse().expect("a key"));
            let kind =
                EventKind::Output { step, job, stream: Stream::Stdout, bytes: bytes.to_vec() };
            listening.event(&Event { seq: 1, at_ms: 0, kind });
        }
        listening.end_lines("a");
        lines.0
    }

    #[test]
    fn lines_are_put_together_and_the_last_needs_no_end() {
        assert_eq!(
            heard(&[b"on", b"e\ntw", b"o\n\nthree"]),
            ["a: one", "a: two", "a: ", "a: three"]
        );
        assert_eq!(heard(&[b"\n"]), ["a: "]);
        assert!(heard(&[]).is_empty());
    }

    #[test]
    fn a_line_without_end_is_reported_in_pieces_of_whole_characters() {
        let long = "é".repeat(LONGEST_LINE);
        let odd = format!("x{long}");
        let lines = heard(&[odd.as_bytes()]);
        assert!(lines.len() > 1);
        let joined: String = lines.iter().map(|line| &line[3..]).collect();
        assert_eq!(joined, odd);
    }
}
