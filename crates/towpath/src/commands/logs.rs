//! `towpath logs`: what steps printed, from the record, or from a job's files while it runs. It
//! only reads, in pieces, and never waits for anything but the run's owner.

mod chosen_jobs;
mod reader_gone;
mod transcript;

use super::Execute;
use crate::environment::{Invocation, local_zone};
use crate::exit::{CommandError, Exit};
use crate::session::find_run::{named_or_latest, open, step_paths};
use crate::session::time_flags::LIMITS;
use crate::terminal::format::{clean, count};
use crate::terminal::out;
use crate::terminal::report::{Shape, Terminals, columns};
use chosen_jobs::Choice;
use reader_gone::reader_gone;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;
use towpath_core::{JobKey, JobKind, RunId, RunStatus, nearest};
use towpath_engine::{CallProgress, JobNews, RunFollower, is_owned, recorded};
use towpath_run::JobEnd;
use towpath_store::{RunRow, Store, Stream};
use towpath_view::ColoursOnly;
use transcript::Transcript;

/// Print what the steps of a run printed: their stdout to stdout, their stderr to stderr.
///
/// An agent's answer counts as its stdout. Before it, on stderr, each tool use and sentence of the
/// agent, as far as its program reports them. Of a state machine every visit is shown; of a step
/// that was attempted several times, the latest attempt.
///
/// Example: towpath logs 7f3k deploy
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run's id, or a unique prefix of it [default: the latest run here]
    pub run: Option<String>,
    /// A step's path, as `towpath show` prints it; STEP#N is one visit of a state machine's step,
    /// STEP every visit. Without it, all steps in the order they ran.
    pub step: Option<String>,
    /// Follow the run until it has ended.
    #[arg(short, long)]
    pub follow: bool,
    /// Print every attempt of a step, not only the latest.
    #[arg(short, long)]
    pub all: bool,
    /// Print the raw output of agents' programs instead of tool uses and the answer.
    #[arg(long)]
    pub raw: bool,
}

const PAUSE: Duration = Duration::from_millis(100);

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let name = self.run.as_deref();
        let store = open(env, name)?;
        let row = named_or_latest(&store, env, name, |_| true, "has a log")?;
        let columns = env.stderr_terminal.then(columns);
        let mut log = Log::new(&store, row.clone(), self.raw, columns);
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
            let over = !self.follow || !is_owned(&store, &row.id);
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
        if log.printer.latest.is_none() {
            out::note("nothing was printed");
        }
        if self.follow
            && store.run(&row.id)?.is_some_and(|now| now.summary.status == RunStatus::Running)
        {
            out::note(format!(
                "run {id} was interrupted; to continue: towpath resume {id}",
                id = row.id
            ));
        }
        Ok(Exit::Done)
    }
}

/// One job of a step, as it is chosen and shown.
struct Job {
    key: JobKey,
    /// What its tries are counted in: a visit of a state machine's step, or a step of a list.
    unit: String,
    transcript: Transcript,
}

impl Job {
    fn new(key: JobKey, shape: &Shape, transcript: Transcript) -> Job {
        let unit = shape.without_reruns(&key.step_path());
        Job { key, unit, transcript }
    }
}

struct Log<'a> {
    /// All that an agent's program printed, instead of its answer.
    raw: bool,
    store: &'a Store,
    follower: RunFollower,
    shape: Shape,
    jobs: Vec<Job>,
    printer: Printer,
    /// How wide the terminal is, if stderr is one.
    columns: Option<usize>,
    announced: bool,
}

/// Where the output of jobs goes, with the name of its step before it where that is needed.
struct Printer {
    /// The job that printed last.
    latest: Option<usize>,
    /// Several steps are shown, so that each needs its name.
    several: bool,
    terminals: Terminals,
    /// What agents write, on its way to a terminal: by job and stream.
    texts: HashMap<(usize, bool), ColoursOnly>,
}

