//! Starts the server of the page: one per state directory. Where the one before was killed, the next has
//! its port and its token, so that an open page finds it. In any other case the token is a new one:
//! meanwhile another program may have listened at that address, and the page may have asked it.

use super::run_words;
use super::running_server::{PageFiles, RunningServer, ServerNote, new_token};
use crate::environment::{Environment, local_zone, own_program};
use crate::exit::CommandError;
use std::convert::Infallible;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use towpath_process::{Acquire, RunLock};
use towpath_run::Limits;
use towpath_server::{Listening, ServerConfig, ServerLimits, TlsServer, Token, serve};

/// A server that listens and is not served yet.
#[derive(Debug)]
pub struct PreparedServer {
    pub running: RunningServer,
    config: ServerConfig,
    listening: Listening,
    _lock: RunLock,
}

/// What a user may choose.
#[derive(Debug)]
pub struct ServerChoice {
    pub port: Option<u16>,
    pub read_only: bool,
    pub run_limits: Limits,
    pub other: Option<OtherAddress>,
    /// Answers for the scripted agent of the runs that are started from the server.
    pub script: Option<PathBuf>,
}

/// An address that other machines can reach.
#[derive(Debug)]
pub struct OtherAddress {
    pub address: String,
    /// None: what is sent can be read on the way.
    pub tls: Option<TlsServer>,
}

impl OtherAddress {
    /// `https://box.example:8443`
    pub fn origin(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }
}

/// None: another server has the lock of this state directory.
pub fn prepare(
    env: &Environment,
    choice: ServerChoice,
) -> Result<Option<PreparedServer>, CommandError> {
    // An older journal is upgraded now: the server only looks.
    env.journal()?;
    let files = PageFiles::of(env);
    let setup =
        |path: &Path, error: io::Error| CommandError::setup(format!("{}: {error}", path.display()));
    let directory = &files.directory;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
    made.map_err(|error| setup(directory, error))?;
    let lock = RunLock::try_acquire(&files.lock()).map_err(|e| setup(&files.lock(), e))?;
    let Acquire::Acquired(lock) = lock else { return Ok(None) };
    let last = files.last();
    let mut listening = bind(last.as_ref(), choice.port)?;
    let note = ServerNote {
        pid: std::process::id(),
        port: listening.port(),
        read_only: choice.read_only,
        other: choice.other.as_ref().map(OtherAddress::origin),
    };
    let same = last.is_some_and(|last| last.passes_token_to(&note));
    let token = token(&files, same).map_err(|error| setup(directory, error))?;
    if let Some(OtherAddress { address, tls }) = choice.other {
        let refused = |error| CommandError::setup(format!("cannot listen on {address}: {error}"));
        listening.also_on(&address, tls).map_err(refused)?;
    }
    files.write_note(&note).map_err(|error| setup(directory, error))?;
    let config = ServerConfig {
        state: env.directories.state.clone(),
        program: own_program()?,
        directory: env.current.clone(),
        version: env!("CARGO_PKG_VERSION"),
        token: token.clone(),
        phone_key: files.phone_key(),
        script: choice.script,
        read_only: choice.read_only,
        zone: local_zone(),
        run_limits: choice.run_limits,
        limits: ServerLimits::default(),
        describe: run_words::describe,
    };
    let running = RunningServer::new(note, token);
    Ok(Some(PreparedServer { running, config, listening, _lock: lock }))
}

/// The token of the server before, where this one takes its position, or a new one. One that others could
/// read is not used again.
fn token(files: &PageFiles, same: bool) -> io::Result<Token> {
    if let Some(token) = files.token().filter(|_| same && files.token_is_private()) {
        return Ok(token);
    }
    let token = new_token()?;
    files.write_token(&token)?;
    Ok(token)
}

fn bind(last: Option<&ServerNote>, port: Option<u16>) -> Result<Listening, CommandError> {
    let refused = |error| CommandError::setup(format!("cannot listen on 127.0.0.1: {error}"));
    if let Some(port) = port {
        let taken = |error| {
            CommandError::setup(format!("cannot listen on port {port} of 127.0.0.1: {error}"))
        };
        return Listening::loopback(port).map_err(taken);
    }
    let last = last.and_then(|note| Listening::loopback(note.port).ok());
    last.map_or_else(|| Listening::loopback(0).map_err(refused), Ok)
}

impl PreparedServer {
    /// Serves until the process ends.
    pub fn serve(self) -> Result<Infallible, CommandError> {
        serve(self.config, self.listening)
            .map_err(|error| CommandError::setup(format!("the page cannot be served: {error}")))
    }
}
