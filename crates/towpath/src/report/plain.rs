//! The reporter for pipes, files and CI: one line per happening on stderr, no cursor movement. A
//! step's output is passed on byte for byte; a line break of ours is only added between the lines
//! of steps that run at the same time, and before a line of our own.

use super::Look;
use super::held::Held;
use super::line::{Line, Tone, one_line};
use super::outlet::Outlet;
use super::said;
use super::seam::Seam;
use super::shape::Shape;
use crate::words::{clean, duration};
use std::collections::BTreeMap;
use towpath_core::StepPath;
use towpath_engine::{Event, Reporter, Stream};
use towpath_run::{FailureKind, RunOutcome, StepResult, StepStatus};

/// A step that says nothing for this long is spoken of.
const SILENCE_MS: i64 = 30_000;

pub struct Plain<O: Outlet> {
    outlet: O,
    look: Look,
    shape: Shape,
    held: Held,
    running: BTreeMap<StepPath, Running>,
    stdout: Seam,
    stderr: Seam,
}

struct Running {
    kind: &'static str,
    since_ms: i64,
    heard_ms: i64,
    doing: String,
}

impl<O: Outlet> Plain<O> {
    pub fn new(outlet: O, look: Look, shape: Shape) -> Plain<O> {
        Plain {
            outlet,
            look,
            shape,
            held: Held::default(),
            running: BTreeMap::new(),
            stdout: Seam::default(),
            stderr: Seam::default(),
        }
    }

    fn say(&mut self, line: &Line) {
        if self.look.quiet {
            return;
        }
        let mut text = line.render(self.look.color);
        text.push('\n');
        if self.seam(Stream::Stderr).ours() {
            text.insert(0, '\n');
        }
        self.outlet.stderr(text.as_bytes());
    }

    /// The end of a stream; both are one where they lead to the same place.
    fn seam(&mut self, stream: Stream) -> &mut Seam {
        match stream {
            Stream::Stdout if !self.look.joined => &mut self.stdout,
            _ => &mut self.stderr,
        }
    }

    fn pass(&mut self, step: &StepPath, stream: Stream, bytes: &[u8]) {
        let several = self.own_work().count() > 1;
        let apart = self.seam(stream).meets(step, bytes, several);
        let write = match stream {
            Stream::Stdout => O::stdout,
            Stream::Stderr => O::stderr,
        };
        if apart {
            write(&mut self.outlet, b"\n");
        }
        write(&mut self.outlet, bytes);
    }

    /// With JSON on stdout, what steps print goes to stderr; whoever wants quiet has it in the
    /// JSON.
    fn stream(&self, stream: Stream) -> Option<Stream> {
        match stream {
            Stream::Stdout if self.look.json && self.look.quiet => None,
            Stream::Stdout if self.look.json => Some(Stream::Stderr),
            other => Some(other),
        }
    }

    fn output(&mut self, step: &StepPath, stream: Stream, bytes: &[u8]) {
        let now = self.outlet.now_ms();
        if let Some(running) = self.running.get_mut(step) {
            running.heard_ms = now;
        }
        let mut held = std::mem::take(&mut self.held);
        held.take(step, stream, bytes, now, |whole| {
            if let Some(stream) = self.stream(stream) {
                self.pass(step, stream, whole);
            }
        });
        self.held = held;
    }

    fn flush(&mut self, step: &StepPath) {
        for (stream, rest) in self.held.finish(step) {
            if let Some(stream) = self.stream(stream) {
                self.pass(step, stream, &rest);
            }
        }
    }

    /// The steps that do something themselves.
    fn own_work(&self) -> impl Iterator<Item = (&StepPath, &Running)> {
        self.running.iter().filter(|(_, running)| running.kind != "recipe")
    }

    /// The recipe steps around a step are told before it.
    fn started(&mut self, step: &StepPath, kind: &'static str) {
        let text = step.as_str();
        for (at, _) in text.match_indices('/') {
            self.tell_start(&StepPath::new(&text[..at]), "recipe");
        }
        self.tell_start(step, kind);
    }

    fn tell_start(&mut self, step: &StepPath, kind: &'static str) {
        if self.running.contains_key(step) {
            return;
        }
        let now = self.outlet.now_ms();
        let running = Running { kind, since_ms: now, heard_ms: now, doing: String::new() };
        self.running.insert(step.clone(), running);
        let work = self.shape.work(step).filter(|_| self.look.verbose);
        let work = work.map_or(String::new(), |work| format!(": {work}"));
        self.say(&Line::plain(format!("started {}{work}", clean(step.as_str()))));
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
                Line::new().with(Tone::Good, "done").text(format!(" {name}{took}"))
            }
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
        self.say(&line);
    }

    fn doing(&mut self, step: &StepPath, what: &str) {
        let what = one_line(what);
        if self.look.verbose {
            self.say(&Line::plain(format!("{}: {what}", clean(step.as_str()))));
        }
        if let Some(running) = self.running.get_mut(step) {
            running.doing = what;
        }
    }
}

impl<O: Outlet> Reporter for Plain<O> {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::RunStarted { run, recipe, directory, resumed, .. } => {
                self.say(&said::header(run, recipe, directory, *resumed));
            }
            Event::StepStarted { step, kind } => self.started(step, kind),
            Event::Output { step, stream, bytes } => self.output(step, *stream, bytes),
            Event::Doing { step, what } => self.doing(step, what),
            Event::StepEnded { step, result, tolerated, took_ms } => {
                self.ended(step, result, *tolerated, *took_ms);
            }
            Event::Warning { step, message } => self.say(&said::warning(*step, message)),
            Event::Ended { processes, why } => {
                if let Some(line) = said::processes(processes, why, self.look.verbose) {
                    self.say(&line);
                }
            }
            Event::RunEnded { outcome, .. } => {
                for step in self.held.steps() {
                    self.flush(&step);
                }
                // What follows is said by others, who know nothing of an open line.
                let silent = self.look.quiet && !self.look.json && **outcome == RunOutcome::Done;
                if !silent && self.seam(Stream::Stderr).ours() {
                    self.outlet.stderr(b"\n");
                }
            }
            Event::Suspended | Event::Continued => {}
        }
    }

    fn tick(&mut self) {
        let now = self.outlet.now_ms();
        let mut silent = Vec::new();
        for (step, running) in &mut self.running {
            if running.kind != "recipe" && now - running.heard_ms >= SILENCE_MS {
                running.heard_ms = now;
                let doing = match running.doing.as_str() {
                    "" => String::new(),
                    doing => format!(": {doing}"),
                };
                let time = duration(now - running.since_ms);
                silent.push(format!("running {} {time}{doing}", clean(step.as_str())));
            }
        }
        for line in silent {
            self.say(&Line::plain(line));
        }
    }
}
