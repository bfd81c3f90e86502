//! `towpath ui`: the page, served on this machine alone until it is stopped.

use super::Execute;
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::page::open_browser::open_browser;
use crate::page::phone_key::phone_key;
use crate::page::running_server::{PageFiles, RunningServer};
use crate::page::start_server::{OtherAddress, PreparedServer, ServerChoice, prepare};
use crate::session::time_flags::LIMITS;
use crate::session::{find_run, signals};
use crate::terminal::out;
use rustix::process::{Pid, Signal, kill_process};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use towpath_core::RunId;
use towpath_process::RunLock;
use towpath_server::TlsServer;

/// Show every run of this machine in a browser.
///
/// Serves the page on 127.0.0.1 until Ctrl-C, and prints its address, which has a token: whoever has it
/// can see and do what you can. Ending it ends no run. There is one server for all your runs: if it is
/// up already, its address is printed.
///
/// Example: towpath ui
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Open the page of this run: its id, or a unique prefix of it.
    run: Option<String>,
    /// Listen on this port (default: the port of the last time, or any that is free).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Print the address of the server that is up, and start none.
    #[arg(long, conflicts_with_all = ["port", "read_only", "stop"])]
    print_url: bool,
    /// Open no browser.
    #[arg(long)]
    no_open: bool,
    /// Only show: no run can be started, continued or ended from the page.
    #[arg(long, conflicts_with = "stop")]
    read_only: bool,
    /// End the server that is up. Runs continue.
    #[arg(long, conflicts_with_all = ["run", "port", "listen"])]
    stop: bool,
    /// Listen on this address, too, for other machines: the name or address and the port that their
    /// browsers are given. Needs --tls-cert and --tls-key, or --plain.
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "print_url")]
    listen: Option<String>,
    /// The certificate for --listen: a PEM file.
    #[arg(long, value_name = "FILE", requires_all = ["listen", "tls_key"])]
    tls_cert: Option<PathBuf>,
    /// The key of the certificate: a PEM file.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Listen without TLS: whoever can read the network can read the token and all that is shown.
    #[arg(long, requires = "listen", conflicts_with = "tls_cert")]
    plain: bool,
    /// Print the address and the key for the app on your phone, which may then list, start and end
    /// recipes. Without a key no such client is served.
    #[arg(long, conflicts_with = "stop")]
    phone: bool,
    /// Replace the key: clients that have the old one are disconnected.
    #[arg(long, requires = "phone")]
    new_phone_key: bool,
    /// Answers for the scripted agent, one JSON line per call: runs that are started from here ask it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["print_url", "stop"])]
    script: Option<PathBuf>,
}

/// For a server that is just starting or ending.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        if self.stop {
            return stop(env);
        }
        let run = self.run.as_deref().map(|name| run_of(env, name)).transpose()?;
        if self.print_url {
            let running = RunningServer::find(env).ok_or_else(none_is_up)?;
            out::line(running.address(run.as_ref()));
            running.other_address().into_iter().for_each(out::line);
            self.show_phone_key(env, &running)?;
            return Ok(Exit::Done);
        }
        let other = self.other_address(env)?;
        let (port, read_only) = (self.port, self.read_only);
        let script = self.script.as_ref().map(|file| env.current.join(file));
        let choice = ServerChoice { port, read_only, run_limits: LIMITS, other, script };
        // Before the first thread: the server's thread for signals takes them.
        signals::block();
        match prepare(env, choice)? {
            Some(server) => self.serve(env, server, run.as_ref()),
            None => self.show_running(env, run.as_ref()),
        }
    }
}

