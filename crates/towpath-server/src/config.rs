//! All that the server gets from outside.

use crate::token::Token;
use jiff::tz::TimeZone;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;
use towpath_view::run_json::ShownRun;

#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// The directory with the journal.
    pub state: PathBuf,
    /// The program whose commands are started.
    pub program: PathBuf,
    /// Where recipes are looked for, unless a request names another directory.
    pub directory: PathBuf,
    pub version: &'static str,
    pub token: Token,
    /// The file with the key of remote clients: no file, no client.
    pub phone_key: PathBuf,
    /// Answers for the scripted agent: it takes every agent step of the runs that are started here.
    pub script: Option<PathBuf>,
    /// No action is taken.
    pub read_only: bool,
    /// Times are given in it.
    pub zone: TimeZone,
    pub run_limits: towpath_run::Limits,
    pub limits: ServerLimits,
    /// Whatever names a command of the program is described by the program.
    pub describe: fn(&ShownRun, i64) -> RunWords,
}

/// What a client may use up.
#[derive(Debug, Clone, Copy)]
pub struct ServerLimits {
    pub connections: usize,
    /// How long the head of a request, its body and the first message of a socket may take.
    pub reading: Duration,
    /// How long a client may take nothing of what is written to it.
    pub writing: Duration,
    /// How often a socket without news is sent a sign of life.
    pub tick: Duration,
    /// How long a command of the program may take that answers a view.
    pub command: Duration,
}

impl Default for ServerLimits {
    fn default() -> ServerLimits {
        ServerLimits {
            connections: 64,
            reading: Duration::from_secs(10),
            writing: Duration::from_secs(30),
            tick: Duration::from_secs(10),
            command: Duration::from_secs(120),
        }
    }
}

/// A run in words, with the commands that can be given next.
#[derive(Debug, Clone, Default)]
pub struct RunWords {
    /// The command that continues the run.
    pub resume: Option<String>,
    /// Why the run is where it is, in one sentence.
    pub why: String,
    pub next: Vec<NextCommand>,
    /// For each step that asks: what the user must decide.
    pub questions: Vec<StepQuestion>,
}

#[derive(Debug, Clone)]
pub struct NextCommand {
    /// When it helps.
    pub when: String,
    pub command: String,
    pub action: Option<Action>,
}

/// The request that does what a command does: the last part of its address, and its body. A command
/// with a value that only the user knows has no body.
#[derive(Debug, Clone)]
pub struct Action {
    pub name: &'static str,
    pub body: Option<Value>,
}

#[derive(Debug, Clone)]
pub struct StepQuestion {
    pub step: String,
    pub text: String,
    pub next: Vec<NextCommand>,
}
