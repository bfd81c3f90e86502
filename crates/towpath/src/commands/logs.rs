//! `towpath logs`: what steps printed, from the record, or from a job's files while it runs. It
//! only reads, in pieces, and never waits for anything but the run's owner.

mod choice;
mod pour;

use super::resume::find;
use super::show::open;
use crate::exit::{Exit, Stop};
use crate::out;
use crate::surroundings::Surroundings;
use crate::words::count;
use choice::Choice;
use pour::{pour, reader_gone};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;
use towpath_core::{JobKey, JobKind, RunId, nearest};
use towpath_engine::{is_held, recorded};
use towpath_run::{Fact, JobEnd, Limits, StepView};
use towpath_store::{Output, Store, Stream};

/// What the steps of a run printed: their stdout to stdout, their stderr to stderr.
///
/// Of a step that was tried several times, the latest try. An agent's answer counts as its stdout.
///
/// Example: towpath logs 7f3k deploy
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run's id; a unique beginning is enough.
    pub run: String,
    /// A step's path, as `towpath show` prints it. Without it, all steps in the order they ran.
    pub step: Option<String>,
    /// Go on until the run has ended.
    #[arg(short, long)]
    pub follow: bool,
    /// Every try of a step, not only the latest.
    #[arg(short, long)]
    pub all: bool,
    /// Of agents, all that the program printed in the place of its answer.
    #[arg(long)]
    pub raw: bool,
}

const PAUSE: Duration = Duration::from_millis(100);

pub fn execute(args: &Args) -> Result<Exit, Stop> {
    let around = Surroundings::read()?;
    let store = open(&around, &args.run)?;
    let row = find(&store, &args.run)?;
    let mut log = Log::new(&store, &row.id, args.raw);
    log.read()?;
    let choice = Choice::new(args.step.as_deref(), args.all);
    let mut wanted: BTreeSet<usize> = BTreeSet::new();
    if let Some(step) = args.step.as_ref().filter(|_| args.follow)
        && !may_come(&store, &row.id, step)?
    {
        return Err(not_run(&store, &row.id, step)?);
    }
    loop {
        // Asked first: whatever a gone owner has recorded is then read below.
        let over = !args.follow || !is_held(&store, &row.id);
        log.read()?;
        wanted.extend(choice.of(&log.jobs).map_err(Stop::bad_input)?);
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
    if wanted.is_empty()
        && let Some(step) = &args.step
    {
        return Err(not_run(&store, &row.id, step)?);
    }
    if log.said.is_none() {
        out::note("nothing was printed");
    }
    if args.follow && store.run(&row.id)?.is_some_and(|now| now.summary.status == "running") {
        out::note(format!("run {id} was cut off; to go on: towpath resume {id}", id = row.id));
    }
    Ok(Exit::Done)
}

/// One effect of a step, and how much of what it printed has been shown.
#[derive(Debug)]
struct Job {
    /// The number of the fact that started it; its files have it in their names.
    number: u32,
    key: JobKey,
    end: Option<JobEnd>,
    shown: [u64; 2],
}

struct Log<'a> {
    /// All that an agent's program printed, in the place of its answer.
    raw: bool,
    store: &'a Store,
    run: &'a RunId,
    directory: PathBuf,
    jobs: Vec<Job>,
    /// The last fact that was read.
    seen: u32,
    /// The job that printed last.
    said: Option<usize>,
    /// Several steps are shown, so that each needs its name.
    several: bool,
    announced: bool,
}

