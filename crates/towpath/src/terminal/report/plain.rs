//! The reporter for pipes, files and CI: one line per event on stderr, no cursor movement. A
//! step's output is passed on byte for byte. Of steps that run at the same time each line carries its step's
//! name, unless the user wants nothing but what the steps print; a line break of ours is only added between
//! their lines, and before a line of our own.

use super::fit_text::one_line;
use super::line_buffer::LineBuffer;
use super::newline_between_steps::LineBreak;
use super::output_sink::Sink;
use super::shape::Shape;
use super::shared_event_lines;
use super::styled_line::{Line, Tone};
use super::{OutputOptions, RunScreen};
use crate::terminal::format::{clean, duration};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use towpath_core::StepPath;
use towpath_engine::{Event, EventKind, Reporter, Stream};
use towpath_run::{FailureKind, RunOutcome, StepKind, StepResult, StepStatus};
use towpath_view::foreign_text::relative;

/// A step that prints nothing for this long is mentioned.
const SILENCE_MS: i64 = 30_000;

pub struct Plain<O: Sink> {
    outlet: O,
    options: OutputOptions,
    shape: Shape,
    /// Where the run works.
    directory: PathBuf,
    buffer: LineBuffer,
    running: BTreeMap<StepPath, Running>,
    /// The steps that have run at the same time as another one.
    beside: BTreeSet<StepPath>,
    stdout: LineBreak,
    stderr: LineBreak,
}

struct Running {
    kind: StepKind,
    since_ms: i64,
    /// When it last printed something, or was mentioned.
    heard_ms: i64,
    /// When it last printed or did something.
    active_ms: i64,
    doing: String,
}

impl<O: Sink> Plain<O> {
    pub fn new(outlet: O, options: OutputOptions, shape: Shape) -> Plain<O> {
        Plain {
            outlet,
            options,
            shape,
            directory: PathBuf::new(),
            buffer: LineBuffer::default(),
            running: BTreeMap::new(),
            beside: BTreeSet::new(),
            stdout: LineBreak::default(),
            stderr: LineBreak::default(),
        }
    }

    fn print_line(&mut self, line: &Line) {
        if !self.options.quiet {
            self.print_always(line);
        }
    }

    /// Prints a line also where the user wants quiet.
    pub fn print_always(&mut self, line: &Line) {
        let mut text = line.render(self.options.color);
        text.push('\n');
        if self.line_end(Stream::Stderr).ours() {
            text.insert(0, '\n');
        }
        self.outlet.stderr(text.as_bytes());
    }

    /// Ends an open line on stdout, which other code continues to write to.
    pub fn end_line(&mut self) {
        if self.line_end(Stream::Stdout).ours() {
            self.outlet.stdout(b"\n");
        }
    }

    /// The end of a stream; both are one where they lead to the same file.
    fn line_end(&mut self, stream: Stream) -> &mut LineBreak {
        match stream {
            Stream::Stdout if !self.options.joined => &mut self.stdout,
            _ => &mut self.stderr,
        }
    }

    fn pass(&mut self, step: &StepPath, stream: Stream, bytes: &[u8]) {
        let several = self.own_work().count() > 1;
        let continues = self.line_end(stream).is_open_for(step);
        let apart = self.line_end(stream).meets(step, bytes, several);
        let write = match stream {
            Stream::Stdout => O::stdout,
            Stream::Stderr => O::stderr,
        };
        if apart {
            write(&mut self.outlet, b"\n");
        }
        match self.carries_name(step) {
            true => write(&mut self.outlet, &named(step, bytes, continues)),
            false => write(&mut self.outlet, bytes),
        }
    }

    /// With JSON on stdout, the output of steps goes to stderr; with quiet it is in the JSON and the logs alone.
    fn stream(&self, stream: Stream) -> Option<Stream> {
        match stream {
            _ if self.options.json && self.options.quiet => None,
            Stream::Stdout if self.options.json => Some(Stream::Stderr),
            other => Some(other),
        }
    }

