//! What the tests of the reporters share: a recorded outlet, a small screen that understands the
//! few sequences that are written, and runs that are driven without any process.

use super::output_sink::Sink;
use super::shape::{RecipeShape, Shape};
use super::{OutputOptions, ReporterKind};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;
use towpath_core::{JobKey, JobKind, RunId, StepPath, Usage};
use towpath_engine::{Event, EventKind, Reporter, RunEnd, Stream};
use towpath_recipe::{Plan, PlannedRecipe};
use towpath_run::{
    Fact, Failure, FailureKind, JobEnd, Limits, Output, Run, StepKind, StepResult, StepState,
    StepStatus, StepView, StopReason,
};
use unicode_width::UnicodeWidthChar as _;

pub fn options() -> OutputOptions {
    OutputOptions {
        terminal: false,
        joined: false,
        color: false,
        quiet: false,
        verbose: false,
        json: false,
        elsewhere: false,
        reporter: ReporterKind::Own,
    }
}

/// An outlet that keeps what is written, shared with the test that reads it.
#[derive(Clone)]
pub struct Recorder(pub Rc<RefCell<Record>>);

pub struct Record {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub writes: usize,
    pub size: (usize, usize),
    pub now_ms: i64,
}

impl Recorder {
    pub fn new(columns: usize, rows: usize) -> Recorder {
        let (stdout, stderr) = (Vec::new(), Vec::new());
        let record = Record { stdout, stderr, writes: 0, size: (columns, rows), now_ms: 0 };
        Recorder(Rc::new(RefCell::new(record)))
    }

    pub fn pass_time(&self, ms: i64) {
        self.0.borrow_mut().now_ms += ms;
    }

    pub fn stdout_text(&self) -> String {
        String::from_utf8(self.0.borrow().stdout.clone()).unwrap()
    }

    pub fn stderr_text(&self) -> String {
        String::from_utf8(self.0.borrow().stderr.clone()).unwrap()
    }
}

impl Sink for Recorder {
    fn stdout(&mut self, bytes: &[u8]) {
        self.0.borrow_mut().stdout.extend(bytes);
    }

    fn stderr(&mut self, bytes: &[u8]) {
        let mut record = self.0.borrow_mut();
        record.stderr.extend(bytes);
        record.writes += 1;
    }

    fn size(&self) -> (usize, usize) {
        self.0.borrow().size
    }

    fn now_ms(&self) -> i64 {
        self.0.borrow().now_ms
    }
}

/// A terminal of which everything that was ever on it can be read.
pub struct Screen {
    columns: usize,
    rows: usize,
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
    pub cursor_hidden: bool,
    pub wrapped: bool,
}

impl Screen {
    pub fn of(recorder: &Recorder) -> Screen {
        let (columns, rows) = recorder.0.borrow().size;
        let mut screen = Screen {
            columns,
            rows,
            lines: vec![Vec::new()],
            row: 0,
            column: 0,
            cursor_hidden: false,
            wrapped: false,
        };
        screen.write(&recorder.stderr_text());
        screen
    }

    /// All lines without the spaces at their ends, and without empty ones at the bottom.
    pub fn text(&self) -> String {
        let line = |line: &Vec<char>| {
            let text: String = line.iter().filter(|c| **c != '\0').collect();
            text.trim_end().to_owned()
        };
        self.lines.iter().map(line).collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    fn write(&mut self, text: &str) {
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '\u{1b}' => {
                    assert_eq!(chars.next(), Some('['), "only CSI sequences are written");
                    let mut number = String::new();
                    let end = loop {
                        match chars.next().expect("a sequence ends") {
                            c if c.is_ascii_alphabetic() => break c,
                            c => number.push(c),
                        }
                    };
                    self.sequence(&number, end);
                }
                '\r' => self.column = 0,
                '\n' => {
                    self.column = 0;
                    self.down();
                }
                c => self.put(c),
            }
        }
    }

    fn sequence(&mut self, number: &str, end: char) {
        match (end, number) {
            ('A', number) => {
                let up: usize = number.parse().unwrap();
                let top = self.lines.len().saturating_sub(self.rows);
                assert!(self.row >= top + up, "the cursor leaves the screen");
                self.row -= up;
            }
            ('J', "") => {
                self.lines.truncate(self.row + 1);
                self.lines[self.row].truncate(self.column);
            }
            ('K', "") => self.lines[self.row].truncate(self.column),
            ('h', "?25") => self.cursor_hidden = false,
            ('l', "?25") => self.cursor_hidden = true,
            ('m', _) => {}
            other => panic!("unknown sequence {other:?}"),
        }
    }

    fn down(&mut self) {
        self.row += 1;
        if self.row == self.lines.len() {
            self.lines.push(Vec::new());
        }
    }

    fn put(&mut self, c: char) {
        let width = c.width().unwrap_or(0);
        if self.column + width > self.columns {
            self.wrapped = true;
            self.column = 0;
            self.down();
        }
        let line = &mut self.lines[self.row];
        line.resize(line.len().max(self.column + width), ' ');
        for at in 0..width {
            line[self.column + at] = if at == 0 { c } else { '\0' };
        }
        self.column += width;
    }
}

pub fn path(text: &str) -> StepPath {
    StepPath::new(text)
}

fn step_kind(name: &str) -> StepKind {
    let kinds = [StepKind::Bash, StepKind::Agent, StepKind::Recipe];
    kinds.into_iter().find(|kind| kind.as_str() == name).expect("a kind of step")
}

