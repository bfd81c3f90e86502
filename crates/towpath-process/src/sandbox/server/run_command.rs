//! One command from its start to its end. Whichever comes first ends it: its own end, its time, the
//! amount of its output, its memory or the number of its processes. Then everything that came of it is
//! ended before the end is reported, so that no background process is waited for and none remains.

use super::super::errno_name::errno_name;
use super::super::protocol::{CommandIo, MAX_ANSWER, Message, WireCommand};
use super::super::sandbox_command::EndStatus;
use super::command_usage::{Usage, usage_of_descendants, usage_of_namespace};
use super::owner_connection::{Owner, OwnerGone};
use super::{Server, command_launch};
use crate::end_orphans::{end_children, exit_status};
use crate::os::{self, LaunchFailure};
use crate::warden_event::ExitStatus;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Signal, WaitOptions, wait};
use std::collections::HashSet;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};
use towpath_core::{Secrets, Stream};

/// How often memory and processes are counted.
const WATCH: Duration = Duration::from_millis(100);
/// How long something may hang in the kernel before the sandbox is given up.
const END_WITHIN: Duration = Duration::from_secs(10);

/// A command that has started.
#[derive(Debug)]
pub(super) struct Running {
    pub leader: i32,
    pub outputs: Vec<(Stream, OwnedFd)>,
    pub started: Instant,
    pub deadline: Option<Instant>,
    /// How much it may still print.
    pub room: u64,
    pub io: CommandIo,
}

/// Why a command is over.
#[derive(Debug)]
enum Over {
    Ended(ExitStatus),
    Limit(EndStatus),
}

impl Server {
    /// The message for the owner; or why nothing was run.
    pub(super) fn run(
        &mut self,
        command: WireCommand,
        owner: &Owner,
    ) -> Result<Result<Message, OwnerGone>, String> {
        let (time_limit, room, io) = (command.time_limit_ms, command.output_limit, command.io);
        let (launch, outputs) = command_launch::prepare(self, command)?;
        let started = Instant::now();
        let leader = match os::launch(&launch) {
            Ok(leader) => leader,
            Err(LaunchFailure::Execute(errno)) => {
                let status = EndStatus::NotStarted(errno_name(errno));
                return Ok(Ok(Message::Ended { status, took_us: 0 }));
            }
            Err(LaunchFailure::Directory(errno)) => {
                return Err(format!("its directory cannot be entered: {errno}"));
            }
            Err(LaunchFailure::Fork(errno) | LaunchFailure::Setup(errno)) => {
                return Err(format!("no process can be made for it: {errno}"));
            }
        };
        // Our copies of the command's ends: without them the end of its output is seen.
        drop(launch);
        let deadline = time_limit.and_then(|ms| started.checked_add(Duration::from_millis(ms)));
        let mut running = Running { leader, outputs, started, deadline, room, io };
        Ok(self.watch(&mut running, owner))
    }

    fn watch(&mut self, running: &mut Running, owner: &Owner) -> Result<Message, OwnerGone> {
        let over = self.wait_for_end(running, owner)?;
        let took = running.started.elapsed();
        if !self.end_all(Some(running.leader)) {
            // Nothing may run beside the next command.
            return Err(OwnerGone);
        }
        let status = match over {
            Over::Limit(EndStatus::OutputLimit) => EndStatus::OutputLimit,
            Over::Limit(status) => {
                running.drain(owner)?;
                status
            }
            Over::Ended(status) => running.drain(owner)?.unwrap_or_else(|| end_status(status)),
        };
        let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        Ok(Message::Ended { status, took_us })
    }

    fn wait_for_end(&mut self, running: &mut Running, owner: &Owner) -> Result<Over, OwnerGone> {
        let mut next_watch = running.started + WATCH;
        loop {
            let wake = running.deadline.map_or(next_watch, |deadline| deadline.min(next_watch));
            let ready = self.poll(running, owner, wake);
            if ready.owner {
                return Err(OwnerGone);
            }
            for index in ready.outputs.into_iter().rev() {
                if let Some(status) = running.pump(index, owner)? {
                    return Ok(Over::Limit(status));
                }
            }
            if ready.signals
                && let Some(status) = self.hear_signals(running)
            {
                return Ok(Over::Ended(status));
            }
            let now = Instant::now();
            if running.deadline.is_some_and(|deadline| now >= deadline) {
                return Ok(Over::Limit(EndStatus::TimedOut));
            }
            if now >= next_watch {
                if let Some(status) = self.exceeded() {
                    return Ok(Over::Limit(status));
                }
                next_watch = Instant::now() + WATCH;
            }
        }
    }