    fn output(&mut self, step: &StepPath, stream: Stream, bytes: &[u8]) {
        let now = self.outlet.now_ms();
        if let Some(running) = self.running.get_mut(step) {
            (running.heard_ms, running.active_ms) = (now, now);
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.take(step, stream, bytes, now, |whole| {
            if let Some(stream) = self.stream(stream) {
                self.pass(step, stream, whole);
            }
        });
        self.buffer = buffer;
    }

    fn flush(&mut self, step: &StepPath) {
        for (stream, mut rest) in self.buffer.finish(step) {
            if self.carries_name(step) {
                rest.push(b'\n');
            }
            if let Some(stream) = self.stream(stream) {
                self.pass(step, stream, &rest);
            }
        }
    }

    /// Whether the lines of a step begin with its name.
    fn carries_name(&self, step: &StepPath) -> bool {
        self.beside.contains(step) && !self.options.quiet
    }

    /// The steps that do something themselves.
    fn own_work(&self) -> impl Iterator<Item = (&StepPath, &Running)> {
        self.running.iter().filter(|(_, running)| running.kind != StepKind::Recipe)
    }

    /// The recipe steps around a step are printed before it.
    fn started(&mut self, step: &StepPath, kind: StepKind) {
        let text = step.as_str();
        for (at, _) in text.match_indices('/') {
            self.print_start(&StepPath::new(&text[..at]), StepKind::Recipe);
        }
        self.print_start(step, kind);
    }

    fn print_start(&mut self, step: &StepPath, kind: StepKind) {
        if self.running.contains_key(step) {
            return;
        }
        let now = self.outlet.now_ms();
        let running =
            Running { kind, since_ms: now, heard_ms: now, active_ms: now, doing: String::new() };
        self.running.insert(step.clone(), running);
        if self.own_work().count() > 1 {
            let together: Vec<StepPath> = self.own_work().map(|(step, _)| step.clone()).collect();
            self.beside.extend(together);
        }
        let work = self.shape.work(step).filter(|_| self.options.verbose);
        let work = work.map_or(String::new(), |work| format!(": {work}"));
        self.print_line(&Line::plain(format!("started {}{work}", clean(step.as_str()))));
    }

    fn ended(&mut self, step: &StepPath, result: &StepResult, tolerated: bool, took_ms: i64) {
        self.flush(step);
        let ran = self.running.remove(step).is_some();
        let name = clean(step.as_str());
        let took = if ran { duration(took_ms) } else { String::new() };
        let after = if ran { format!(" ({took})") } else { String::new() };
        let line = match &result.status {
            StepStatus::Completed => {
                let took = if ran { format!(" {took}") } else { took };
                let report =
                    shared_event_lines::report(result).map_or(String::new(), |r| format!(": {r}"));
                let tone = if result.reports_trouble() { Tone::Attention } else { Tone::Good };
                Line::new().with(tone, "done").text(format!(" {name}{took}{report}"))
            }
            StepStatus::Degraded { reason } => Line::new()
                .with(Tone::Attention, "degraded")
                .text(format!(" {name}: {}{after}", one_line(reason))),
            StepStatus::Recovered { failure } => Line::new()
                .with(Tone::Attention, "recovered")
                .text(format!(" {name} after: {}{after}", one_line(&failure.message))),
            StepStatus::Skipped { reason } => {
                Line::plain(format!("skipped {name}: {}", clean(reason)))
            }
            StepStatus::Failed(failure) if failure.kind == FailureKind::Stopped => {
                Line::new().with(Tone::Attention, "stopped").text(format!(" {name}{after}"))
            }
            StepStatus::Failed(failure) => {
                let tone = if tolerated { Tone::Attention } else { Tone::Bad };
                let tolerated = if tolerated { ", tolerated" } else { "" };
                let message = one_line(&failure.message);
                let rest = format!(" {name}: {message}{tolerated}{after}");
                Line::new().with(tone, "failed").text(rest)
            }
        };
        self.print_line(&line);
    }

    fn note_doing(&mut self, step: &StepPath, what: &str) {
        let what = one_line(&relative(what, &self.directory));
        if self.options.verbose {
            self.print_line(&Line::plain(format!("{}: {what}", clean(step.as_str()))));
        }
        self.note_heard(step);
        if let Some(running) = self.running.get_mut(step) {
            running.doing = what;
        }
    }

    fn note_heard(&mut self, step: &StepPath) {
        let now = self.outlet.now_ms();
        if let Some(running) = self.running.get_mut(step) {
            running.active_ms = now;
        }
    }
}

/// Each line with its step's name before it; the first one may continue a line that has it.
fn named(step: &StepPath, bytes: &[u8], continues: bool) -> Vec<u8> {
    let name = format!("{}: ", clean(step.as_str()));
    let mut text = Vec::new();
    for (index, line) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
        if index > 0 || !continues {
            text.extend(name.bytes());
        }
        text.extend(line);
    }
    text
}

impl<O: Sink> RunScreen for Plain<O> {
    fn aside(&mut self, line: &str) {
        self.print_always(&Line::plain(line));
    }
}

