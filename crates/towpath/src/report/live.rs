//! The reporter for a terminal: the block at the bottom, output scrolling above it. It moves the
//! cursor only within the block that it has drawn itself, and gives the terminal back as it found
//! it, whatever ends the run. An unfinished line of output stands in the block until its end
//! comes, so that it is neither overdrawn nor broken.

use super::Look;
use super::block::{Moment, block, steps};
use super::board::Board;
use super::held::Held;
use super::line::{Line, Tone, one_line};
use super::outlet::Outlet;
use super::said;
use super::seam::Seam;
use super::shape::Shape;
use crate::words::clean;
use std::collections::BTreeSet;
use towpath_core::StepPath;
use towpath_engine::{Event, Reporter, Stream};

const HIDE_CURSOR: &str = "\u{1b}[?25l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";
const ERASE_BELOW: &str = "\u{1b}[J";
const ERASE_REST: &str = "\u{1b}[K";
const PLAIN: &str = "\u{1b}[0m";

/// A little less than the engine's tick, so that no tick comes too early.
const BETWEEN_DRAWS_MS: i64 = 75;
/// An unfinished line is shown when it has been so for this long.
const UNFINISHED_MS: i64 = 200;
/// Output that waits for the next drawing is at most this much.
const WAITING: usize = 64 * 1024;

pub struct Live<O: Outlet> {
    outlet: O,
    look: Look,
    shape: Shape,
    board: Board,
    held: Held,
    stdout: Seam,
    /// Whole lines that wait for the next drawing.
    above: Vec<u8>,
    /// The step whose name stands above the latest output.
    voice: Option<StepPath>,
    /// Steps that have run beside others: their output is told apart until they end.
    beside: BTreeSet<StepPath>,
    drawn: Option<Drawn>,
    drawn_ms: i64,
    /// The run is under way and the terminal is ours.
    active: bool,
    cursor_hidden: bool,
}

/// The block as it stands on the screen.
struct Drawn {
    text: String,
    widths: Vec<usize>,
    size: (usize, usize),
}

impl<O: Outlet> Live<O> {
    pub fn new(outlet: O, look: Look, shape: Shape) -> Live<O> {
        Live {
            outlet,
            look,
            board: Board::new(shape.clone()),
            shape,
            held: Held::default(),
            stdout: Seam::default(),
            above: Vec::new(),
            voice: None,
            beside: BTreeSet::new(),
            drawn: None,
            drawn_ms: 0,
            active: false,
            cursor_hidden: false,
        }
    }

    fn say(&mut self, line: &Line) {
        self.voice = None;
        self.above.extend(line.render(self.look.color).bytes());
        self.above.push(b'\n');
    }

    fn output(&mut self, step: &StepPath, stream: Stream, bytes: &[u8]) {
        let now = self.outlet.now_ms();
        self.board.heard(step, now);
        let mut held = std::mem::take(&mut self.held);
        held.take(step, stream, bytes, now, |whole| self.pass(step, stream, whole));
        self.held = held;
    }

    fn flush(&mut self, step: &StepPath) {
        for (stream, rest) in self.held.finish(step) {
            self.pass(step, stream, &rest);
        }
    }