impl Args {
    /// The address for other machines, where one is wanted.
    fn other_address(&self, env: &Environment) -> Result<Option<OtherAddress>, CommandError> {
        let Some(address) = self.listen.clone() else { return Ok(None) };
        let at = |path: &PathBuf| env.current.join(path);
        let tls = match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => Some(TlsServer::read(&at(certificate), &at(key))),
            _ if self.plain => None,
            _ => {
                return Err(CommandError::bad_input(
                    "other machines need TLS: give --tls-cert and --tls-key, or --plain where you \
                     trust the whole network",
                ));
            }
        };
        let tls = tls.transpose().map_err(|error| CommandError::bad_input(error.to_string()))?;
        Ok(Some(OtherAddress { address, tls }))
    }

    /// What it means that other machines can reach the server.
    fn warn_of_other_address(&self, server: &RunningServer) {
        let Some(address) = &self.listen else { return };
        server.other_address().into_iter().for_each(out::line);
        out::note(format!(
            "warning: whoever can reach {address} and has the token can see all your runs and run \
             commands as you; --read-only leaves them only the seeing"
        ));
        if self.plain {
            out::note(
                "warning: --plain sends the token, and all that is shown, so that the whole network \
                 can read it",
            );
        }
    }

    fn serve(
        &self,
        env: &Environment,
        server: PreparedServer,
        run: Option<&RunId>,
    ) -> Result<Exit, CommandError> {
        self.show(env, &server.running, run);
        self.warn_of_other_address(&server.running);
        self.show_phone_key(env, &server.running)?;
        out::note("Ctrl-C ends the page, and no run");
        forget_token_at_end(env);
        match server.serve()? {}
    }

    /// Another server of this state directory is up, or about to be.
    fn show_running(&self, env: &Environment, run: Option<&RunId>) -> Result<Exit, CommandError> {
        let until = Instant::now() + PATIENCE;
        let running = loop {
            match RunningServer::find(env) {
                Some(running) => break running,
                None if Instant::now() >= until => return Err(none_is_up()),
                None => std::thread::sleep(PAUSE),
            }
        };
        if self.read_only && !running.note.read_only {
            let message = "a server that is not read-only is up; to end it: towpath ui --stop";
            return Err(CommandError::new(Exit::Setup, ErrorKind::InUse, message));
        }
        let other = running.note.other.as_ref();
        if let Some(address) = &self.listen
            && !other.is_some_and(|origin| origin.ends_with(&format!("//{address}")))
        {
            let message = format!(
                "a server is up that was started without {address}; to end it: towpath ui --stop"
            );
            return Err(CommandError::new(Exit::Setup, ErrorKind::InUse, message));
        }
        if self.script.is_some() {
            let message = "a server is up that was started without --script; to end it: \
                           towpath ui --stop";
            return Err(CommandError::new(Exit::Setup, ErrorKind::InUse, message));
        }
        self.show(env, &running, run);
        self.show_phone_key(env, &running)?;
        Ok(Exit::Done)
    }

    /// What a user types into the app.
    fn show_phone_key(
        &self,
        env: &Environment,
        server: &RunningServer,
    ) -> Result<(), CommandError> {
        if !self.phone {
            return Ok(());
        }
        let key = phone_key(env, self.new_phone_key)?;
        let listens = self.listen.as_ref().filter(|_| self.plain);
        let address = listens.map_or(server.phone_address(), |address| format!("ws://{address}"));
        out::line(format!("phone: {address} key: {}", key.text()));
        Ok(())
    }

    fn show(&self, env: &Environment, server: &RunningServer, run: Option<&RunId>) {
        out::line(server.address(run));
        if !self.no_open
            && let Ok(address) = server.opening(run)
        {
            open_browser(env, &address);
        }
    }
}

fn run_of(env: &Environment, name: &str) -> Result<RunId, CommandError> {
    let store = find_run::open(env, Some(name))?;
    Ok(find_run::find(&store, name)?.id)
}

/// A server that is ended in order forgets its token: a page that is still open could show it to whatever
/// listens at this address next. After a kill the next server has it, so that the page finds that.
fn forget_token_at_end(env: &Environment) {
    let files = PageFiles::of(env);
    std::thread::spawn(move || {
        let signal = signals::wait_for_end();
        files.remove_token();
        std::process::exit(128 + signal);
    });
}

fn none_is_up() -> CommandError {
    let message = "no server of the page is up; to start one: towpath ui";
    CommandError::new(Exit::Setup, ErrorKind::NotFound, message)
}

fn stop(env: &Environment) -> Result<Exit, CommandError> {
    let lock = PageFiles::of(env).lock();
    let Some(holder) = RunLock::holder(&lock) else {
        out::note("no server of the page is up");
        return Ok(Exit::Done);
    };
    let pid = holder.pid.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    if let Some(Err(error)) = pid.map(|pid| kill_process(pid, Signal::TERM)) {
        return Err(CommandError::setup(format!("{holder} cannot be ended: {error}")));
    }
    let until = Instant::now() + PATIENCE;
    while RunLock::holder(&lock).is_some() {
        if Instant::now() >= until {
            return Err(CommandError::setup(format!("{holder} does not end")));
        }
        std::thread::sleep(PAUSE);
    }
    out::line("the page is not served any more; runs continue");
    Ok(Exit::Done)
}
