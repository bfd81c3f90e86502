//! `towpath logs`: what steps printed, from the record, or from a job's files while it runs. It
//! only reads, in pieces, and never waits for anything but the run's owner.

mod choice;
mod copy;
mod transcript;

use super::Execute;
use super::resume::find;
use super::show::open;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::terminal::format::{clean, count};
use crate::terminal::out;
use crate::terminal::report::{Shape, columns};
use choice::Choice;
use copy::{copy, reader_gone};
use std::collections::BTreeSet;
use std::time::Duration;
use towpath_core::{JobKey, JobKind, RunId, RunStatus, nearest};
use towpath_engine::{is_held, recorded};
use towpath_run::{Fact, JobEnd, Limits, StepView};
use towpath_store::{Output, RunRow, Store, Stream};
use transcript::Transcript;

/// What the steps of a run printed: their stdout to stdout, their stderr to stderr.
///
/// An agent's answer counts as its stdout. Before it, on stderr, each tool use and sentence of the
/// agent, as far as its program reports them. Of a state machine every visit is shown; of a step
/// that was tried several times, the latest try.
///
/// Example: towpath logs 7f3k deploy
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run's id; a unique beginning is enough.
    pub run: String,
    /// A step's path, as `towpath show` prints it; STEP#N is one visit of a state machine's step,
    /// STEP every visit. Without it, all steps in the order they ran.
    pub step: Option<String>,
    /// Follow the run until it has ended.
    #[arg(short, long)]
    pub follow: bool,
    /// Every try of a step, not only the latest.
    #[arg(short, long)]
    pub all: bool,
    /// Of agents, all that the program printed, as it is, instead of tool uses and the answer.
    #[arg(long)]
    pub raw: bool,
}

const PAUSE: Duration = Duration::from_millis(100);

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let store = open(env, &self.run)?;
        let row = find(&store, &self.run)?;
        let columns = env.stderr_terminal.then(columns);
        let mut log = Log::new(&store, &row, self.raw, columns);
        log.read()?;
        let choice = Choice::new(self.step.as_deref(), self.all, self.follow);
        let mut wanted: BTreeSet<usize> = BTreeSet::new();
        if let Some(step) = self.step.as_ref().filter(|_| self.follow)
            && !may_come(&store, &row.id, step)?
        {
            return Err(not_run(&store, &row.id, step)?);
        }
        loop {
            // Asked first: whatever a gone owner has recorded is then read below.
            let over = !self.follow || !is_held(&store, &row.id);
            log.read()?;
            wanted.extend(choice.of(&log.jobs).map_err(CommandError::bad_input)?);
            log.announce(&wanted, &choice);
            for index in &wanted {
                log.show(*index)?;
            }
            if over {
                break;
            }
            if reader_gone() {
                return Ok(Exit::Done);
            }
            std::thread::sleep(PAUSE);
        }
        for index in &wanted {
            log.show_pending(*index);
        }
        if wanted.is_empty()
            && let Some(step) = &self.step
        {
            return Err(not_run(&store, &row.id, step)?);
        }
        if log.said.is_none() {
            out::note("nothing was printed");
        }
        if self.follow
            && store.run(&row.id)?.is_some_and(|now| now.summary.status == RunStatus::Running)
        {
            out::note(format!("run {id} was cut off; to go on: towpath resume {id}", id = row.id));
        }
        Ok(Exit::Done)
    }
}

/// One effect of a step, and how much of what it printed has been shown.
struct Job {
    /// The number of the fact that started it; its files have it in their names.
    number: u32,
    key: JobKey,
    /// What its tries are counted in: a visit of a state machine's step, or a step of a list.
    unit: String,
    end: Option<JobEnd>,
    shown: [u64; 2],
    transcript: Option<Transcript>,
    /// It has ended, and everything of it was shown.
    complete: bool,
}

impl Job {
    fn new(number: u32, key: JobKey, shape: &Shape) -> Job {
        let unit = shape.without_reruns(&key.step_path());
        let (end, shown) = (None, [0, 0]);
        Job { number, key, unit, end, shown, transcript: None, complete: false }
    }
}

struct Log<'a> {
    /// All that an agent's program printed, in the place of its answer.
    raw: bool,
    store: &'a Store,
    row: &'a RunRow,
    shape: Shape,
    jobs: Vec<Job>,
    /// The last fact that was read.
    seen: u32,
    /// The job that printed last.
    said: Option<usize>,
    /// How wide the terminal is, if stderr is one.
    columns: Option<usize>,
    /// Several steps are shown, so that each needs its name.
    several: bool,
    announced: bool,
}