    /// Whether output of this stream is shown above the block.
    fn shown(&self, stream: Stream) -> bool {
        stream == Stream::Stderr || self.look.joined || self.look.json
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
        if beside && self.voice.as_ref() != Some(step) {
            self.say(&Line::new().with(Tone::Strong, clean(step.as_str())));
            self.voice = Some(step.clone());
        }
        if beside {
            for line in bytes.split_inclusive(|b| *b == b'\n') {
                self.above.extend(b"  ");
                self.above.extend(line);
            }
        } else {
            self.voice = None;
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

    /// Lines that are being written right now.
    fn unfinished(&self, now: i64) -> Vec<Line> {
        let open = self.held.open().filter(|(_, stream, line)| {
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
        let rendered: Vec<String> = lines.iter().map(|l| l.render(self.look.color)).collect();
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

    fn started(&mut self, step: &StepPath, kind: &'static str) {
        self.board.started(step, kind, self.outlet.now_ms());
        let running = self.board.running();
        if running.len() > 1 {
            self.beside.extend(running.into_iter().cloned());
        }
        if self.look.verbose && kind != "recipe" {
            let work = self.shape.work(step).unwrap_or_default();
            let line = format!("started {}: {work}", clean(step.as_str()));
            self.say(&Line::new().with(Tone::Faint, line));
        }
    }

    /// Leaves the steps on the screen as they ended.
    fn over(&mut self) {
        let (columns, rows) = self.outlet.size();
        let room = rows.saturating_sub(6).max(10);
        let now = self.outlet.now_ms();
        self.say(&Line::new());
        for line in steps(&self.board, room, columns.saturating_sub(1), now) {
            self.say(&line);
        }
        self.say(&Line::new());
        self.leave();
    }
}

impl<O: Outlet> Reporter for Live<O> {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::RunStarted { run, recipe, directory, resumed, steps } => {
                self.board.begin(steps);
                self.say(&said::header(run, recipe, directory, *resumed));
                // A run that is over before the first drawing does not flash.
                self.drawn_ms = self.outlet.now_ms();
                self.active = true;
                self.clear();
            }
            Event::StepStarted { step, kind } => self.started(step, kind),
            Event::Output { step, stream, bytes } => self.output(step, *stream, bytes),
            Event::Doing { step, what } => {
                self.board.doing(step, what, self.outlet.now_ms());
            }
            Event::StepEnded { step, result, tolerated, took_ms } => {
                self.flush(step);
                self.beside.remove(*step);
                self.board.ended(step, result, *tolerated, *took_ms);
            }
            Event::Warning { step, message } => self.say(&said::warning(*step, message)),
            Event::Ended { processes, why } => {
                if let Some(line) = said::processes(processes, why, self.look.verbose) {
                    self.say(&line);
                }
            }
            Event::Suspended => self.leave(),
            Event::Continued => {
                self.active = true;
                self.drawn_ms = 0;
            }
            Event::RunEnded { outcome, .. } => {
                for step in self.held.steps() {
                    self.flush(&step);
                }
                self.board.over(outcome);
                return self.over();
            }
        }
        self.draw();
    }

    fn tick(&mut self) {
        self.draw();
    }
}

impl<O: Outlet> Drop for Live<O> {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use towpath_run::{RunOutcome, StepView};

    fn reporter(columns: usize, rows: usize) -> (Live<Recorder>, Recorder) {
        let recorder = Recorder::new(columns, rows);
        let look = Look { terminal: true, joined: true, ..look() };
        (Live::new(recorder.clone(), look, shape(&[("ci", 6)])), recorder)
    }

    fn six() -> Vec<StepView> {
        let kinds = ["recipe", "agent", "agent", "bash", "bash", "bash"];
        let ids =
            ["ci", "security-review", "architecture-review", "quality-gate", "deploy", "notify"];
        ids.into_iter().zip(kinds).map(|(id, kind)| pending(id, kind)).collect()
    }

    /// The run of the sketch, up to the moment that it shows.
    fn sketch(columns: usize) -> (Live<Recorder>, Recorder) {
        let (mut live, seen) = reporter(columns, 24);
        live.run(six());
        for step in ["ci/1", "ci/2", "ci/3", "ci/4", "ci/5", "ci/6"] {
            live.start(step, "bash");
            live.end(step, &completed(), 1000);
        }
        live.end("ci", &completed(), 72_000);
        live.start("security-review", "agent");
        live.start("architecture-review", "agent");
        live.end("deploy", &skipped("needs tag release"), 0);
        live.doing("security-review", "Read src/auth.rs");
        live.doing("architecture-review", "Bash cargo tree");
        seen.pass_time(48_200);
        live.tick();
        (live, seen)
    }

    #[test]
    fn the_block_of_the_sketch_in_80_columns() {
        let (_live, seen) = sketch(80);
        let screen = Screen::of(&seen);
        assert!(screen.cursor_hidden && !screen.wrapped);
        assert_eq!(
            screen.text(),
            "\
ship-release · run 7f3k · shop

  ✓ ci                   1 m 12 s  6 of 6 steps
  ⠹ security-review          48 s  Read src/auth.rs
  ⠹ architecture-review      48 s  Bash cargo tree
  · quality-gate
  · deploy                         skipped: needs tag release
  · notify

  2 running · 1 of 6 done · Ctrl-C stops, keeps everything"
        );
    }

    #[test]
    fn the_block_of_the_sketch_in_50_columns() {
        let (_live, seen) = sketch(50);
        let screen = Screen::of(&seen);
        assert!(!screen.wrapped);
        assert_eq!(
            screen.text(),
            "\
ship-release · run 7f3k · shop

  ✓ ci                   1 m 12 s  6 of 6 steps
  ⠹ security-review          48 s  Read src/auth…
  ⠹ architecture-review      48 s  Bash cargo tr…
  · quality-gate
  · deploy                         skipped: need…
  · notify

  2 running · 1 of 6 done · Ctrl-C stops"
        );
    }

    #[test]
    fn output_scrolls_above_the_block_and_the_steps_stay_at_the_end() {
        let (mut live, seen) = reporter(60, 24);
        live.run(vec![pending("build", "bash"), pending("test", "bash")]);
        live.start("build", "bash");
        for number in 0..30 {
            live.print("build", &format!("line {number}\n"));
            seen.pass_time(80);
            live.tick();
        }
        live.end("build", &completed(), 2400);
        live.start("test", "bash");
        live.complain("test", "boom");
        live.end("test", &failed("exit 1", "one\nboom"), 100);
        let outcome = RunOutcome::Done;
        let run = towpath_core::RunId::new("7f3k").unwrap();
        live.event(&Event::RunEnded { run: &run, outcome: &outcome });
        let screen = Screen::of(&seen);
        assert!(!screen.cursor_hidden && !screen.wrapped);
        let lines: String = (0..30).map(|number| format!("line {number}\n")).collect();
        let expected = format!(
            "ship-release · run 7f3k · shop\n{lines}boom\n\n  \
             ✓ build  2.4 s  done\n  \
             ✗ test   0.1 s  failed: exit 1: boom"
        );
        assert_eq!(screen.text(), expected);
        assert!(seen.stdout_text().is_empty());
    }

    #[test]
    fn steps_that_run_together_are_told_apart() {
        let (mut live, seen) = reporter(60, 24);
        live.run(vec![pending("a", "bash"), pending("b", "bash")]);
        live.start("a", "bash");
        live.start("b", "bash");
        live.print("a", "one\ntwo\n");
        live.print("b", "three\n");
        live.print("b", "four\n");
        live.end("b", &completed(), 10);
        // Alone now, but still indented: nobody could tell whose line it is.
        live.print("a", "five\n");
        live.end("a", &completed(), 10);
        live.start("c", "bash");
        live.print("c", "six\n");
        live.leave();
        let expected = "ship-release · run 7f3k · shop\na\n  one\n  two\nb\n  three\n  four\n\
                        a\n  five\nsix";
        assert_eq!(Screen::of(&seen).text(), expected);
    }

    #[test]
    fn an_unfinished_line_stands_in_the_block_until_it_ends() {
        let (mut live, seen) = reporter(40, 24);
        live.run(vec![pending("a", "bash")]);
        live.start("a", "bash");
        live.print("a", "10 %\r\u{1b}[32m20 %");
        seen.pass_time(100);
        live.tick();
        assert!(!Screen::of(&seen).text().contains('%'));
        seen.pass_time(200);
        live.tick();
        let screen = Screen::of(&seen).text();
        assert!(screen.contains("\n20 %\n\n  ⠸ a  0 s  running\n"), "{screen}");
        live.print("a", "\r30 %\n");
        live.leave();
        assert!(seen.stderr_text().ends_with("10 %\r\u{1b}[32m20 %\r30 %\n\u{1b}[0m\u{1b}[?25h"));
    }

    #[test]
    fn a_block_never_gets_higher_than_the_terminal() {
        for rows in 1..30 {
            let (mut live, seen) = reporter(60, rows);
            let ids: Vec<String> = (0..40).map(|number| format!("step-{number}")).collect();
            live.run(ids.iter().map(|id| pending(id, "bash")).collect());
            for id in &ids[..20] {
                live.start(id, "bash");
                live.end(id, &completed(), 1000);
            }
            for id in &ids[20..24] {
                live.start(id, "bash");
                live.print(id, "unfinished");
            }
            for _ in 0..10 {
                seen.pass_time(100);
                live.print(&ids[20], "more\nunfinished");
                live.tick();
            }
            let screen = Screen::of(&seen);
            let drawn = live.drawn.as_ref().unwrap().widths.len();
            assert!(drawn <= rows.saturating_sub(1).max(1), "{drawn} of {rows}");
            assert!(screen.text().contains("4 running · 20 of 40 done · Ctrl-C stops"));
        }
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let (mut live, seen) = reporter(70, 12);
        let ids: Vec<String> = (0..40).map(|number| format!("step-{number}")).collect();
        live.run(ids.iter().map(|id| pending(id, "bash")).collect());
        for id in &ids[..20] {
            live.start(id, "bash");
            live.end(id, &if id == "step-3" { skipped("no") } else { completed() }, 1000);
        }
        live.start("step-20", "bash");
        seen.pass_time(1000);
        live.tick();
        assert_eq!(
            Screen::of(&seen).text(),
            "\
ship-release · run 7f3k · shop

  … 18 earlier: 17 done, 1 skipped
  ✓ step-18  1.0 s  done
  ✓ step-19  1.0 s  done
  ⠋ step-20    1 s  running
  · step-21
  · step-22
  · step-23
  … 16 more: 16 to come

  1 running · 19 of 40 done · Ctrl-C stops, keeps everything"
        );
    }

    #[test]
    fn a_running_recipe_step_shows_its_running_child() {
        let (mut live, seen) = reporter(60, 24);
        live.run(vec![pending("ci", "recipe")]);
        live.start("ci/lint", "bash");
        live.start("ci", "recipe");
        live.end("ci/lint", &completed(), 10);
        live.end("ci/docs", &skipped("no"), 0);
        live.start("ci/review", "agent");
        live.doing("ci/review", "Read\tsrc/auth.rs\nsecond");
        seen.pass_time(80);
        live.tick();
        let text = Screen::of(&seen).text();
        let line = "  ⠋ ci  0 s  1 of 6 steps, 1 skipped · review: Read src/au…\n";
        assert!(text.contains(line), "{text}");
        live.end("ci/review", &costing(0.25), 10);
        live.end("ci", &completed(), 20);
        seen.pass_time(80);
        live.tick();
        let text = Screen::of(&seen).text();
        assert!(text.contains("  ✓ ci  0.0 s  2 of 6 steps, 1 skipped\n"), "{text}");
        assert!(text.contains("0 running · 1 of 1 done · $0.25 · Ctrl-C"), "{text}");
    }

    #[test]
    fn a_narrower_terminal_leaves_nothing_behind() {
        let (mut live, seen) = sketch(80);
        let before = seen.stderr_text().len();
        seen.0.borrow_mut().size = (30, 24);
        seen.pass_time(100);
        live.tick();
        // 47, 51, 50, 15, 61, 9 and 58 columns take 2 + 2 + 2 + 1 + 3 + 1 + 2 rows of 30, and
        // the empty lines one each.
        let drawn = seen.stderr_text()[before..].to_owned();
        assert!(drawn.starts_with("\r\u{1b}[14A\u{1b}[J"), "{drawn:?}");
    }

    #[test]
    fn nothing_is_drawn_when_nothing_has_changed() {
        let (mut live, seen) = reporter(60, 24);
        live.run(vec![pending("a", "bash")]);
        seen.pass_time(80);
        live.tick();
        let writes = seen.0.borrow().writes;
        for _ in 0..20 {
            seen.pass_time(80);
            live.tick();
        }
        assert_eq!(seen.0.borrow().writes, writes);
        // And with a spinner not more often than the clock allows.
        live.start("a", "bash");
        for _ in 0..1000 {
            seen.pass_time(1);
            live.tick();
        }
        assert!(seen.0.borrow().writes - writes <= 14);
    }

    #[test]
    fn the_terminal_is_given_back_on_a_stop_and_on_an_error() {
        let (mut live, seen) = sketch(80);
        live.event(&Event::Suspended);
        let screen = Screen::of(&seen);
        assert!(!screen.cursor_hidden);
        assert_eq!(screen.text(), "ship-release · run 7f3k · shop");
        live.tick();
        live.event(&Event::Continued);
        seen.pass_time(100);
        live.tick();
        let screen = Screen::of(&seen);
        assert!(screen.cursor_hidden && screen.text().contains("2 running"));
        drop(live);
        let screen = Screen::of(&seen);
        assert!(!screen.cursor_hidden);
        assert_eq!(screen.text(), "ship-release · run 7f3k · shop");
    }

    #[test]
    fn stdout_elsewhere_gets_the_output_alone() {
        let recorder = Recorder::new(60, 24);
        let look = Look { terminal: true, ..look() };
        let mut live = Live::new(recorder.clone(), look, shape(&[]));
        live.run(vec![pending("a", "bash"), pending("b", "bash")]);
        live.start("a", "bash");
        live.print("a", "data\nno end");
        live.complain("a", "note\n");
        live.end("a", &completed(), 10);
        live.start("b", "bash");
        live.print("b", "after");
        live.end("b", &completed(), 10);
        live.leave();
        assert_eq!(recorder.stdout_text(), "data\nno endafter");
        assert_eq!(Screen::of(&recorder).text(), "ship-release · run 7f3k · shop\nnote");
    }

    #[test]
    fn a_flood_of_output_is_not_kept() {
        let (mut live, seen) = reporter(60, 24);
        live.run(vec![pending("a", "bash")]);
        live.start("a", "bash");
        let chunk = "y\n".repeat(10_000);
        for _ in 0..20 {
            live.print("a", &chunk);
            assert!(live.above.len() < WAITING);
        }
        live.leave();
        assert_eq!(seen.stderr_text().matches("y\n").count(), 200_000);
    }
}
