//! The warden's own side: one thread that waits for the engine's commands, for its children, for what
//! they print and for deadlines, and never for anything else. It starts jobs, moves their output
//! into their files, reports how they end, and ends them. When the engine is gone, however it went, it
//! kills everything and exits. It decides nothing: which
//! job, which timeout, which order are the engine's.

mod job;
mod lifecycle;
mod outbox;
mod output_pumps;
mod sweep;

pub(crate) use lifecycle::be_the_warden;
pub use lifecycle::{run_warden_from_fd, warden_main};

use crate::child_spec::ChildSpec;
use crate::end_orphans::{end_children, exit_status};
use crate::os::{self, ProcessKey, Signals};
use crate::process_marker::Marker;
use crate::process_search::{ProcessSearch, SearchScope};
use crate::terminal_text::TerminalText;
use crate::warden_event::{Event, ExitStatus};
use crate::warden_protocol::{Answer, Command, Frames};
use job::Job;
use outbox::Outbox;
use output_pumps::OutputPumps;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use rustix::process::{WaitOptions, wait};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::os::fd::{OwnedFd, RawFd};
use std::time::{Duration, Instant};
use sweep::Sweep;
use towpath_core::Secrets;

/// Where a living warden has its end of the socket.
pub(crate) const SOCKET_FD: RawFd = 3;
/// Where a living warden has the run's lock, if there is one.
pub(crate) const LOCK_FD: RawFd = 4;

/// How long to keep killing what hangs in the kernel, when the engine is gone or the run ends.
const LAST_PATIENCE: Duration = Duration::from_secs(3);
/// When someone asks the warden itself to end.
const TERM_GRACE: Duration = Duration::from_secs(1);
/// How often an ending job is looked at when no child of the warden reports anything.
const TICK: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(crate) struct WardenProcess {
    socket: OwnedFd,
    signals: Signals,
    /// Readable when the engine's process is gone.
    engine: Option<OwnedFd>,
    marker: Marker,
    /// Masked in all that is kept or reported.
    secrets: Secrets,
    /// Written when the engine is gone.
    last_text: Option<TerminalText>,
    inbox: Frames,
    outbox: Outbox,
    jobs: BTreeMap<u64, Job>,
    /// Jobs that wait until the system has room for them.
    waiting: VecDeque<ChildSpec>,
    pumps: OutputPumps,
    /// Adopted children that were looked at when an earlier job ended.
    background: HashSet<i32>,
    /// Something of a job that has ended may live.
    earlier: bool,
    /// What `PauseAll` has stopped.
    paused: Option<Vec<ProcessKey>>,
    sweep: Option<Sweep>,
    buffer: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Continue,
    /// The engine is gone: everything ends at once.
    Abandon,
    /// Everything has ended and been reported.
    Leave,
}

impl WardenProcess {
    fn new(
        socket: OwnedFd,
        signals: Signals,
        engine: Option<OwnedFd>,
        marker: Marker,
    ) -> WardenProcess {
        WardenProcess {
            socket,
            signals,
            engine,
            marker,
            secrets: Secrets::default(),
            last_text: None,
            inbox: Frames::default(),
            outbox: Outbox::default(),
            jobs: BTreeMap::new(),
            waiting: VecDeque::new(),
            pumps: OutputPumps::new(),
            background: HashSet::new(),
            earlier: false,
            paused: None,
            sweep: None,
            buffer: vec![0; 64 << 10],
        }
    }

    fn run(&mut self) {
        loop {
            match self.turn() {
                Next::Continue => {}
                Next::Abandon => {
                    self.last_text.iter().for_each(TerminalText::write);
                    end_everything(&self.marker, &self.secrets);
                    return self.pumps.drain();
                }
                Next::Leave => return self.outbox.drain(&self.socket),
            }
        }
    }

    fn turn(&mut self) -> Next {
        let seen = self.wait();
        if seen.engine_gone {
            return Next::Abandon;
        }
        if seen.signals && self.signals.drain() {
            self.begin_sweep(TERM_GRACE);
        }
        self.reap();
        if seen.words && !self.listen() {
            return Next::Abandon;
        }
        self.pumps.turn();
        let now = Instant::now();
        self.advance_jobs(now);
        self.start_waiting();
        let done = self.advance_sweep(now);
        self.outbox.flush(&self.socket);
        if done { Next::Leave } else { Next::Continue }
    }

