//! The engine's handle on its warden: commands go in by `Warden`, events come out of `WardenEvents`,
//! each usable from its own thread. Dropping the `Warden` ends everything at once; an orderly end is
//! `sweep`, awaited as `Event::Swept`. A warden that a job has stopped is continued with every command,
//! and while its events are awaited and it is silent; one that does not do what it was asked to in time
//! is killed, and its jobs with it.

use crate::child_spec::{ChildSpec, WireSpec};
use crate::error::ProcessError;
use crate::os;
use crate::process_marker::Marker;
use crate::terminal_text::TerminalText;
use crate::warden_event::Event;
use crate::warden_process;
use crate::warden_protocol::{Answer, Command, Frames, MAX_FRAME, encode};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketFlags, SocketType, recv, send, shutdown,
    socketpair,
};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, pidfd_send_signal, waitpid,
};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use towpath_core::Secrets;

/// A thread that has returned, or a process that was killed, is gone by then.
const ENDED_WITHIN: Duration = Duration::from_millis(500);
/// How long an executed program may take to become a warden.
const READY_WITHIN: Duration = Duration::from_secs(10);
/// A warden that is silent for this long is continued, in case it was stopped.
const SILENCE: Duration = Duration::from_millis(100);
/// What a warden may take, beside the grace, to end what it was asked to end.
const PATIENCE: Duration = Duration::from_secs(15);
/// A grace that no clock can count is this.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

#[derive(Debug)]
pub struct Warden {
    socket: Arc<OwnedFd>,
    /// Keeps the frames of two threads apart.
    turn: Mutex<()>,
    process: Arc<Child>,
}

/// The warden's process, and what it owes.
#[derive(Debug)]
struct Child {
    pid: Pid,
    /// Signals sent by it cannot hit another process of the same number.
    handle: Option<OwnedFd>,
    due: Mutex<Due>,
}

/// Until when the warden has to have ended what it was asked to end.
#[derive(Debug, Default)]
struct Due {
    /// The jobs whose end is not reported yet; none where nobody has asked for it.
    jobs: BTreeMap<u64, Option<Instant>>,
    all: Option<Instant>,
}

impl Due {
    /// A job whose end is reported already owes nothing.
    fn end_job(&mut self, id: u64, at: Instant) {
        if let Some(due) = self.jobs.get_mut(&id) {
            *due = Some(due.map_or(at, |earlier| earlier.min(at)));
        }
    }

    fn take(&mut self, event: &Event) {
        if let Event::Ended { id, .. } | Event::StartFailed { id, .. } = event {
            self.jobs.remove(id);
        }
    }

    fn is_over(&self, now: Instant) -> bool {
        self.jobs.values().flatten().chain(&self.all).any(|at| *at <= now)
    }
}

impl Child {
    fn new(pid: Pid) -> Child {
        let handle = pidfd_open(pid, PidfdFlags::empty()).ok();
        Child { pid, handle, due: Mutex::default() }
    }

    fn signal(&self, signal: Signal) {
        let _ = match &self.handle {
            Some(handle) => pidfd_send_signal(handle, signal),
            None => kill_process(self.pid, signal),
        };
    }

    fn due(&self) -> MutexGuard<'_, Due> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_late(&self) -> bool {
        self.due().is_over(Instant::now())
    }
}

#[derive(Debug)]
pub struct WardenEvents {
    socket: Arc<OwnedFd>,
    frames: Frames,
    process: Arc<Child>,
    /// Readable when a wait has to end.
    wake: Arc<OwnedFd>,
    buffer: Vec<u8>,
    /// Since when nothing has come, or when it was last continued.
    silent_since: Instant,
    /// The other end of the socket is closed, or cannot be understood.
    gone: bool,
    reaped: bool,
}

/// What a wait for an event has come to.
#[derive(Debug)]
pub enum Awaited {
    Event(Event),
    /// The time is over, or an `EventWaker` was used.
    Nothing,
    /// The warden is gone, and its process is reaped.
    Gone,
}

/// Ends a wait for an event, from any thread. Without a wait it ends the next one.
#[derive(Debug, Clone)]
pub struct EventWaker(Arc<OwnedFd>);

