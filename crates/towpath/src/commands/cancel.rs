//! `towpath cancel`: ends a run from another terminal. Its owner gets a signal and ends it in order;
//! a run without an owner is ended here. It never signals a process that does not own the run.

use super::Execute;
use crate::environment::Invocation;
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::session::find_run::{named_or_latest, open};
use crate::session::run_status::{can_cancel, status_of};
use crate::session::secret_flag;
use crate::session::time_flags::LIMITS;
use crate::terminal::format::clean;
use crate::terminal::out;
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};
use towpath_core::{RunId, RunStatus};
use towpath_engine::{Options, cancel_unowned, continue_holders, end_holders, owner_of};
use towpath_store::Store;

/// Cancel a run.
///
/// Ends a run that is active in another terminal, or one that you will not resume. Active steps get
/// five seconds to end. The record is kept: `towpath resume` can still continue the run.
///
/// Example: towpath cancel 7f3k
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run's id, or a unique prefix of it [default: the latest run here that has not ended]
    pub run: Option<String>,
}

/// The steps' five seconds, and what the end of a run takes.
const PATIENCE: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(50);

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let name = self.run.as_deref();
        let store = open(env, name)?;
        let row = named_or_latest(&store, env, name, can_cancel, "can be cancelled")?;
        let id = row.id.clone();
        let mut status = status_of(&store, &row);
        // A run that waits may have an owner as well: one that waits until the rate limit resets.
        let owned = owner_of(&store, &id).is_some();
        if owned {
            signal_owner(&store, &id)?;
            status = wait(&store, &id)?;
        }
        match status {
            RunStatus::Cancelled if owned => out::line(format!("run {id} is cancelled")),
            RunStatus::Done | RunStatus::Failed { .. } | RunStatus::Cancelled => {
                out::line(format!("run {id} has already ended: {}", status.as_str()));
            }
            // It waits, asks, was stopped, or its owner died: nobody else will end it.
            _ => {
                let mut store = Store::open(&env.directories.state)?;
                let secrets = |options: &Options| secret_flag::if_known(env, options);
                for process in cancel_unowned(&mut store, &id, LIMITS, &secrets)? {
                    out::note(format!("ended an orphan process: {}", clean(&process)));
                }
                out::line(format!("run {id} is cancelled"));
            }
        }
        Ok(Exit::Done)
    }
}

/// Marks the signal as a cancellation, then sends it.
fn signal_owner(store: &Store, id: &RunId) -> Result<(), CommandError> {
    let marker = store.run_directory(id).join("cancel");
    create_marker(&marker)
        .map_err(|e| CommandError::setup(format!("{}: {e}", marker.display())))?;
    // Looked up last, so that the number is still that of the process that owns the run.
    let Some(holder) = owner_of(store, id) else { return Ok(()) };
    let pid = holder.pid.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    let Some(pid) = pid else {
        let message = format!("run {id} is in use by {holder}");
        return Err(CommandError::new(Exit::Setup, ErrorKind::InUse, message));
    };
    match kill_process(pid, Signal::TERM) {
        // One that is stopped, or whose warden is, hears it only when it continues.
        Ok(()) => {
            continue_holders(store, id);
            Ok(())
        }
        Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => {
            let message =
                format!("run {id} is in use by {holder}, which cannot be signalled: {error}");
            Err(CommandError::new(Exit::Setup, ErrorKind::InUse, message))
        }
    }
}

fn create_marker(marker: &Path) -> std::io::Result<()> {
    std::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(marker).map(drop)
}

/// Waits for the owner to end, and returns the status of the run then. One that does not end in time
/// is killed.
fn wait(store: &Store, id: &RunId) -> Result<RunStatus, CommandError> {
    let until = Instant::now() + PATIENCE;
    while owner_of(store, id).is_some() {
        if Instant::now() >= until {
            end_holders(store, id)?;
            break;
        }
        std::thread::sleep(PAUSE);
    }
    // The marker was for that owner; the next one must not find it.
    let _ = std::fs::remove_file(store.run_directory(id).join("cancel"));
    match store.run(id)? {
        Some(row) => Ok(status_of(store, &row)),
        None => Err(CommandError::bad_input(format!("there is no run {id}"))),
    }
}
