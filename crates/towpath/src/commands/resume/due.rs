//! `towpath resume --due`: every waiting run that is due, one after the other, each as a `towpath
//! resume` of its own in the run's directory. It never prompts, and prints nothing when there is
//! nothing to do, so that a timer may call it as often as it likes.

use crate::environment::{Environment, own_program};
use crate::exit::{CommandError, Exit, no_thread};
use crate::session::request_flags::SharedFlags;
use crate::session::signals;
use crate::session::waiting::{continued, due};
use crate::terminal::format::now_ms;
use crate::terminal::out;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use towpath_core::StatusKind;
use towpath_engine::is_owned;
use towpath_store::{RunFilter, RunRow, Store};

pub fn execute(flags: &SharedFlags, env: &Environment) -> Result<Exit, CommandError> {
    let mut results = Vec::new();
    let mut worst = Exit::Done;
    if let Some(store) = env.journal()? {
        let program = own_program()?;
        let signals = SignalRelay::start()?;
        for row in waiting(&store)? {
            // Looked at again for each: the run before it may have taken hours.
            let now = store.run(&row.id)?.filter(RunRow::waits);
            if now.is_none_or(|row| due(&row, 0) > now_ms()) || is_owned(&store, &row.id) {
                continue;
            }
            let (exit, result) = resumed(&program, &row, flags, &signals);
            worst = worse(worst, exit);
            results.push(json!({
                "run_id": row.id.as_str(),
                "recipe_name": row.recipe,
                "exit_code": exit as u8,
                "result": result,
            }));
            if signals.received().is_some() {
                break;
            }
        }
        if let Some(signal) = signals.received() {
            worst = worse(worst, Exit::of_signal(signal));
        }
    }
    if flags.json {
        out::json(&json!({ "schema": 1, "runs": results }));
    }
    Ok(worst)
}

fn worse(one: Exit, other: Exit) -> Exit {
    if other.severity() > one.severity() { other } else { one }
}

/// The runs that wait, the longest waiting first.
fn waiting(store: &Store) -> Result<Vec<RunRow>, CommandError> {
    let filter = RunFilter { status: Some(StatusKind::Waiting), ..RunFilter::default() };
    let mut rows = store.runs(&filter)?;
    rows.sort_by_key(|row| due(row, 0));
    Ok(rows)
}

fn resumed(
    program: &Path,
    row: &RunRow,
    flags: &SharedFlags,
    signals: &SignalRelay,
) -> (Exit, Value) {
    let id = &row.id;
    if !row.directory.is_dir() {
        let gone = row.directory.display();
        let message =
            format!("the run's directory {gone} is gone; to cancel the run: towpath cancel {id}");
        out::note(format!("error: run {id}: {message}"));
        return (Exit::Setup, json!({ "error": { "kind": "setup", "message": message } }));
    }
    let mut command = Command::new(program);
    command.args(["resume", id.as_str(), "--if-waiting"]).args(continued(flags));
    // A group of its own: a Ctrl-C reaches it once, from here.
    command.current_dir(&row.directory).stdin(Stdio::null()).process_group(0);
    if flags.json {
        command.stdout(Stdio::piped());
    }
    let child = match signals.spawn(&mut command) {
        Some(Ok(child)) => child,
        Some(Err(error)) => {
            out::note(format!("error: run {id}: cannot be resumed: {error}"));
            return (Exit::Setup, Value::Null);
        }
        None => return (Exit::Done, Value::Null),
    };
    let ended = child.wait_with_output();
    signals.state().0 = None;
    let Ok(output) = ended else { return (Exit::Setup, Value::Null) };
    let exit = output.status.code().and_then(Exit::from_code);
    (exit.unwrap_or(Exit::Setup), serde_json::from_slice(&output.stdout).unwrap_or(Value::Null))
}

/// Passes signals on to the current child, and remembers the last one.
struct SignalRelay(Arc<Mutex<(Option<Pid>, Option<i32>)>>);

impl SignalRelay {
    fn start() -> Result<SignalRelay, CommandError> {
        signals::block();
        let relay = SignalRelay(Arc::default());
        let other = SignalRelay(Arc::clone(&relay.0));
        let thread = std::thread::Builder::new().spawn(move || {
            loop {
                if let Some(signal) = signals::next(Duration::from_secs(3600)) {
                    other.deliver(signal);
                }
            }
        });
        thread.map(|_| relay).map_err(no_thread)
    }

    fn state(&self) -> MutexGuard<'_, (Option<Pid>, Option<i32>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn received(&self) -> Option<i32> {
        self.state().1
    }

    /// None: a signal has come, nothing more is started.
    fn spawn(&self, command: &mut Command) -> Option<std::io::Result<Child>> {
        let mut state = self.state();
        if state.1.is_some() {
            return None;
        }
        let started = command.spawn();
        state.0 = started.as_ref().ok().map(Pid::from_child);
        Some(started)
    }

    fn deliver(&self, number: i32) {
        let send = |signal| {
            let child = self.state().0;
            // One that has just ended needs no signal.
            let _ = child.map(|pid| kill_process(pid, signal));
        };
        match number {
            libc::SIGTSTP => {
                send(Signal::TSTP);
                signals::stop_here();
                send(Signal::CONT);
            }
            other => {
                self.state().1 = Some(other);
                Signal::from_named_raw(other).into_iter().for_each(send);
            }
        }
    }
}