impl<O: Sink> Reporter for Plain<O> {
    fn event(&mut self, event: &Event) {
        let OutputOptions { verbose, elsewhere, .. } = self.options;
        if let Some(line) = shared_event_lines::of(&event.kind, verbose, elsewhere) {
            self.print_line(&line);
        }
        match &event.kind {
            EventKind::RunStarted { directory, .. } => self.directory.clone_from(directory),
            EventKind::StepStarted { step, kind } => self.started(step, *kind),
            EventKind::Output { step, stream, bytes, .. } => self.output(step, *stream, bytes),
            EventKind::Heard { step } => self.note_heard(step),
            EventKind::Doing { step, what } => self.note_doing(step, what),
            EventKind::StepEnded { step, result, tolerated, took_ms } => {
                self.ended(step, result, *tolerated, *took_ms);
            }
            EventKind::RunEnded { outcome, .. } => {
                for step in self.buffer.steps() {
                    self.flush(&step);
                }
                // What follows is printed by other code, which does not know of an open line.
                let silent =
                    self.options.quiet && !self.options.json && *outcome == RunOutcome::Done;
                if !silent && self.line_end(Stream::Stderr).ours() {
                    self.outlet.stderr(b"\n");
                }
            }
            EventKind::Suspended => self.outlet.settle(),
            EventKind::Continued => {
                let now = self.outlet.now_ms();
                self.running.values_mut().for_each(|running| running.active_ms = now);
            }
            // Their lines, and those of their steps, are all that is shown of them.
            EventKind::Entered { .. }
            | EventKind::CallStarted(_)
            | EventKind::CallEnded(_)
            | EventKind::Reported { .. }
            | EventKind::Reminded { .. }
            | EventKind::Moved { .. }
            | EventKind::Staged { .. }
            | EventKind::Warning { .. }
            | EventKind::Ended { .. }
            | EventKind::Stopping => {}
        }
    }

    fn ready(&self) -> bool {
        self.outlet.ready()
    }

