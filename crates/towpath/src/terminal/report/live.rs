//! The reporter for a terminal: the block at the bottom, output scrolling above it. It moves the
//! cursor only within the block that it has drawn itself, and gives the terminal back as it found
//! it, whatever ends the run. An unfinished line of output stays in the block until its end
//! comes, so that it is neither overdrawn nor broken.

use super::fit_text::one_line;
use super::line_buffer::LineBuffer;
use super::live_block::{Moment, block, steps};
use super::newline_between_steps::LineBreak;
use super::output_sink::Sink;
use super::shape::Shape;
use super::shared_event_lines;
use super::step_status_board::{Board, Entered};
use super::styled_line::{Line, Tone};
use super::{OutputOptions, ReporterKind, RunScreen};
use crate::terminal::format::clean;
use crate::terminal::wrap::wrap;
use std::borrow::Cow;
use std::collections::BTreeSet;
use towpath_core::StepPath;
use towpath_engine::{Event, EventKind, Reporter, Stream};
use towpath_run::{Run, StepKind, without_report};

const HIDE_CURSOR: &str = "\u{1b}[?25l";
pub const SHOW_CURSOR: &str = "\u{1b}[?25h";
const ERASE_BELOW: &str = "\u{1b}[J";
const ERASE_REST: &str = "\u{1b}[K";
const PLAIN: &str = "\u{1b}[0m";

/// A little less than the engine's tick, so that no tick comes too early.
const BETWEEN_DRAWS_MS: i64 = 75;
/// An unfinished line is shown when it has been so for this long.
const UNFINISHED_MS: i64 = 200;
/// Output that waits for the next drawing is at most this much.
const WAITING: usize = 64 * 1024;

pub struct Live<O: Sink> {
    outlet: O,
    options: OutputOptions,
    shape: Shape,
    board: Board,
    buffer: LineBuffer,
    stdout: LineBreak,
    /// Whole lines that wait for the next drawing.
    above: Vec<u8>,
    /// The step whose name is above the latest output.
    printing: Option<StepPath>,
    /// Steps that have run beside others: their output has their names until they end.
    beside: BTreeSet<StepPath>,
    drawn: Option<Drawn>,
    drawn_ms: i64,
    /// The run is under way and the terminal is ours.
    active: bool,
    cursor_hidden: bool,
}

/// The block as it is on the screen.
struct Drawn {
    text: String,
    widths: Vec<usize>,
    size: (usize, usize),
}

impl<O: Sink> Live<O> {
    pub fn new(outlet: O, options: OutputOptions, shape: Shape) -> Live<O> {
        Live {
            outlet,
            options,
            board: Board::new(shape.clone()),
            shape,
            buffer: LineBuffer::default(),
            stdout: LineBreak::default(),
            above: Vec::new(),
            printing: None,
            beside: BTreeSet::new(),
            drawn: None,
            drawn_ms: 0,
            active: false,
            cursor_hidden: false,
        }
    }

    /// A run that is resumed is in the middle of a visit, of which no event comes.
    pub fn resuming(mut self, run: &Run) -> Live<O> {
        self.board.machine = Entered::of(run, &self.shape);
        self
    }

    fn print_line(&mut self, line: &Line) {
        self.printing = None;
        self.above.extend(line.render(self.options.color).bytes());
        self.above.push(b'\n');
    }

    /// A message of ours, wrapped at the terminal's width.
    fn print_message(&mut self, line: &Line) {
        self.printing = None;
        let text = wrap(&line.render(self.options.color), self.outlet.size().0);
        self.above.extend(text.bytes());
        self.above.push(b'\n');
    }

    fn output(&mut self, step: &StepPath, stream: Stream, bytes: &[u8]) {
        let now = self.outlet.now_ms();
        self.board.heard(step, now);
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.take(step, stream, bytes, now, |whole| self.pass(step, stream, whole));
        self.buffer = buffer;
    }

    fn flush(&mut self, step: &StepPath) {
        for (stream, rest) in self.buffer.finish(step) {
            self.pass(step, stream, &rest);
        }
    }

    /// Whether output of this stream is shown above the block.
    fn shown(&self, stream: Stream) -> bool {
        stream == Stream::Stderr || self.options.joined || self.options.json
    }

    fn pass(&mut self, step: &StepPath, stream: Stream, bytes: &[u8]) {
        if self.shown(stream) {
            return self.show(step, bytes);
        }
        let several = self.board.running().len() > 1;
        if self.stdout.meets(step, bytes, several) {
            self.outlet.stdout(b"\n");
        }
        self.outlet.stdout(bytes);
    }