impl<'a> Log<'a> {
    fn new(store: &'a Store, row: RunRow, raw: bool, columns: Option<usize>) -> Log<'a> {
        let follower = RunFollower::new(store, row, local_zone());
        let run = follower.run();
        let shape = run.map_or_else(Shape::default, |run| Shape::of(run.program()));
        let printer = Printer {
            latest: None,
            several: false,
            terminals: Terminals::of_process(),
            texts: HashMap::new(),
        };
        let (jobs, announced) = (Vec::new(), false);
        Log { raw, store, follower, shape, jobs, printer, columns, announced }
    }

    /// Takes the jobs that are new.
    fn read(&mut self) -> Result<(), CommandError> {
        self.follower.update(self.store)?;
        for job in &self.follower.jobs()[self.jobs.len()..] {
            let transcript = Transcript::new(&self.follower.row().directory, self.columns);
            self.jobs.push(Job::new(job.key.clone(), &self.shape, transcript));
        }
        Ok(())
    }

    /// Reports once what is not shown.
    fn announce(&mut self, wanted: &BTreeSet<usize>, choice: &Choice) {
        let units: BTreeSet<&str> = wanted.iter().map(|i| self.jobs[*i].unit.as_str()).collect();
        self.printer.several = units.len() > 1 || choice.may_grow && self.shape.has_several_steps();
        let Some(last) = wanted.last().filter(|_| units.len() == 1 && !choice.all) else { return };
        let (_, tries) = chosen_jobs::tries(&self.jobs, *last);
        if tries > 1 && !std::mem::replace(&mut self.announced, true) {
            out::note(format!("try {tries} of {tries}; --all shows every one"));
        }
    }

    /// Shows what is new of a job.
    fn show(&mut self, index: usize) -> Result<(), CommandError> {
        if self.follower.jobs()[index].is_complete() {
            return Ok(());
        }
        let heading = self.heading(index);
        let (raw, printer) = (self.raw, &mut self.printer);
        let Job { key, transcript, .. } = &mut self.jobs[index];
        let is_agent = key.kind == JobKind::Agent;
        let foreign = is_agent && !raw;
        // A hook's output is no step's output.
        let own = if key.kind.is_hook() { Stream::Stderr } else { Stream::Stdout };
        let mut print = |stream, bytes: &[u8]| match foreign && printer.terminals.has(stream) {
            true => {
                let text = printer.texts.entry((index, stream == Stream::Stdout)).or_default();
                let shown = text.take(bytes);
                printer.print(index, &heading, stream, shown.as_bytes());
            }
            false => printer.print(index, &heading, stream, bytes),
        };
        self.follower.read_job(self.store, index, &mut |news| {
            match news {
                JobNews::Output { stream: Stream::Stdout, .. } if is_agent && !raw => {}
                JobNews::Output { stream: Stream::Stdout, bytes } => print(own, bytes),
                JobNews::Output { stream, bytes } => print(stream, bytes),
                _ if !is_agent || raw => {}
                JobNews::Agent(CallProgress::Doing(what) | CallProgress::Retrying(what)) => {
                    print_lines(&mut print, &transcript.doing(&what));
                }
                JobNews::Agent(CallProgress::Message(text)) => {
                    print_lines(&mut print, &transcript.message(&text));
                }
                JobNews::Agent(_) => {}
                JobNews::Ended(end) => print_answer(&mut print, transcript, end),
            }
            !reader_gone()
        })?;
        Ok(())
    }

    /// The last message of an agent, of a call that is not waited for.
    fn show_pending(&mut self, index: usize) {
        let pending = self.jobs[index].transcript.release();
        let heading = self.heading(index);
        let print = &mut |stream, bytes: &[u8]| self.printer.print(index, &heading, stream, bytes);
        print_lines(print, &pending);
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
        match chosen_jobs::tries(&self.jobs, index) {
            (_, 1) => text,
            (number, tries) => format!("{text}, try {number} of {tries}"),
        }
    }
}

impl Printer {
    /// Passes bytes on as they are; the name of their step goes before them, on stderr.
    fn print(&mut self, index: usize, heading: &str, stream: Stream, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if self.several && self.latest != Some(index) {
            out::note(heading);
        }
        self.latest = Some(index);
        match stream {
            Stream::Stdout => out::stdout(bytes),
            Stream::Stderr => out::stderr(bytes),
        }
    }
}

/// Lines about a step: its stdout stays what it printed.
fn print_lines(print: &mut dyn FnMut(Stream, &[u8]), lines: &[String]) {
    for line in lines {
        print(Stream::Stderr, format!("{line}\n").as_bytes());
    }
}

/// An agent's answer, or why there is none.
fn print_answer(print: &mut dyn FnMut(Stream, &[u8]), transcript: &mut Transcript, end: &JobEnd) {
    let answer = end.output.text().unwrap_or_default();
    print_lines(print, &transcript.finish(answer));
    if !answer.is_empty() {
        print(Stream::Stdout, format!("{answer}\n").as_bytes());
    }
    if !end.succeeded() && !end.error.is_empty() {
        print(Stream::Stderr, format!("{}\n", end.error.trim_end()).as_bytes());
    }
}

/// Whether any recipe of the run has a step of this name: it may be in one not yet called.
fn may_come(store: &Store, id: &RunId, step: &str) -> Result<bool, CommandError> {
    let run = recorded(store, id, LIMITS)?.run;
    let last = step.rsplit('/').next().unwrap_or(step);
    let name = last.split('#').next().unwrap_or(last);
    Ok(run.program().recipes.iter().any(|recipe| recipe.step_index(name).is_some()))
}

/// Why a step has no log.
fn not_run(store: &Store, id: &RunId, step: &str) -> Result<CommandError, CommandError> {
    let run = recorded(store, id, LIMITS)?.run;
    match run.find_step(step) {
        Ok(path) => {
            Ok(CommandError::bad_input(format!("{path} has not run: there is no output of it")))
        }
        Err(error) => {
            let mut names = Vec::new();
            step_paths(&run.view(), &mut names);
            let near = nearest(step, names.iter().map(String::as_str));
            let hint = near.map_or_else(
                || format!("towpath show {id} lists {}", count(names.len(), "step")),
                |near| format!("did you mean `{near}`?"),
            );
            Ok(CommandError::bad_input(format!("{error}; {hint}")))
        }
    }
}