    fn tick(&mut self) {
        let now = self.outlet.now_ms();
        let mut silent = Vec::new();
        for (step, running) in &mut self.running {
            if running.kind != StepKind::Recipe && now - running.heard_ms >= SILENCE_MS {
                running.heard_ms = now;
                let doing = match running.doing.as_str() {
                    "" => String::new(),
                    doing => format!(": {doing}"),
                };
                let silence = shared_event_lines::silence(now - running.active_ms);
                let silence = silence.filter(|_| running.kind == StepKind::Agent);
                let silence = silence.map_or(String::new(), |silence| format!(", {silence}"));
                let time = duration(now - running.since_ms);
                silent.push(format!("running {} {time}{silence}{doing}", clean(step.as_str())));
            }
        }
        for line in silent {
            self.print_line(&Line::plain(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::reporter_test_support::*;
    use super::*;
    use towpath_engine::EndedWith;

    fn reporter(options: OutputOptions) -> (Plain<Recorder>, Recorder) {
        let recorder = Recorder::new(80, 24);
        (Plain::new(recorder.clone(), options, shape(&[("ci", 2)])), recorder)
    }

    #[test]
    fn one_line_per_event() {
        let (mut plain, seen) = reporter(options());
        plain.run(Vec::new());
        // The engine may report a child before the step around it.
        plain.start("ci/build", "bash");
        plain.start("ci", "recipe");
        plain.print("ci/build", "compiling\n");
        plain.end("ci/build", &completed(), 320);
        plain.end("ci/docs", &skipped("condition false"), 0);
        plain.end("ci", &completed(), 72_000);
        plain.start("lint", "bash");
        plain.tolerate("lint", &failed("exit 2", ""), 3250);
        plain.warn("test", "{{x}} has no value");
        plain.start("test", "bash");
        plain.complain("test", "boom\n");
        plain.end("test", &failed("exit 1", "boom"), 100);
        plain
            .report(EventKind::Ended { processes: vec!["sleep (7)".into()], why: EndedWith::Step });
        plain.report(EventKind::Ended { processes: vec!["serve (8)".into()], why: EndedWith::Run });
        assert_eq!(seen.stdout_text(), "compiling\n");
        assert_eq!(
            seen.stderr_text(),
            "ship-release · run 7f3k · shop\n\
             started ci\n\
             started ci/build\n\
             done ci/build 0.3 s\n\
             skipped ci/docs: condition false\n\
             done ci 1 m 12 s\n\
             started lint\n\
             failed lint: exit 2, tolerated (3.2 s)\n\
             warning: test: {{x}} has no value\n\
             started test\n\
             boom\n\
             failed test: exit 1 (0.1 s)\n\
             processes ended, with the run: serve (8)\n"
        );
    }

    #[test]
    fn lines_of_steps_that_run_together_do_not_mix() {
        let (mut plain, seen) = reporter(options());
        plain.start("a", "agent");
        plain.start("b", "bash");
        plain.print("a", "first ");
        plain.print("b", "other\nunfinished");
        plain.print("a", "half\nand ");
        plain.end("b", &completed(), 0);
        plain.print("a", "more\n");
        plain.end("a", &completed(), 0);
        assert_eq!(seen.stdout_text(), "b: other\na: first half\nb: unfinished\na: and more\n");
    }

    #[test]
    fn who_wants_nothing_but_the_output_gets_it_without_names() {
        let (mut plain, seen) = reporter(OutputOptions { quiet: true, ..options() });
        plain.start("a", "bash");
        plain.start("b", "bash");
        plain.print("a", "one\ntwo\n");
        plain.print("b", "three\n");
        assert_eq!(seen.stdout_text(), "one\ntwo\nthree\n");
    }

    #[test]
    fn a_long_line_of_a_step_beside_others_carries_its_name_once() {
        let (mut plain, seen) = reporter(options());
        plain.start("a", "bash");
        plain.start("b", "bash");
        let long = "x".repeat(70_000);
        plain.print("a", &long);
        plain.print("a", &format!("{long}\nnext\n"));
        assert_eq!(seen.stdout_text(), format!("a: {long}{long}\na: next\n"));
    }

    #[test]
    fn output_of_steps_one_after_the_other_is_passed_on_byte_for_byte() {
        let (mut plain, seen) = reporter(options());
        for step in ["a", "b"] {
            plain.start(step, "bash");
            plain.print(step, "no end\u{1b}[1m\0\r");
            plain.end(step, &completed(), 0);
        }
        assert_eq!(seen.stdout_text(), "no end\u{1b}[1m\0\rno end\u{1b}[1m\0\r");
    }

    #[test]
    fn our_lines_begin_at_the_beginning_of_a_line() {
        let (mut plain, seen) = reporter(OutputOptions { joined: true, ..options() });
        plain.start("a", "bash");
        plain.print("a", "out");
        plain.end("a", &completed(), 0);
        let (out, err) = (seen.stdout_text(), seen.stderr_text());
        assert_eq!((out.as_str(), err.as_str()), ("out", "started a\n\ndone a 0.0 s\n"));
    }

    #[test]
    fn a_silent_step_is_mentioned_every_30_seconds() {
        let (mut plain, seen) = reporter(options());
        plain.start("ci", "recipe");
        plain.start("ci/slow", "agent");
        for _ in 0..29 {
            seen.pass_time(1000);
            plain.tick();
        }
        assert_eq!(seen.stderr_text(), "started ci\nstarted ci/slow\n");
        plain.print("ci/slow", "x\n");
        plain.doing("ci/slow", "Read src/auth.rs");
        for _ in 0..61 {
            seen.pass_time(1000);
            plain.tick();
        }
        assert_eq!(
            seen.stderr_text(),
            "started ci\nstarted ci/slow\n\
             running ci/slow 59 s: Read src/auth.rs\n\
             running ci/slow 1 m 29 s, silent for 1 min: Read src/auth.rs\n"
        );
        plain.report(EventKind::Heard { step: path("ci/slow") });
        seen.pass_time(30_000);
        plain.tick();
        let text = seen.stderr_text();
        assert!(text.ends_with("running ci/slow 2 m 0 s: Read src/auth.rs\n"), "{text}");
    }

    #[test]
    fn quiet_is_only_what_the_steps_print() {
        let (mut plain, seen) = reporter(OutputOptions { quiet: true, ..options() });
        plain.run(Vec::new());
        plain.start("a", "bash");
        plain.print("a", "out");
        plain.complain("a", "err");
        plain.end("a", &completed(), 0);
        assert_eq!((seen.stdout_text(), seen.stderr_text()), ("out".into(), "err".into()));
    }

    #[test]
    fn with_json_stdout_stays_free() {
        for (quiet, stderr) in [(false, "started a\nout\nerr\ndone a 0.0 s\n"), (true, "")] {
            let (mut plain, seen) = reporter(OutputOptions { json: true, quiet, ..options() });
            plain.start("a", "bash");
            plain.print("a", "out\n");
            plain.complain("a", "err\n");
            plain.end("a", &completed(), 0);
            assert_eq!((seen.stdout_text().as_str(), seen.stderr_text().as_str()), ("", stderr));
        }
    }

    #[test]
    fn names_and_reasons_cannot_move_the_cursor() {
        let (mut plain, seen) = reporter(options());
        plain.start("a\u{1b}[2J", "bash");
        plain.end("a\u{1b}[2J", &failed("exit\u{7}", ""), 0);
        assert!(!seen.stderr_text().contains(['\u{1b}', '\u{7}']));
    }
}
