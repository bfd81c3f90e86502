//! The engine's handle on its warden: commands go in by `Warden`, events come out of
//! `WardenEvents`, each usable from its own thread. Dropping the `Warden` ends everything at once;
//! an orderly end is `sweep`, awaited as `Event::Swept`. A warden that a job has stopped is continued
//! with every command and whenever it is silent; one that does not do what it was asked to in time is
//! killed, and its jobs with it.

use crate::child_spec::{ChildSpec, WireSpec};
use crate::error::ProcessError;
use crate::event::Event;
use crate::marker::Marker;
use crate::os;
use crate::warden_process;
use crate::wire::{Answer, Command, Frames, MAX_FRAME, encode};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
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
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use towpath_core::Secrets;

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
    gone: bool,
}

impl Warden {
    /// Forks the warden from this process, which must not have started a thread yet. `lock`: a file
    /// whose `flock` the warden shall hold too; no job gets it. Raises this process's limit of open
    /// files; jobs get the one that it had.
    pub fn fork(
        lock: Option<BorrowedFd<'_>>,
        marker: &Marker,
    ) -> Result<(Warden, WardenEvents), ProcessError> {
        let count = os::thread_count()
            .map_err(|source| ProcessError::System { doing: "cannot count threads", source })?;
        if count != 1 {
            return Err(ProcessError::Threads { count });
        }
        os::raise_file_limit();
        let (ours, theirs) = pair()?;
        match os::fork().map_err(ProcessError::system("cannot fork the warden"))? {
            None => warden_process::be_the_warden(theirs.as_fd(), lock, marker),
            Some(pid) => Ok(handles(ours, pid)),
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
        let (warden, mut events) = handles(ours, child);
        // If nobody hears this, nobody answers.
        let _ = warden.send(&Command::Hello { marker: marker.clone(), lock: lock.is_some() });
        match events.answer(Some(Instant::now() + READY_WITHIN)) {
            Some(Answer::Ready) => Ok((warden, events)),
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

    /// Answered by `Event::Started` or `Event::StartFailed`. While paused, a new job is stopped as
    /// soon as it has started.
    pub fn start(&self, spec: &ChildSpec) -> Result<(), ProcessError> {
        self.process.due().jobs.entry(spec.id).or_default();
        self.send(&Command::Start(WireSpec::from(spec)))
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

    /// Ends a warden that has no job, where nobody can read its events, and reaps it.
    pub fn abandon(self) {
        self.process.signal(Signal::KILL);
        let _ = waitpid(Some(self.process.pid), WaitOptions::empty());
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
    /// The reader may still hold the socket; the warden must see the end all the same.
    fn drop(&mut self) {
        self.process.due().all.get_or_insert(Instant::now() + PATIENCE);
        let _ = shutdown(&*self.socket, Shutdown::Write);
        self.process.signal(Signal::CONT);
    }
}

impl WardenEvents {
    /// Waits for the next event. `None`: the warden is gone, and its process is reaped.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Event> {
        loop {
            match self.answer(None) {
                Some(Answer::Event(event)) => {
                    self.process.due().take(&event);
                    return Some(event);
                }
                Some(Answer::Ready) => {}
                None => {
                    // The socket's other end closes with the process: this does not wait long.
                    let _ = waitpid(Some(self.process.pid), WaitOptions::empty());
                    return None;
                }
            }
        }
    }

    /// `None`: the warden is gone, or the time is over.
    fn answer(&mut self, until: Option<Instant>) -> Option<Answer> {
        let mut buffer = vec![0; 16 << 10];
        loop {
            match self.frames.next() {
                Ok(Some(answer)) => return Some(answer),
                Ok(None) if !self.gone => {}
                _ => {
                    self.gone = true;
                    return None;
                }
            }
            if until.is_some_and(|until| !self.readable_before(until)) {
                return None;
            }
            match recv(&*self.socket, &mut buffer[..], RecvFlags::empty()) {
                Ok((0, _)) => self.gone = true,
                Ok((length, _)) => self.frames.push(&buffer[..length]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if self.process.is_late() => self.process.signal(Signal::KILL),
                Err(Errno::AGAIN) => self.process.signal(Signal::CONT),
                Err(_) => self.gone = true,
            }
        }
    }

    fn readable_before(&self, until: Instant) -> bool {
        let left = until.saturating_duration_since(Instant::now());
        let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        let mut files = [PollFd::new(&*self.socket, PollFlags::IN)];
        matches!(poll(&mut files, Some(&left)), Ok(1..) | Err(Errno::INTR))
    }
}

fn pair() -> Result<(OwnedFd, OwnedFd), ProcessError> {
    socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
        .map_err(ProcessError::system("cannot make the warden's socket"))
}

fn handles(socket: OwnedFd, pid: Pid) -> (Warden, WardenEvents) {
    // Without it a stopped warden stays stopped until the next word.
    let _ = set_socket_timeout(&socket, Timeout::Recv, Some(SILENCE));
    let (socket, process) = (Arc::new(socket), Arc::new(Child::new(pid)));
    let (reading, child) = (Arc::clone(&socket), Arc::clone(&process));
    let events =
        WardenEvents { socket: reading, frames: Frames::default(), process: child, gone: false };
    (Warden { socket, turn: Mutex::new(()), process }, events)
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
    use crate::event::ExitStatus;

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
        assert!(!due.is_over(now), "its end is told");
    }
}
