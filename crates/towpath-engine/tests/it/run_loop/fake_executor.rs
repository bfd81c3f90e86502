//! An executor that starts nothing. A test decides, turn by turn, what its jobs do; a turn is one call of
//! `events`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;
use towpath_engine::Controller;
use towpath_executor::{
    EndStatus, Executor, ExecutorError, Finished, JobEvent, JobId, JobSpec, Observer, Responder,
    Waker,
};

type TakeTurn = Box<dyn FnMut(&mut Turn<'_>) -> Result<(), ExecutorError>>;
/// Is called at each call of the executor, with its number and what it is: `start a`.
type Watch = Box<dyn FnMut(usize, &str) -> Result<(), ExecutorError>>;

pub struct FakeExecutor {
    pub responder: Responder,
    /// The run's directory, for outputs.
    pub directory: PathBuf,
    pub controller: Rc<RefCell<Option<Controller>>>,
    /// Every call but `events`, in order.
    pub log: Vec<String>,
    jobs: BTreeMap<JobId, JobSpec>,
    stopped: BTreeSet<JobId>,
    killed: BTreeSet<JobId>,
    turns: usize,
    calls: usize,
    take_turn: TakeTurn,
    watch: Watch,
}

/// What a test sees of one call of `events`.
pub struct Turn<'a> {
    pub number: usize,
    pub until: Instant,
    pub jobs: &'a mut BTreeMap<JobId, JobSpec>,
    pub stopped: &'a BTreeSet<JobId>,
    pub killed: &'a BTreeSet<JobId>,
    pub observer: &'a mut dyn Observer,
    pub controller: Controller,
    directory: &'a PathBuf,
}

impl Turn<'_> {
    /// The job of a step that runs now.
    pub fn job(&self, step: &str) -> Option<JobId> {
        self.jobs.values().find(|job| job.key.step == step).map(|job| job.id)
    }

    /// A file in the run's directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    pub fn finish(&mut self, finished: Finished) {
        self.jobs.remove(&finished.job);
        self.observer.event(JobEvent::Finished(Box::new(finished)));
    }

    pub fn end(&mut self, job: JobId, status: EndStatus) {
        self.finish(Finished::new(job, status));
    }

    /// The job has printed this, and ends well.
    pub fn print(&mut self, job: JobId, text: &str) {
        let finished = Finished::new(job, EndStatus::Exited(0));
        fs::write(self.path(&finished.stdout), text).expect("a file");
        self.finish(finished);
    }

    /// Every job ends: those that were stopped as stopped, the others well.
    pub fn end_all(&mut self) {
        for id in self.jobs.keys().copied().collect::<Vec<_>>() {
            let ended = self.stopped.contains(&id) || self.killed.contains(&id);
            self.end(id, if ended { EndStatus::Stopped } else { EndStatus::Exited(0) });
        }
    }
}

impl FakeExecutor {
    pub fn new(
        take_turn: impl FnMut(&mut Turn<'_>) -> Result<(), ExecutorError> + 'static,
    ) -> FakeExecutor {
        FakeExecutor {
            responder: Responder::Nobody,
            directory: PathBuf::new(),
            controller: Rc::default(),
            log: Vec::new(),
            jobs: BTreeMap::new(),
            stopped: BTreeSet::new(),
            killed: BTreeSet::new(),
            turns: 0,
            calls: 0,
            take_turn: Box::new(take_turn),
            watch: Box::new(|_, _| Ok(())),
        }
    }

    /// Every job ends at the next turn.
    pub fn succeeding() -> FakeExecutor {
        FakeExecutor::new(|turn| {
            turn.end_all();
            Ok(())
        })
    }

    pub fn watch(
        mut self,
        watch: impl FnMut(usize, &str) -> Result<(), ExecutorError> + 'static,
    ) -> FakeExecutor {
        self.watch = Box::new(watch);
        self
    }

    /// The steps whose jobs were started.
    pub fn started(&self) -> Vec<String> {
        let started = |line: &String| line.strip_prefix("start ").map(str::to_owned);
        self.log.iter().filter_map(started).collect()
    }

    fn note(&mut self, call: String) -> Result<(), ExecutorError> {
        let number = self.calls;
        self.calls += 1;
        let watched = (self.watch)(number, &call);
        self.log.push(call);
        watched
    }

    fn step(&self, id: JobId) -> String {
        self.jobs.get(&id).map_or_else(|| format!("?{id}"), |job| job.key.step.clone())
    }
}

impl Executor for FakeExecutor {
    fn responder(&self) -> Responder {
        self.responder
    }

    fn waker(&self) -> Waker {
        Waker::new(|| {})
    }

    fn start(&mut self, job: JobSpec) -> Result<(), ExecutorError> {
        let line = format!("start {}", job.key.step);
        self.jobs.insert(job.id, job);
        self.note(line)
    }

    fn stop(&mut self, job: JobId) -> Result<(), ExecutorError> {
        self.stopped.insert(job);
        self.note(format!("stop {}", self.step(job)))
    }

    fn kill(&mut self, job: JobId) -> Result<(), ExecutorError> {
        self.killed.insert(job);
        self.note(format!("kill {}", self.step(job)))
    }

    fn pause(&mut self) -> Result<(), ExecutorError> {
        self.note("pause".to_owned())
    }

    fn resume(&mut self) -> Result<(), ExecutorError> {
        self.note("resume".to_owned())
    }

    fn events(&mut self, until: Instant, observer: &mut dyn Observer) -> Result<(), ExecutorError> {
        let number = self.calls;
        self.calls += 1;
        (self.watch)(number, "events")?;
        let controller = self.controller.borrow().clone().expect("the run is driven");
        let mut turn = Turn {
            number: self.turns,
            until,
            jobs: &mut self.jobs,
            stopped: &self.stopped,
            killed: &self.killed,
            observer,
            controller,
            directory: &self.directory,
        };
        self.turns += 1;
        (self.take_turn)(&mut turn)
    }

    fn close(&mut self, _: &mut dyn Observer) -> Result<(), ExecutorError> {
        self.note("close".to_owned())
    }
}
