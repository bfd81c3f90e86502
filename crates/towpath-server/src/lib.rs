//! The server of the page: every run of this machine, whoever started it, over HTTP on loopback, and
//! live over a WebSocket. It reads the journal and replays it through the run; it has no state of runs
//! of its own. What it changes, it changes by starting the program's own commands as processes that
//! outlive it. It reads no environment and no home directory: [`ServerConfig`] has all it needs.
//!
//! ```text
//! accept_connections ─► request_gate (host, origin, token) ─► routes ─► views │ actions ─► own_program
//!                                                               ├─────► live: socket ◄─ events ◄─ watcher
//!                                                               └─────► phone: connection
//! ```
//!
//! `docs/api.md` and `openapi.json` are the contract of what it answers.

mod accept_connections;
mod actions;
mod answer;
mod config;
mod connection_slots;
mod guard;
mod live;
mod open_codes;
mod own_program;
mod page_file;
mod phone;
mod routes;
mod timed_stream;
mod tls_files;
mod token;
mod views;

pub use accept_connections::Listening;
pub use config::{Action, NextCommand, RunWords, ServerConfig, ServerLimits, StepQuestion};
pub use phone::key::PhoneKey;
pub use routes::{ROUTES, Route};
pub use tls_files::{TlsError, TlsServer};
pub use token::Token;

use accept_connections::Listener;
use live::events::Events;
use open_codes::OpenCodes;
use phone::live_runs::LiveRuns;
use phone::sessions::FirstSessions;
use phone::start_recipe::StartingSessions;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use tokio::net::TcpListener;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Server {
    pub config: ServerConfig,
    /// The addresses under which it may be asked.
    pub origins: Vec<String>,
    pub events: Arc<Events>,
    pub codes: OpenCodes,
    pub phones: LiveRuns,
    pub starting_sessions: StartingSessions,
    pub first_sessions: FirstSessions,
}

/// The views and actions that wait for files or commands at the same time.
const BLOCKING_THREADS: usize = 16;

/// Serves until the process ends. Nothing is left behind then: what was started runs on.
pub fn serve(config: ServerConfig, listening: Listening) -> io::Result<Infallible> {
    let events = Arc::new(Events::default());
    live::watcher::start(&config, &events)?;
    let server = Arc::new(Server {
        origins: listening.origins,
        events,
        codes: OpenCodes::default(),
        config,
        phones: LiveRuns::default(),
        starting_sessions: StartingSessions::default(),
        first_sessions: FirstSessions::default(),
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS)
        .build()?;
    runtime.block_on(async {
        let router = routes::router(&server);
        tokio::spawn(phone::live_runs::follow(Arc::clone(&server)));
        for Listener { socket, tls } in listening.listeners {
            socket.set_nonblocking(true)?;
            let socket = TcpListener::from_std(socket)?;
            let tls = tls.map(TlsServer::acceptor);
            let server = Arc::clone(&server);
            tokio::spawn(accept_connections::accept(socket, tls, router.clone(), server));
        }
        std::future::pending::<io::Result<Infallible>>().await
    })
}
