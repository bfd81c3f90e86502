//! The runs in progress, each a process of its own. A signal to us is passed on to all of them, and
//! none of them outlives us, however we end.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

#[derive(Debug, Default)]
pub struct ChildProcesses {
    running: Mutex<Vec<Pid>>,
    /// The signal that stopped us; 0 before.
    stopped: AtomicI32,
}

impl ChildProcesses {
    /// Runs a command to its end; none once we were stopped.
    pub(crate) fn run(&self, command: &mut Command) -> std::io::Result<Option<ExitStatus>> {
        // A group of its own: what is typed at the terminal comes to us, and we pass it on once.
        command.process_group(0);
        towpath_process::end_with_parent(command);
        let mut child = {
            let mut running = self.running();
            if self.stopped().is_some() {
                return Ok(None);
            }
            let child = command.spawn()?;
            running.push(Pid::from_child(&child));
            child
        };
        let pid = Pid::from_child(&child);
        // Taken off the list before it is reaped, so that no signal can hit a stranger.
        let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        self.running().retain(|known| *known != pid);
        let status = child.wait()?;
        Ok(self.stopped().is_none().then_some(status))
    }

    /// Ends every run because of a signal to us; each ends its own children and records that. A
    /// second time means at once, which is what a run makes of its second signal.
    pub fn stop(&self, signal: i32) {
        let running = self.running();
        self.stopped.store(signal, Ordering::SeqCst);
        running.iter().for_each(|pid| send(*pid, Signal::TERM));
    }

    /// Suspends every run, as Ctrl-Z does.
    pub fn suspend(&self) {
        self.running().iter().for_each(|pid| send(*pid, Signal::TSTP));
    }

    /// Continues every suspended run.
    pub fn resume(&self) {
        self.running().iter().for_each(|pid| send(*pid, Signal::CONT));
    }

    /// The signal that stopped us.
    pub fn stopped(&self) -> Option<i32> {
        Some(self.stopped.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
    }

    fn running(&self) -> std::sync::MutexGuard<'_, Vec<Pid>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn send(pid: Pid, signal: Signal) {
    // One that has ended by itself needs no signal.
    let _ = kill_process(pid, signal);
}