impl EventWaker {
    pub fn wake(&self) {
        // A counter that is full has woken the wait already.
        let _ = rustix::io::write(&*self.0, &1_u64.to_ne_bytes());
    }
}

/// What a wait for an answer has come to.
enum Heard {
    Answer(Answer),
    Nothing,
    Gone,
}

/// The system still lists a thread for a moment after it was joined.
fn require_one_thread() -> Result<(), ProcessError> {
    let until = Instant::now() + ENDED_WITHIN;
    loop {
        let count = os::thread_count()
            .map_err(|source| ProcessError::System { doing: "cannot count threads", source })?;
        match count {
            1 => return Ok(()),
            _ if Instant::now() >= until => return Err(ProcessError::Threads { count }),
            _ => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

impl Warden {
    /// Forks the warden from this process, which must not have started a thread yet. `lock`: a file
    /// whose `flock` the warden shall hold too; no job gets it. Raises this process's limit of open
    /// files; jobs get the one that it had.
    pub fn fork(
        lock: Option<BorrowedFd<'_>>,
        marker: &Marker,
    ) -> Result<(Warden, WardenEvents), ProcessError> {
        require_one_thread()?;
        os::raise_file_limit();
        let (ours, theirs) = pair()?;
        match os::fork().map_err(ProcessError::system("cannot fork the warden"))? {
            None => warden_process::be_the_warden(theirs.as_fd(), lock, marker),
            Some(pid) => handles(ours, pid),
        }
    }

    /// Starts `program`, which calls `run_warden_from_fd`, as the warden. For a process that has
    /// threads.
    pub fn spawn(
        program: &Path,
        arguments: &[OsString],
        lock: Option<BorrowedFd<'_>>,
        marker: &Marker,
    ) -> Result<(Warden, WardenEvents), ProcessError> {
        let (ours, theirs) = pair()?;
        let child = execute(program, arguments, theirs, lock).map_err(|source| {
            ProcessError::System { doing: "cannot start the warden's program", source }
        })?;
        let (warden, mut events) = handles(ours, child)?;
        // If nobody hears this, nobody answers.
        let _ = warden.send(&Command::Hello { marker: marker.clone(), lock: lock.is_some() });
        match events.answer(Some(Instant::now() + READY_WITHIN)) {
            Heard::Answer(Answer::Ready) => Ok((warden, events)),
            _ => {
                let _ = kill_process(child, Signal::KILL);
                let _ = waitpid(Some(child), WaitOptions::empty());
                Err(ProcessError::NotAWarden { program: program.to_owned() })
            }
        }
    }

    /// The warden's own process.
    pub fn pid(&self) -> u32 {
        self.process.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Masks these in the output files of jobs that start from now on, and in what is reported of their
    /// processes. Before the first `start`; the warden keeps them in memory alone.
    pub fn hide(&self, secrets: &Secrets) -> Result<(), ProcessError> {
        if secrets.is_empty() {
            return Ok(());
        }
        self.send(&Command::Hide { secrets: secrets.into() })
    }

    /// Has this written to a terminal if this process is gone before the run has ended in order.
    pub fn write_when_gone(&self, text: &TerminalText) -> Result<(), ProcessError> {
        self.send(&Command::WriteWhenGone(text.clone()))
    }

    /// Answered by `Event::StartFailed`, or by `Event::Started` where the job's `report_start` asks for
    /// it. While paused, a new job is stopped as soon as it has started.
    pub fn start(&self, spec: &ChildSpec) -> Result<(), ProcessError> {
        self.process.due().jobs.entry(spec.id).or_default();
        self.send(&Command::Start(Box::new(WireSpec::from(spec))))
    }

    /// `TERM` to the job's process group; after `grace` `KILL` to all that came of it. `Ended`
    /// follows when nothing of it lives. A second call can only shorten the grace. A job that has
    /// ended meanwhile is no error.
    pub fn stop(&self, id: u64, grace: Duration) -> Result<(), ProcessError> {
        let at = Instant::now() + grace.min(LONGEST) + PATIENCE;
        self.process.due().end_job(id, at);
        self.send(&Command::Stop { id, grace_ms: milliseconds(grace) })
    }

    /// `KILL`, at once, to all that came of the job.
    pub fn kill_now(&self, id: u64) -> Result<(), ProcessError> {
        self.stop(id, Duration::ZERO)
    }

    /// Stops every process of every job where it is.
    pub fn pause_all(&self) -> Result<(), ProcessError> {
        self.send(&Command::PauseAll)
    }

    pub fn continue_all(&self) -> Result<(), ProcessError> {
        self.send(&Command::ContinueAll)
    }

    /// Ends everything that still lives, background children included: `TERM`, after `grace`
    /// `KILL`. Each job that still ran is reported as `Ended`, then comes `Event::Swept`, and the warden
    /// exits.
    pub fn sweep(&self, grace: Duration) -> Result<(), ProcessError> {
        self.process.due().all = Some(Instant::now() + grace.min(LONGEST) + PATIENCE);
        self.send(&Command::Sweep { grace_ms: milliseconds(grace) })
    }

    /// Ends everything at once, as the drop does.
    pub fn close(&self) {
        self.process.due().all.get_or_insert(Instant::now() + PATIENCE);
        // The events have the socket too; the warden must see the end all the same.
        let _ = shutdown(&*self.socket, Shutdown::Write);
        self.process.signal(Signal::CONT);
    }

    fn send(&self, command: &Command) -> Result<(), ProcessError> {
        let frame = encode(command);
        if frame.len() > MAX_FRAME {
            return Err(ProcessError::SpecTooLarge { bytes: frame.len() });
        }
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rest = &frame[..];
        while !rest.is_empty() {
            match send(&*self.socket, rest, SendFlags::NOSIGNAL) {
                Ok(sent) => rest = &rest[sent..],
                Err(Errno::INTR) => {}
                Err(_) => return Err(ProcessError::WardenGone),
            }
        }
        self.process.signal(Signal::CONT);
        Ok(())
    }
}

impl Drop for Warden {
    fn drop(&mut self) {
        self.close();
    }
}

impl WardenEvents {
    /// Waits for the next event. `None`: the warden is gone, and its process is reaped.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Event> {
        loop {
            match self.event(None) {
                Awaited::Event(event) => return Some(event),
                Awaited::Nothing => {}
                Awaited::Gone => return None,
            }
        }
    }

    /// Waits for the next event, until that time or until it is woken.
    pub fn next_before(&mut self, until: Instant) -> Awaited {
        self.event(Some(until))
    }

    /// An event that came together with the last one.
    pub fn next_received(&mut self) -> Option<Event> {
        loop {
            match self.frames.next() {
                Ok(Some(Answer::Event(event))) => return Some(self.taken(event)),
                Ok(Some(Answer::Ready)) => {}
                Ok(None) => return None,
                Err(_) => {
                    self.gone = true;
                    return None;
                }
            }
        }
    }

    pub fn waker(&self) -> EventWaker {
        EventWaker(Arc::clone(&self.wake))
    }

    fn event(&mut self, until: Option<Instant>) -> Awaited {
        loop {
            match self.answer(until) {
                Heard::Answer(Answer::Event(event)) => return Awaited::Event(self.taken(event)),
                Heard::Answer(Answer::Ready) => {}
                Heard::Nothing => return Awaited::Nothing,
                Heard::Gone => {
                    self.reap();
                    return Awaited::Gone;
                }
            }
        }
    }

    fn taken(&self, event: Event) -> Event {
        self.process.due().take(&event);
        event
    }

    fn reap(&mut self) {
        if !std::mem::replace(&mut self.reaped, true) {
            // The socket's other end closes with the process: this does not wait long. Only a tracer
            // keeps a dead process for itself, for as long as it likes.
            let end = Instant::now() + ENDED_WITHIN;
            while let Ok(None) = waitpid(Some(self.process.pid), WaitOptions::NOHANG)
                && Instant::now() < end
            {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    fn answer(&mut self, until: Option<Instant>) -> Heard {
        loop {
            match self.frames.next() {
                Ok(Some(answer)) => return Heard::Answer(answer),
                Ok(None) if !self.gone => {}
                _ => {
                    self.gone = true;
                    return Heard::Gone;
                }
            }
            if !self.receive(until) {
                return Heard::Nothing;
            }
        }
    }

    /// False: the time is over, or the wait was ended.
    fn receive(&mut self, until: Option<Instant>) -> bool {
        let now = Instant::now();
        let silence = SILENCE.saturating_sub(now.saturating_duration_since(self.silent_since));
        let left = until.map_or(silence, |until| until.saturating_duration_since(now).min(silence));
        let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        let mut files =
            [PollFd::new(&*self.socket, PollFlags::IN), PollFd::new(&*self.wake, PollFlags::IN)];
        let found = poll(&mut files, Some(&left));
        let [readable, woken] = files.map(|file| !file.revents().is_empty());
        if readable {
            self.read();
            return true;
        }
        if woken {
            let _ = rustix::io::read(&*self.wake, &mut [0_u8; 8]);
            return false;
        }
        if found == Ok(0) && self.silent_since.elapsed() >= SILENCE {
            self.silent_since = Instant::now();
            self.process.signal(if self.process.is_late() { Signal::KILL } else { Signal::CONT });
        }
        until.is_none_or(|until| Instant::now() < until)
    }

    fn read(&mut self) {
        self.silent_since = Instant::now();
        match recv(&*self.socket, &mut self.buffer[..], RecvFlags::DONTWAIT) {
            Ok((0, _)) => self.gone = true,
            Ok((length, _)) => self.frames.push(&self.buffer[..length]),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => self.gone = true,
        }
    }
}

fn pair() -> Result<(OwnedFd, OwnedFd), ProcessError> {
    socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
        .map_err(ProcessError::system("cannot make the warden's socket"))
}

fn handles(socket: OwnedFd, pid: Pid) -> Result<(Warden, WardenEvents), ProcessError> {
    let (socket, process) = (Arc::new(socket), Arc::new(Child::new(pid)));
    let events = |wake| WardenEvents {
        socket: Arc::clone(&socket),
        frames: Frames::default(),
        process: Arc::clone(&process),
        wake: Arc::new(wake),
        buffer: vec![0; 16 << 10],
        silent_since: Instant::now(),
        gone: false,
        reaped: false,
    };
    match os::wake_file() {
        Ok(wake) => {
            let events = events(wake);
            Ok((Warden { socket, turn: Mutex::new(()), process }, events))
        }
        // It has no job yet.
        Err(errno) => {
            process.signal(Signal::KILL);
            let _ = waitpid(Some(pid), WaitOptions::empty());
            Err(ProcessError::system("cannot make a file to be woken by")(errno))
        }
    }
}

/// The socket travels as the program's stdin, the lock as its stdout.
fn execute(
    program: &Path,
    arguments: &[OsString],
    socket: OwnedFd,
    lock: Option<BorrowedFd<'_>>,
) -> io::Result<Pid> {
    let lock = lock.map(|lock| lock.try_clone_to_owned()).transpose()?;
    let child = std::process::Command::new(program)
        .args(arguments)
        .stdin(socket)
        .stdout(lock.map_or_else(Stdio::null, Stdio::from))
        .stderr(Stdio::null())
        .spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| io::Error::other("no process number"))
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warden_event::ExitStatus;

    #[test]
    fn only_a_job_that_has_not_ended_is_waited_for() {
        let mut due = Due::default();
        let now = Instant::now();
        let status = ExitStatus { code: Some(0), signal: None };
        let ended = Event::Ended { id: 1, status, ended: vec![], left: vec![], lost: None };
        due.jobs.entry(1).or_default();
        assert!(!due.is_over(now), "nobody has asked for its end");
        due.end_job(1, now);
        assert!(due.is_over(now));
        due.end_job(1, now + PATIENCE);
        assert!(due.is_over(now), "a second wish gives no more time");
        due.take(&ended);
        due.end_job(1, now);
        assert!(!due.is_over(now), "its end is reported");
    }
}