    fn show(&mut self, step: &StepPath, bytes: &[u8]) {
        let beside = self.beside.contains(step);
        let visit = self.is_own_visit(step);
        if (beside || visit) && self.printing.as_ref() != Some(step) {
            let rule = if beside { "" } else { "── " };
            self.print_line(&Line::plain(rule).with(Tone::Strong, clean(step.as_str())));
            self.printing = Some(step.clone());
        }
        if beside {
            for line in bytes.split_inclusive(|b| *b == b'\n') {
                self.above.extend(b"  ");
                self.above.extend(line);
            }
        } else {
            self.printing = self.printing.take().filter(|_| visit);
            self.above.extend(bytes);
        }
        if !bytes.ends_with(b"\n") {
            self.above.push(b'\n');
        }
        // A colour that a step has left on must not colour the block.
        if bytes.contains(&0x1b) {
            self.above.extend(PLAIN.bytes());
        }
        if self.above.len() >= WAITING {
            self.draw_now();
        }
    }

    /// Whether it is a visit of a machine's step. Under another program's name its answers are shown as
    /// that program shows them.
    fn is_own_visit(&self, step: &StepPath) -> bool {
        self.options.reporter == ReporterKind::Own && self.shape.is_machines(step)
    }

    /// What is shown of an output: of a machine's agent not the line that reports its outcome, which
    /// its row has.
    fn shown_part<'a>(
        &mut self,
        step: &StepPath,
        stream: Stream,
        bytes: &'a [u8],
    ) -> Cow<'a, [u8]> {
        let answer = stream == Stream::Stdout && self.shown(stream) && self.is_own_visit(step);
        match std::str::from_utf8(bytes) {
            Ok(text) if answer && self.board.is_agent(step) => {
                without_report(text).into_bytes().into()
            }
            _ => bytes.into(),
        }
    }

    /// Lines that are being written right now.
    fn unfinished(&self, now: i64) -> Vec<Line> {
        let open = self.buffer.open().filter(|(_, stream, line)| {
            self.shown(*stream) && now - line.since_ms >= UNFINISHED_MS
        });
        open.map(|(step, _, line)| {
            let text = String::from_utf8_lossy(&line.bytes);
            // What comes before a carriage return is overwritten by what follows it.
            let last = text.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default();
            let text = one_line(&anstream::adapter::strip_str(last).to_string());
            match self.beside.contains(step) {
                true => {
                    Line::new().with(Tone::Strong, clean(step.as_str())).text(format!(": {text}"))
                }
                false => Line::plain(text),
            }
        })
        .collect()
    }

    /// To the first column of the block's first row. A terminal that was made narrower has broken
    /// the lines that no longer fit.
    fn rewind(&mut self) -> String {
        let Some(drawn) = self.drawn.take() else { return String::new() };
        let columns = self.outlet.size().0.max(1);
        let rows: usize = drawn.widths.iter().map(|width| width.div_ceil(columns).max(1)).sum();
        match rows {
            0 | 1 => "\r".to_owned(),
            rows => format!("\r\u{1b}[{}A", rows - 1),
        }
    }

    /// Takes the block away and writes what waits.
    fn clear(&mut self) {
        let mut bytes = Vec::new();
        if self.drawn.is_some() {
            bytes.extend(self.rewind().bytes());
            bytes.extend(ERASE_BELOW.bytes());
        }
        bytes.append(&mut self.above);
        if !bytes.is_empty() {
            self.outlet.stderr(&bytes);
        }
    }

    fn draw(&mut self) {
        if self.outlet.now_ms() - self.drawn_ms >= BETWEEN_DRAWS_MS {
            self.draw_now();
        }
    }

    fn draw_now(&mut self) {
        if !self.active {
            return;
        }
        let now = self.outlet.now_ms();
        let size = self.outlet.size();
        let moment = Moment { columns: size.0, rows: size.1, now_ms: now };
        let lines = block(&self.board, self.unfinished(now), moment);
        let rendered: Vec<String> = lines.iter().map(|l| l.render(self.options.color)).collect();
        let text = rendered.join(&format!("{ERASE_REST}\n"));
        let same_size = self.drawn.as_ref().is_some_and(|drawn| drawn.size == size);
        if self.above.is_empty() && self.drawn.as_ref().is_some_and(|d| same_size && d.text == text)
        {
            return;
        }
        let mut bytes = Vec::new();
        if !std::mem::replace(&mut self.cursor_hidden, true) {
            bytes.extend(HIDE_CURSOR.bytes());
        }
        bytes.extend(self.rewind().bytes());
        if !self.above.is_empty() || !same_size {
            bytes.extend(ERASE_BELOW.bytes());
        }
        bytes.append(&mut self.above);
        bytes.extend(text.bytes());
        bytes.extend(ERASE_BELOW.bytes());
        self.outlet.stderr(&bytes);
        self.drawn_ms = now;
        let widths = lines.iter().map(Line::width).collect();
        self.drawn = Some(Drawn { text, widths, size });
    }

    /// Gives the terminal back.
    fn leave(&mut self) {
        self.active = false;
        self.clear();
        if std::mem::take(&mut self.cursor_hidden) {
            self.outlet.stderr(SHOW_CURSOR.as_bytes());
        }
    }

    fn started(&mut self, step: &StepPath, kind: StepKind) {
        self.board.started(step, kind, self.outlet.now_ms());
        let running = self.board.running();
        if running.len() > 1 {
            self.beside.extend(running.into_iter().cloned());
        }
        if self.options.verbose && kind != StepKind::Recipe {
            let work = self.shape.work(step).unwrap_or_default();
            let line = format!("started {}: {work}", clean(step.as_str()));
            self.print_line(&Line::new().with(Tone::Faint, line));
        }
    }

    /// Leaves the steps on the screen as they ended.
    fn over(&mut self) {
        let (columns, rows) = self.outlet.size();
        let room = rows.saturating_sub(6).max(10);
        let now = self.outlet.now_ms();
        self.print_line(&Line::new());
        for line in steps(&self.board, room, columns.saturating_sub(1), now) {
            self.print_line(&line);
        }
        self.print_line(&Line::new());
        self.leave();
    }
}