pub fn pending(id: &str, kind: &str) -> StepView {
    StepView {
        path: path(id),
        id: id.to_owned(),
        kind: step_kind(kind),
        depth: 0,
        state: StepState::Pending,
        tolerated: false,
        gives_json: false,
        gave_up: false,
        result: None,
        started_ms: None,
        ended_ms: None,
        ended_now: false,
        paused_ms: 0,
        declared_done: false,
        attempts: 0,
        restarts: 0,
        calls: Vec::new(),
        children: Vec::new(),
    }
}

/// A root recipe in which the named steps call recipes with so many steps.
pub fn shape(calls: &[(&str, usize)]) -> Shape {
    let mut root = RecipeShape::default();
    let mut recipes = Vec::new();
    for (index, (step, steps)) in calls.iter().enumerate() {
        root.calls.insert((*step).to_owned(), index + 1);
        recipes.push(RecipeShape { steps: *steps, ..RecipeShape::default() });
    }
    recipes.insert(0, root);
    Shape { recipes }
}

pub fn completed() -> StepResult {
    StepResult {
        status: StepStatus::Completed,
        output: Output::None,
        exit_code: Some(0),
        usage: None,
        report: None,
    }
}

pub fn costing(usd: f64) -> StepResult {
    let usage = Some(Usage { cost_usd: Some(usd), ..Usage::default() });
    StepResult { usage, ..completed() }
}

pub fn skipped(reason: &str) -> StepResult {
    StepResult { status: StepStatus::Skipped { reason: reason.to_owned() }, ..completed() }
}

pub fn failed(message: &str, detail: &str) -> StepResult {
    let failure =
        Failure { detail: detail.to_owned(), ..Failure::new(FailureKind::Command, message) };
    StepResult { status: StepStatus::Failed(failure), ..completed() }
}

/// Events in the words of a test.
pub trait Feed: Reporter {
    fn report(&mut self, kind: EventKind) {
        self.event(&Event { seq: 1, at_ms: 0, kind });
    }

    fn run(&mut self, steps: Vec<StepView>) {
        let run = RunId::new("7f3k").unwrap();
        let (directory, recipe) = ("/home/me/shop".into(), "ship-release".into());
        self.report(EventKind::RunStarted { run, recipe, directory, resumed: false, steps });
    }

    fn start(&mut self, step: &str, kind: &str) {
        self.report(EventKind::StepStarted { step: path(step), kind: step_kind(kind) });
    }

    fn print(&mut self, step: &str, text: &str) {
        self.report(output(step, Stream::Stdout, text));
    }

    fn complain(&mut self, step: &str, text: &str) {
        self.report(output(step, Stream::Stderr, text));
    }

    fn doing(&mut self, step: &str, what: &str) {
        self.report(EventKind::Doing { step: path(step), what: what.to_owned() });
    }

    fn warn(&mut self, step: &str, message: &str) {
        self.report(EventKind::Warning { step: Some(path(step)), message: message.to_owned() });
    }

    fn end(&mut self, step: &str, result: &StepResult, took_ms: i64) {
        self.end_as(step, result, took_ms, false);
    }

    fn tolerate(&mut self, step: &str, result: &StepResult, took_ms: i64) {
        self.end_as(step, result, took_ms, true);
    }

    fn end_as(&mut self, step: &str, result: &StepResult, took_ms: i64, tolerated: bool) {
        let (step, result) = (path(step), result.clone());
        self.report(EventKind::StepEnded { step, result, tolerated, took_ms });
    }
}

fn output(step: &str, stream: Stream, text: &str) -> EventKind {
    let (step, bytes) = (path(step), text.as_bytes().to_vec());
    let job = JobKey::of_step(&step, 0, JobKind::Bash);
    EventKind::Output { step, job, stream, bytes }
}

impl<R: Reporter> Feed for R {}

/// A run of recipes (the root first, each step's `recipe:` naming the next ones), driven with
/// made-up ends.
pub fn driven(texts: &[(&str, &str)], ends: &mut dyn FnMut(&JobKey) -> JobEnd) -> Run {
    driven_from(None, texts, ends)
}

/// The same, with the root read from a file.
pub fn driven_from(
    path: Option<&str>,
    texts: &[(&str, &str)],
    ends: &mut dyn FnMut(&JobKey) -> JobEnd,
) -> Run {
    let recipes = texts.iter().map(|(source, text)| PlannedRecipe {
        source: (*source).to_owned(),
        path: path.map(str::to_owned),
        text: (*text).to_owned(),
        calls: texts
            .iter()
            .enumerate()
            .map(|(at, (name, _))| ((*name).to_owned(), at))
            .collect::<BTreeMap<_, _>>(),
        ..PlannedRecipe::default()
    });
    let plan = Plan { recipes: recipes.collect(), no_auto_stage: true, ..Plan::default() };
    let mut run = Run::new(plan.load().expect("the recipes are right").into(), Limits::default());
    run.apply(&Fact::Started, 0).unwrap();
    let mut now = 0;
    loop {
        let jobs = run.next();
        if jobs.is_empty() {
            return run;
        }
        for job in &jobs {
            let fact = Fact::job_started(job.key.clone());
            run.apply(&fact, now).unwrap();
        }
        for job in jobs {
            now += 1500;
            let end = ends(&job.key);
            run.apply(&Fact::JobFinished { key: job.key, end }, now).unwrap();
        }
    }
}

pub fn ended(mut run: Run, stop: Option<StopReason>) -> RunEnd {
    if let Some(reason) = stop {
        run.apply(&Fact::Stopping { reason }, 99_000).unwrap();
    }
    let outcome = run.outcome().expect("nothing more is wanted");
    RunEnd {
        id: RunId::new("7f3k").unwrap(),
        outcome,
        run,
        warnings: Vec::new(),
        took: Duration::from_millis(123_000),
        unused_lines: Vec::new(),
        session: None,
    }
}
