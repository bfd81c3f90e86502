//! The process inside of a sandbox: starts each command that its owner sends, watches it, ends all that
//! came of it, and reports the end. In namespaces of its own it is the first process, which nothing
//! inside can signal, trace or outlive. It has one thread, prints nothing, and ends with its owner.

mod command_launch;
mod command_usage;
mod give_up_rights;
mod owner_connection;
mod remove_tree;
mod run_command;
mod scratch_directories;

use super::confined_job::{JOB_ARGUMENT, run_job};
use super::confinement::Confinement;
use super::namespaces::enter_namespaces;
use super::policy::Policy;
use super::protocol::{Begin, Message, Request};
use crate::os::{self, Signals, User};
use give_up_rights::{Rights, give_up_rights};
use owner_connection::{Owner, OwnerGone};
pub(super) use scratch_directories::SCRATCH_PREFIX;
use scratch_directories::Scratch;
use std::ffi::OsString;
use std::process::ExitCode;

/// The argument after the hidden one; the numbers of the socket and of the owner's handle follow.
pub(super) const SESSION_ARGUMENT: &str = "session";

/// Ended as it should.
const DONE: u8 = 0;
/// Never became a server.
const UNFIT: u8 = 70;

/// For a program whose first argument is [`SERVER_ARGUMENT`](super::SERVER_ARGUMENT): does what the
/// arguments after it ask for. The program calls this first, with a single thread, and ends with
/// the code it returns.
pub fn serve(arguments: &[OsString]) -> ExitCode {
    ExitCode::from(serve_as_asked(arguments))
}

/// As `serve`, and ends the process.
pub fn server_main(arguments: &[OsString]) -> ! {
    os::exit_now(serve_as_asked(arguments))
}

fn serve_as_asked(arguments: &[OsString]) -> u8 {
    match arguments {
        [what, socket, owner] if what == SESSION_ARGUMENT => session(socket, owner),
        [what, job, program, rest @ ..] if what == JOB_ARGUMENT => run_job(job, program, rest),
        _ => UNFIT,
    }
}

fn session(socket: &OsString, owner: &OsString) -> u8 {
    if os::thread_count().ok() != Some(1) {
        return UNFIT;
    }
    let Some(mut owner) = Owner::inherited(socket, owner) else { return UNFIT };
    let Ok(Request::Begin(begin)) = owner.next_request() else { return UNFIT };
    let mut server = match Server::new(begin) {
        Ok(server) => server,
        Err(reason) => {
            let _ = owner.send_message(&Message::Failed { reason });
            return UNFIT;
        }
    };
    let _ = server.live(&mut owner);
    server.leave();
    DONE
}

#[derive(Debug)]
struct Server {
    confinement: Confinement,
    policy: Policy,
    rights: Rights,
    scratch: Scratch,
    signals: Signals,
}

impl Server {
    fn new(begin: Begin) -> Result<Server, String> {
        let Begin { confinement, policy, scratch } = begin;
        match &confinement {
            Confinement::Namespaces => enter_namespaces(&policy)?,
            Confinement::Landlock if os::landlock_version() == 0 => {
                return Err("this kernel has no Landlock, or it is turned off".to_owned());
            }
            Confinement::Bubblewrap { .. } | Confinement::Landlock | Confinement::None => {}
        }
        if confinement.has_namespaces() && os::own_pid() != 1 {
            return Err("there is no process namespace".to_owned());
        }
        let rights = give_up_rights(&confinement, &policy)?;
        let signals = Signals::take_over().map_err(|error| format!("no signals: {error}"))?;
        let scratch = Scratch::new(scratch.0.into(), &confinement, rights.user_of_commands);
        Ok(Server { confinement, policy, rights, scratch, signals })
    }

    /// Until the owner is gone, or what a command has left cannot be removed.
    fn live(&mut self, owner: &mut Owner) -> Result<(), OwnerGone> {
        owner.send_message(&Message::Ready)?;
        loop {
            let Request::Run(command) = owner.next_request()? else { return Err(OwnerGone) };
            let end = match self.run(command, owner) {
                Ok(end) => end?,
                Err(reason) => Message::Refused { reason },
            };
            let is_clean = self.clear();
            owner.send_message(&end)?;
            if !is_clean {
                return Ok(());
            }
        }
    }

    /// Whether nothing of the last command is left.
    fn clear(&mut self) -> bool {
        let has_objects = self.confinement.has_namespaces() && !os::remove_system_v_objects();
        self.scratch.clear() && !has_objects
    }

    fn leave(&mut self) {
        self.end_all(None);
        self.scratch.clear();
        self.scratch.remove();
    }

    fn user(&self) -> Option<User> {
        self.rights.user_of_commands
    }
}