impl<O: Sink> RunScreen for Live<O> {
    fn aside(&mut self, line: &str) {
        self.print_line(&Line::plain(line));
        match self.active {
            true => self.draw(),
            false => self.clear(),
        }
    }
}

impl<O: Sink> Reporter for Live<O> {
    fn event(&mut self, event: &Event) {
        let OutputOptions { verbose, elsewhere, .. } = self.options;
        if let Some(line) = shared_event_lines::of(&event.kind, verbose, elsewhere) {
            self.print_message(&line);
        }
        match &event.kind {
            EventKind::RunStarted { directory, steps, .. } => {
                self.board.begin(steps, directory);
                // A run that is over before the first drawing does not flash.
                self.drawn_ms = self.outlet.now_ms();
                self.active = true;
                self.clear();
            }
            EventKind::StepStarted { step, kind } => self.started(step, *kind),
            EventKind::Output { step, stream, bytes, .. } => {
                let shown = self.shown_part(step, *stream, bytes);
                self.output(step, *stream, &shown);
            }
            EventKind::Heard { step } => self.board.heard(step, self.outlet.now_ms()),
            EventKind::Doing { step, what } => {
                self.board.doing(step, what, self.outlet.now_ms());
            }
            EventKind::StepEnded { step, result, tolerated, took_ms } => {
                self.flush(step);
                self.beside.remove(step);
                self.board.ended(step, result, *tolerated, *took_ms);
            }
            EventKind::Entered { step, recipe, visit, max_visits, total, max_total, .. } => {
                let (visit, total) = ((*visit, *max_visits), (*total, *max_total));
                self.board.entered(step, visit, total, recipe);
            }
            EventKind::Suspended => {
                self.leave();
                self.outlet.settle();
            }
            EventKind::Continued => {
                self.board.awake(self.outlet.now_ms());
                self.active = true;
                self.drawn_ms = 0;
            }
            EventKind::RunEnded { outcome, .. } => {
                for step in self.buffer.steps() {
                    self.flush(&step);
                }
                self.board.over(outcome);
                return self.over();
            }
            // Their lines, and the rows of their steps, are all that is shown of them.
            EventKind::CallStarted(_)
            | EventKind::CallEnded(_)
            | EventKind::Reported { .. }
            | EventKind::Reminded { .. }
            | EventKind::Moved { .. }
            | EventKind::Staged { .. }
            | EventKind::Warning { .. }
            | EventKind::Ended { .. }
            | EventKind::Stopping => {}
        }
        self.draw();
    }

    fn ready(&self) -> bool {
        self.outlet.ready()
    }

    fn tick(&mut self) {
        self.draw();
    }
}

impl<O: Sink> Drop for Live<O> {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests;
