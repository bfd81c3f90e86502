//! The outputs of all jobs, and of what they left in the background, in the order in which they are
//! served. One turn takes a bounded time, so that no flood keeps the warden from a command, a child
//! or a deadline; whoever was not served is first in the next.

use crate::os;
use crate::output::{Flow, Output};
use crate::warden_event::Lost;
use rustix::event::{PollFd, PollFlags};
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

/// Files that the start of a job needs, and those that a warden always has.
const RESERVE: usize = 24;
const BUFFER: usize = 64 << 10;
/// What one output may move before the next one's turn.
const SHARE: usize = 1 << 20;
/// How long the outputs together may keep the loop from other work.
const TURN: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct OutputPumps {
    queue: VecDeque<Pump>,
    /// What could not be kept, of jobs whose end is not reported yet.
    lost: BTreeMap<u64, Lost>,
    buffer: Vec<u8>,
    /// How many files this process may have open.
    file_limit: usize,
}

#[derive(Debug)]
struct Pump {
    /// `None`: the job's end is reported; what comes now is of its background children.
    job: Option<u64>,
    output: Output,
    ready: bool,
}

impl OutputPumps {
    pub fn new() -> OutputPumps {
        let (queue, lost) = (VecDeque::new(), BTreeMap::new());
        OutputPumps { queue, lost, buffer: vec![0; BUFFER], file_limit: os::file_limit() }
    }

    /// Whether there are open files for one more job: each output needs a pipe and, when something
    /// is printed, a file.
    pub fn have_room(&self) -> bool {
        2 * self.queue.len() + RESERVE < self.file_limit
    }

    pub fn add(&mut self, job: u64, outputs: Vec<Output>) {
        let pump = |output| Pump { job: Some(job), output, ready: false };
        self.queue.extend(outputs.into_iter().map(pump));
    }

    pub fn poll_fds(&self) -> impl Iterator<Item = PollFd<'_>> {
        self.queue.iter().map(|pump| PollFd::new(&pump.output, PollFlags::IN))
    }

    /// Which have something, in the order of `poll_fds`.
    pub fn mark(&mut self, ready: impl Iterator<Item = bool>) {
        for (pump, ready) in self.queue.iter_mut().zip(ready) {
            pump.ready = ready;
        }
    }

    pub fn turn(&mut self) {
        if !self.queue.iter().any(|pump| pump.ready) {
            return;
        }
        let until = Instant::now() + TURN;
        for _ in 0..self.queue.len() {
            let Some(mut pump) = self.queue.pop_front() else { return };
            let served = std::mem::take(&mut pump.ready);
            let flow = if served { pump.output.pump(SHARE, &mut self.buffer) } else { Flow::Open };
            note(&mut self.lost, &pump);
            if flow == Flow::Open {
                self.queue.push_back(pump);
            }
            if served && Instant::now() >= until {
                return;
            }
        }
    }

    /// For the end of a job: moves what it has written, and returns what of it was lost.
    pub fn settle(&mut self, job: u64) -> Option<Lost> {
        let OutputPumps { queue, lost, buffer, .. } = self;
        queue.retain_mut(|pump| {
            if pump.job != Some(job) {
                return true;
            }
            let flow = pump.output.drain(buffer);
            note(lost, pump);
            pump.job = None;
            flow == Flow::Open
        });
        lost.remove(&job)
    }

    /// For the end of everything.
    pub fn drain(&mut self) {
        let buffer = &mut self.buffer;
        self.queue.retain_mut(|pump| pump.output.drain(buffer) == Flow::Open);
    }
}

/// At once, because an output that is closed is forgotten before its job has ended.
fn note(lost: &mut BTreeMap<u64, Lost>, pump: &Pump) {
    if let (Some(job), Some(new)) = (pump.job, pump.output.lost()) {
        lost.entry(job).or_insert(new);
    }
}