    fn wait(&mut self) -> Seen {
        let mut words = PollFlags::IN | PollFlags::RDHUP;
        if !self.outbox.is_empty() {
            words |= PollFlags::OUT;
        }
        let mut files =
            vec![PollFd::new(&self.socket, words), PollFd::new(&self.signals, PollFlags::IN)];
        files.extend(self.engine.as_ref().map(|engine| PollFd::new(engine, PollFlags::IN)));
        let first_output = files.len();
        files.extend(self.pumps.poll_fds());
        let timeout = self.next_deadline().map(|at| {
            let left = at.saturating_duration_since(Instant::now());
            Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) }
        });
        // An interrupted wait sees nothing and comes again.
        let _ = poll(&mut files, timeout.as_ref());
        let over = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
        let has = |file: &PollFd<'_>| !file.revents().is_empty();
        let seen = Seen {
            engine_gone: files[0].revents().intersects(over)
                || files[2..first_output].iter().any(has),
            words: files[0].revents().contains(PollFlags::IN),
            signals: has(&files[1]),
        };
        let ready: Vec<bool> = files[first_output..].iter().map(has).collect();
        self.pumps.mark(ready.into_iter());
        seen
    }

    fn next_deadline(&self) -> Option<Instant> {
        let jobs = self.jobs.values().filter_map(Job::deadline);
        jobs.chain(self.sweep.as_ref().map(Sweep::deadline)).min()
    }

    /// Reads and obeys; false when the engine cannot be understood or heard any more.
    fn listen(&mut self) -> bool {
        let got = rustix::net::recv(&self.socket, &mut self.buffer[..], RecvFlags::DONTWAIT);
        match got {
            Ok((0, _)) => return false,
            Ok((length, _)) => self.inbox.push(&self.buffer[..length]),
            Err(Errno::AGAIN | Errno::INTR) => return true,
            Err(_) => return false,
        }
        loop {
            match self.inbox.next::<Command>() {
                Ok(Some(command)) => self.obey(command),
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Hello { .. } => self.outbox.push(&Answer::Ready),
            Command::Hide { secrets } => self.secrets = secrets.into(),
            Command::WriteWhenGone(text) => self.last_text = Some(text),
            Command::Start(spec) => self.start((*spec).into()),
            Command::Stop { id, grace_ms } => self.stop(id, Duration::from_millis(grace_ms)),
            Command::PauseAll => self.pause(),
            Command::ContinueAll => self.resume(),
            Command::Sweep { grace_ms } => self.begin_sweep(Duration::from_millis(grace_ms)),
        }
        self.outbox.flush(&self.socket);
    }

    fn report(&mut self, event: Event) {
        self.outbox.push(&Answer::Event(event));
    }

    /// True when no child is left.
    fn reap(&mut self) -> bool {
        let mut exits = Vec::new();
        let alone = take_exits(&mut exits);
        self.earlier &= !alone;
        for (pid, status) in exits {
            self.background.remove(&pid);
            self.on_exit(pid, status, alone);
        }
        alone
    }

    fn pause(&mut self) {
        let mut search = ProcessSearch::new(SearchScope::Run(&self.marker));
        let stopped = search.living().into_iter().filter(os::Process::is_stopped);
        // What a job has stopped by itself stays stopped when we continue.
        let theirs: HashSet<ProcessKey> = stopped.map(|p| p.key).collect();
        let frozen = search.freeze().into_iter().filter(|key| !theirs.contains(key));
        self.paused.get_or_insert_default().extend(frozen);
    }

    fn resume(&mut self) {
        for key in self.paused.take().unwrap_or_default() {
            os::signal(key, rustix::process::Signal::CONT);
        }
    }
}

#[derive(Debug)]
struct Seen {
    engine_gone: bool,
    words: bool,
    signals: bool,
}

/// Reaps every dead child; true when no child is left.
fn take_exits(exits: &mut Vec<(i32, ExitStatus)>) -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => {
                exits.push((pid.as_raw_nonzero().get(), exit_status(status)));
            }
            Err(Errno::INTR) => {}
            ended => return ended.is_err_and(|errno| errno == Errno::CHILD),
        }
    }
}

/// Kills all there is, without grace: first every child, then what only its marker shows.
fn end_everything(marker: &Marker, secrets: &Secrets) {
    let until = Instant::now() + LAST_PATIENCE;
    end_children(&HashSet::new(), until, secrets);
    let mut reap = || {
        take_exits(&mut Vec::new());
    };
    ProcessSearch::new(SearchScope::Run(marker)).kill(until, &mut reap);
}