    fn poll(&self, running: &Running, owner: &Owner, wake: Instant) -> Ready {
        let left = wake.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).ok();
        let [socket, process] = owner.files();
        let fixed = [self.signals.as_fd(), socket, process];
        let outputs = running.outputs.iter().map(|(_, file)| file.as_fd());
        let mut files: Vec<PollFd<'_>> = fixed
            .into_iter()
            .chain(outputs)
            .map(|file| PollFd::from_borrowed_fd(file, PollFlags::IN))
            .collect();
        // An interrupted wait is followed by the next one.
        let _ = poll(&mut files, left.as_ref());
        let is_ready = |file: &PollFd<'_>| !file.revents().is_empty();
        Ready {
            signals: is_ready(&files[0]),
            owner: files[1..3].iter().any(is_ready),
            outputs: (0..files.len() - 3).filter(|index| is_ready(&files[index + 3])).collect(),
        }
    }

    /// Reaps what has ended; how the command's own process did, if that is among it.
    fn hear_signals(&self, running: &Running) -> Option<ExitStatus> {
        if self.signals.drain() && running.io == CommandIo::Inherited {
            // Whoever asks this process to end means the command.
            os::signal_group(running.leader, Signal::TERM);
        }
        reap(Some(running.leader))
    }

    fn exceeded(&self) -> Option<EndStatus> {
        let Usage { memory, threads } = match self.confinement.has_namespaces() {
            true => usage_of_namespace(),
            false => usage_of_descendants(),
        };
        if memory > self.policy.limits.memory_bytes {
            return Some(EndStatus::MemoryLimit);
        }
        (threads > self.policy.limits.processes).then_some(EndStatus::ProcessLimit)
    }

    /// Ends every process of the sandbox but this one; whether none is left.
    pub(super) fn end_all(&self, leader: Option<i32>) -> bool {
        let until = Instant::now() + END_WITHIN;
        if self.confinement.has_namespaces() {
            return end_namespace(until);
        }
        // All of its group at one instant, then whatever has left the group.
        if let Some(leader) =
            leader.filter(|leader| os::children_of(os::own_pid()).contains(leader))
        {
            os::signal_group(leader, Signal::KILL);
        }
        end_children(&HashSet::new(), until, &Secrets::default()).left.is_empty()
    }
}

/// What a wait has found.
#[derive(Debug)]
struct Ready {
    signals: bool,
    owner: bool,
    outputs: Vec<usize>,
}

impl Running {
    /// Passes on what one output has now. The status, where that was too much.
    fn pump(&mut self, index: usize, owner: &Owner) -> Result<Option<EndStatus>, OwnerGone> {
        let mut buffer = vec![0; MAX_ANSWER];
        let (stream, file) = &self.outputs[index];
        match rustix::io::read(file, &mut buffer) {
            Ok(length @ 1..) => {
                let bytes = &buffer[..length];
                let kept = bytes.len().min(usize::try_from(self.room).unwrap_or(usize::MAX));
                owner.send_output(*stream, &bytes[..kept])?;
                self.room -= kept as u64;
                Ok((kept < bytes.len()).then_some(EndStatus::OutputLimit))
            }
            Err(Errno::INTR | Errno::AGAIN) => Ok(None),
            // A terminal whose other side is closed reports an error rather than an end.
            Ok(0) | Err(_) => {
                self.outputs.remove(index);
                Ok(None)
            }
        }
    }

    /// Passes on what is left when nothing writes any more.
    fn drain(&mut self, owner: &Owner) -> Result<Option<EndStatus>, OwnerGone> {
        while let Some((_, file)) = self.outputs.first() {
            let mut ready = [PollFd::new(file, PollFlags::IN)];
            let nothing = Timespec { tv_sec: 0, tv_nsec: 0 };
            if poll(&mut ready, Some(&nothing)) == Ok(0) {
                self.outputs.remove(0);
                continue;
            }
            if let Some(status) = self.pump(0, owner)? {
                return Ok(Some(status));
            }
        }
        Ok(None)
    }
}

/// In a process namespace whose first process this is: all at one instant, until nothing is left.
fn end_namespace(until: Instant) -> bool {
    let mut pause = Duration::from_micros(50);
    loop {
        // Checked at the start of the server, too: anywhere else the next call would end the machine.
        assert_eq!(os::own_pid(), 1, "the first process of a namespace");
        // SAFETY: a plain call, which reaches what is in the namespace of this process and nothing else.
        unsafe { libc::kill(-1, libc::SIGKILL) };
        reap(None);
        if matches!(wait(WaitOptions::NOHANG), Err(Errno::CHILD)) {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}

/// Reaps every child that has ended; how `wanted` did.
fn reap(wanted: Option<i32>) -> Option<ExitStatus> {
    let mut found = None;
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        if Some(pid.as_raw_nonzero().get()) == wanted {
            found = Some(exit_status(status));
        }
    }
    found
}

fn end_status(status: ExitStatus) -> EndStatus {
    match (status.code, status.signal) {
        (Some(code), _) => EndStatus::Exited(code),
        (None, signal) => EndStatus::Signaled(signal.unwrap_or(libc::SIGKILL)),
    }
}