impl<'a> Log<'a> {
    fn new(store: &'a Store, row: &'a RunRow, raw: bool, columns: Option<usize>) -> Log<'a> {
        // A run whose plan cannot be read any more still has its output.
        let known = recorded(store, &row.id, Limits::default());
        let shape = known.map_or_else(|_| Shape::default(), |known| Shape::of(known.run.program()));
        Log {
            raw,
            store,
            row,
            shape,
            jobs: Vec::new(),
            seen: 0,
            said: None,
            columns,
            several: false,
            announced: false,
        }
    }

    /// Takes the facts that are new.
    fn read(&mut self) -> Result<(), CommandError> {
        for stored in self.store.facts_after(&self.row.id, self.seen)? {
            self.seen = stored.seq;
            let Some(key) = stored.key.as_ref().and_then(|k| k.parse::<JobKey>().ok()) else {
                continue;
            };
            match stored.kind.as_str() {
                "job-started" => {
                    let mut job = Job::new(stored.seq, key, &self.shape);
                    if let Ok(Fact::JobStarted { backend, .. }) = serde_json::from_str(&stored.body)
                        && !self.raw
                    {
                        job.transcript = self.transcript(backend.as_deref());
                    }
                    self.jobs.push(job);
                }
                "job-finished" => {
                    let fact = serde_json::from_str(&stored.body);
                    let job = self.jobs.iter_mut().rev().find(|job| job.key == key);
                    if let (Some(job), Ok(Fact::JobFinished { end, .. })) = (job, fact) {
                        job.end = Some(end);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn transcript(&self, backend: Option<&str>) -> Option<Transcript> {
        Transcript::of(backend, &self.row.directory, self.columns)
    }

    /// Says once what is not shown.
    fn announce(&mut self, wanted: &BTreeSet<usize>, choice: &Choice) {
        let units: BTreeSet<&str> = wanted.iter().map(|i| self.jobs[*i].unit.as_str()).collect();
        self.several = units.len() > 1 || choice.may_grow && self.shape.has_several_steps();
        let Some(last) = wanted.last().filter(|_| units.len() == 1 && !choice.all) else { return };
        let (_, tries) = choice::tries(&self.jobs, *last);
        if tries > 1 && !std::mem::replace(&mut self.announced, true) {
            out::note(format!("try {tries} of {tries}; --all shows every one"));
        }
    }

    /// Shows what is new of a job.
    fn show(&mut self, index: usize) -> Result<(), CommandError> {
        if self.jobs[index].complete {
            return Ok(());
        }
        let end = self.jobs[index].end.clone();
        for stream in [Stream::Stdout, Stream::Stderr] {
            match end {
                Some(_) => self.show_recorded(index, stream)?,
                None => self.show_live(index, stream)?,
            }
        }
        if let Some(end) = end {
            self.show_answer(index, &end);
            self.jobs[index].complete = true;
        }
        Ok(())
    }

    /// An agent's answer, or why there is none; its raw stdout is its program's own.
    fn show_answer(&mut self, index: usize, end: &JobEnd) {
        let job = &mut self.jobs[index];
        if job.key.kind != JobKind::Agent || self.raw {
            return;
        }
        let answer = end.output.text().unwrap_or_default();
        let left = job.transcript.as_mut().map(|transcript| transcript.finish(answer));
        self.say_lines(index, &left.unwrap_or_default());
        if !answer.is_empty() {
            self.say(index, Stream::Stdout, format!("{answer}\n").as_bytes());
        }
        if !end.succeeded() && !end.error.is_empty() {
            self.say(index, Stream::Stderr, format!("{}\n", end.error.trim_end()).as_bytes());
        }
    }

    /// The last message of an agent, of a call that is not waited for.
    fn show_pending(&mut self, index: usize) {
        let pending = self.jobs[index].transcript.as_mut().map(Transcript::release);
        self.say_lines(index, &pending.unwrap_or_default());
    }

    fn show_recorded(&mut self, index: usize, stream: Stream) -> Result<(), CommandError> {
        let key = self.jobs[index].key.to_string();
        let from = self.jobs[index].shown[stream as usize];
        match self.store.output(&self.row.id, &key, stream)? {
            None => {}
            Some(Output::Inline(bytes)) => {
                // A job may cut its own output file short: then there is less than was shown.
                let from = usize::try_from(from).unwrap_or(usize::MAX).min(bytes.len());
                self.pass(index, stream, &bytes[from..]);
                self.jobs[index].shown[stream as usize] = bytes.len() as u64;
            }
            Some(Output::File { path, len }) => {
                let read = copy(&path, from, Some(len), &mut |b| self.pass(index, stream, b));
                let read =
                    read.map_err(|e| CommandError::setup(format!("{}: {e}", path.display())))?;
                self.jobs[index].shown[stream as usize] = from + read;
            }
        }
        Ok(())
    }

    fn show_live(&mut self, index: usize, stream: Stream) -> Result<(), CommandError> {
        let suffix = if stream == Stream::Stdout { "stdout" } else { "stderr" };
        let directory = self.store.run_directory(&self.row.id);
        let path = directory.join(format!("{}.{suffix}", self.jobs[index].number));
        let from = self.jobs[index].shown[stream as usize];
        match copy(&path, from, None, &mut |bytes| self.pass(index, stream, bytes)) {
            Ok(read) => self.jobs[index].shown[stream as usize] = from + read,
            // It has not started yet, or ended just now and its output is in the record.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.read()?;
                if self.jobs[index].end.is_some() {
                    self.show_recorded(index, stream)?;
                }
            }
            Err(error) => return Err(CommandError::setup(format!("{}: {error}", path.display()))),
        }
        Ok(())
    }

    /// Passes on what a job printed: an agent's program as its transcript.
    fn pass(&mut self, index: usize, stream: Stream, bytes: &[u8]) {
        let job = &mut self.jobs[index];
        if self.raw || job.key.kind != JobKind::Agent || stream != Stream::Stdout {
            return self.say(index, stream, bytes);
        }
        let lines = job.transcript.as_mut().map(|transcript| transcript.take(bytes));
        self.say_lines(index, &lines.unwrap_or_default());
    }

    /// Lines about a step: its stdout stays what it printed.
    fn say_lines(&mut self, index: usize, lines: &[String]) {
        for line in lines {
            self.say(index, Stream::Stderr, format!("{line}\n").as_bytes());
        }
    }

    /// Passes bytes on as they are; the name of their step goes before them, on stderr.
    fn say(&mut self, index: usize, stream: Stream, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if self.several && self.said != Some(index) {
            out::note(self.heading(index));
        }
        self.said = Some(index);
        // A hook's output is no step's output.
        match stream {
            Stream::Stdout if !self.jobs[index].key.kind.is_hook() => out::stdout(bytes),
            _ => out::stderr(bytes),
        }
    }

    /// `── code-review#2, try 2 of 3`
    fn heading(&self, index: usize) -> String {
        let key = &self.jobs[index].key;
        let mut text = format!("── {}", clean(key.step_path().as_str()));
        if key.kind.is_hook() {
            return format!("{text}, {}", key.kind.as_str());
        }
        if key.call > 0 {
            text.push_str(", reminder");
        }
        match choice::tries(&self.jobs, index) {
            (_, 1) => text,
            (number, tries) => format!("{text}, try {number} of {tries}"),
        }
    }
}

/// Whether any recipe of the run has a step of this name: it may be in one not yet called.
fn may_come(store: &Store, id: &RunId, step: &str) -> Result<bool, CommandError> {
    let run = recorded(store, id, Limits::default())?.run;
    let last = step.rsplit('/').next().unwrap_or(step);
    let name = last.split('#').next().unwrap_or(last);
    Ok(run.program().recipes.iter().any(|recipe| recipe.step_index(name).is_some()))
}

/// Why a step has no log.
fn not_run(store: &Store, id: &RunId, step: &str) -> Result<CommandError, CommandError> {
    let run = recorded(store, id, Limits::default())?.run;
    match run.find_step(step) {
        Ok(path) => {
            Ok(CommandError::bad_input(format!("{path} has not run: there is no output of it")))
        }
        Err(error) => {
            let mut names = Vec::new();
            collect(&run.view(), &mut names);
            let near = nearest(step, names.iter().map(String::as_str));
            let hint = near.map_or_else(
                || format!("towpath show {id} lists {}", count(names.len(), "step")),
                |near| format!("did you mean `{near}`?"),
            );
            Ok(CommandError::bad_input(format!("{error}; {hint}")))
        }
    }
}

/// The paths of all steps.
pub fn collect(steps: &[StepView], names: &mut Vec<String>) {
    for step in steps {
        names.push(step.path.to_string());
        collect(&step.children, names);
    }
}
