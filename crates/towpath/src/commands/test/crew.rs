//! The runs that are under way, each a process of this same program. A signal to us reaches all of
//! them, and none of them outlives us, however we end.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

#[derive(Debug, Default)]
pub struct Crew {
    running: Mutex<Vec<Pid>>,
    /// The signal that stopped us; 0 before.
    stopped: AtomicI32,
}

impl Crew {
    /// Runs a command to its end; none once we were told to stop.
    pub fn run(&self, command: &mut Command) -> std::io::Result<Option<ExitStatus>> {
        // A group of its own: what is typed at the terminal comes to us, and we pass it on once.
        command.process_group(0);
        towpath_process::end_with_parent(command);
        let mut child = {
            let mut running = self.running();
            if self.stopped().is_some() {
                return Ok(None);
            }
            let child = command.spawn()?;
            running.push(pid(&child));
            child
        };
        let pid = pid(&child);
        // Taken off the list before it is reaped, so that no signal can hit a stranger.
        let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        self.running().retain(|known| *known != pid);
        let status = child.wait()?;
        Ok(self.stopped().is_none().then_some(status))
    }

    /// Tells every run to end; it ends its children and says so.
    pub fn stop(&self, signal: i32) {
        let running = self.running();
        self.stopped.store(signal, Ordering::SeqCst);
        // A second time means at once, which is what a run makes of its second signal.
        running.iter().for_each(|pid| tell(*pid, Signal::TERM));
    }

    /// Ctrl-Z: the runs stop their children and themselves, then we stop.
    pub fn suspend(&self) {
        let each = |signal| self.running().iter().for_each(|pid| tell(*pid, signal));
        each(Signal::TSTP);
        let _ = kill_process(rustix::process::getpid(), Signal::STOP);
        each(Signal::CONT);
    }

    pub fn stopped(&self) -> Option<i32> {
        Some(self.stopped.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
    }

    fn running(&self) -> std::sync::MutexGuard<'_, Vec<Pid>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn tell(pid: Pid, signal: Signal) {
    // One that has ended by itself needs no telling.
    let _ = kill_process(pid, signal);
}

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}