impl<'a> Log<'a> {
    fn new(store: &'a Store, run: &'a RunId, raw: bool) -> Log<'a> {
        Log {
            raw,
            store,
            run,
            directory: store.run_directory(run),
            jobs: Vec::new(),
            seen: 0,
            said: None,
            several: false,
            announced: false,
        }
    }

    /// Takes the facts that are new.
    fn read(&mut self) -> Result<(), Stop> {
        for stored in self.store.facts_after(self.run, self.seen)? {
            self.seen = stored.seq;
            let Some(key) = stored.key.as_ref().and_then(|k| k.parse::<JobKey>().ok()) else {
                continue;
            };
            match stored.kind.as_str() {
                "job-started" => {
                    self.jobs.push(Job { number: stored.seq, key, end: None, shown: [0, 0] });
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

    /// Says once what is not shown.
    fn announce(&mut self, wanted: &BTreeSet<usize>, choice: &Choice) {
        let steps: BTreeSet<String> = wanted.iter().map(|i| choice::bare(&self.jobs[*i])).collect();
        self.several = steps.len() > 1;
        if self.announced || steps.len() != 1 || choice.all {
            return;
        }
        self.announced = true;
        let tries = choice::tries(&self.jobs, &steps);
        if tries > 1 {
            out::note(format!("try {tries} of {tries}; --all shows every one"));
        }
    }

    /// Shows what is new of a job.
    fn show(&mut self, index: usize) -> Result<(), Stop> {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let job = &self.jobs[index];
            let agent = job.key.kind == JobKind::Agent && stream == Stream::Stdout && !self.raw;
            match (&job.end, agent) {
                (Some(_), true) => self.show_answer(index),
                (None, true) => {}
                (Some(_), false) => self.show_recorded(index, stream)?,
                (None, false) => self.show_live(index, stream)?,
            }
        }
        Ok(())
    }

    /// An agent's answer; its raw stdout is its program's own talk.
    fn show_answer(&mut self, index: usize) {
        let job = &self.jobs[index];
        if job.shown[0] > 0 {
            return;
        }
        let Some(end) = job.end.clone() else { return };
        if let Some(text) = end.output.text().filter(|text| !text.is_empty()) {
            self.say(index, Stream::Stdout, format!("{}\n", text).as_bytes());
        }
        if !end.succeeded() && !end.error.is_empty() {
            self.say(index, Stream::Stderr, format!("{}\n", end.error.trim_end()).as_bytes());
        }
        self.jobs[index].shown[0] = 1;
    }

    fn show_recorded(&mut self, index: usize, stream: Stream) -> Result<(), Stop> {
        let key = self.jobs[index].key.to_string();
        let from = self.jobs[index].shown[stream as usize];
        match self.store.output(self.run, &key, stream)? {
            None => {}
            Some(Output::Inline(bytes)) => {
                // A job may cut its own output file short: then there is less than was shown.
                let from = usize::try_from(from).unwrap_or(usize::MAX).min(bytes.len());
                self.say(index, stream, &bytes[from..]);
                self.jobs[index].shown[stream as usize] = bytes.len() as u64;
            }
            Some(Output::File { path, len }) => {
                let read = pour(&path, from, Some(len), &mut |b| self.say(index, stream, b));
                let read = read.map_err(|e| Stop::setup(format!("{}: {e}", path.display())))?;
                self.jobs[index].shown[stream as usize] = from + read;
            }
        }
        Ok(())
    }

    fn show_live(&mut self, index: usize, stream: Stream) -> Result<(), Stop> {
        let suffix = if stream == Stream::Stdout { "stdout" } else { "stderr" };
        let path = self.directory.join(format!("{}.{suffix}", self.jobs[index].number));
        let from = self.jobs[index].shown[stream as usize];
        match pour(&path, from, None, &mut |bytes| self.say(index, stream, bytes)) {
            Ok(read) => self.jobs[index].shown[stream as usize] = from + read,
            // It has not started yet, or ended just now and its output is in the record.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.read()?;
                if self.jobs[index].end.is_some() {
                    self.show_recorded(index, stream)?;
                }
            }
            Err(error) => return Err(Stop::setup(format!("{}: {error}", path.display()))),
        }
        Ok(())
    }

    /// Passes bytes on as they are; the name of their step goes before them, on stderr.
    fn say(&mut self, index: usize, stream: Stream, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let key = &self.jobs[index].key;
        let hook = key.kind.is_hook();
        if self.several && self.said != Some(index) {
            let what = if hook { format!(", {}", key.kind.as_str()) } else { String::new() };
            out::note(format!("── {}{what}", key.step_path()));
        }
        self.said = Some(index);
        // A hook's output is no step's output.
        match stream {
            Stream::Stdout if !hook => out::stdout(bytes),
            _ => out::stderr(bytes),
        }
    }
}

/// Whether any recipe of the run has a step of this name: it may be in one not yet called.
fn may_come(store: &Store, id: &RunId, step: &str) -> Result<bool, Stop> {
    let run = recorded(store, id, Limits::default())?.run;
    let last = step.rsplit('/').next().unwrap_or(step);
    let name = last.split('#').next().unwrap_or(last);
    Ok(run.program().recipes.iter().any(|recipe| recipe.step_index(name).is_some()))
}

/// Why a step has no log.
fn not_run(store: &Store, id: &RunId, step: &str) -> Result<Stop, Stop> {
    let run = recorded(store, id, Limits::default())?.run;
    match run.find_step(step) {
        Ok(path) => Ok(Stop::bad_input(format!("{path} has not run: there is no output of it"))),
        Err(error) => {
            let mut names = Vec::new();
            collect(&run.view(), &mut names);
            let near = nearest(step, names.iter().map(String::as_str));
            let hint = near.map_or_else(
                || format!("towpath show {id} lists {}", count(names.len(), "step")),
                |near| format!("did you mean `{near}`?"),
            );
            Ok(Stop::bad_input(format!("{error}; {hint}")))
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
