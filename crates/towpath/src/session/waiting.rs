//! `--wait`: waits until an agent's rate limit resets, then continues the run. While it waits, this
//! process owns the run and does nothing else. The journal records that the run waits, so that nothing
//! is lost however this process ends. It continues by becoming `towpath resume`: a run must begin in a
//! process without threads.

use super::choose_agent::AgentFlags;
use super::drive_run::forget_request;
use super::request_flags::SharedFlags;
use super::signals;
use super::time_flags::LIMITS;
use crate::environment::own_program;
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::terminal::format::{clean, duration, local_time, now_ms};
use crate::terminal::out;
use crate::terminal::report::{OutputOptions, columns};
use crate::terminal::screen::cut;
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::Duration;
use towpath_core::{FaultKind, RunId, RunStatus};
use towpath_engine::{RunEnd, TakenRun, cancel_owned, census};
use towpath_run::{Run, RunOutcome};
use towpath_store::{RunRow, Store};

/// Clocks differ a little.
const MARGIN_MS: i64 = 1_000;
/// The first wait for a rate limit without a known end, and the longest.
const UNKNOWN_MS: i64 = 15 * 60_000;
const LONGEST_MS: i64 = 60 * 60_000;
/// The first wait after a rate limit that should have been over and was not. It doubles, six times at
/// most.
const AGAIN_MS: i64 = 15_000;

/// When a run that began to wait at `since` is worth a try. `failed_tries` counts the tries that met the
/// rate limit again without a step done.
fn due_ms(since: i64, until: Option<i64>, failed_tries: u32) -> i64 {
    match until {
        Some(until) => {
            let floor = failed_tries.checked_sub(1).map_or(0, |more| AGAIN_MS << more.min(6));
            until.saturating_add(MARGIN_MS).max(since + floor)
        }
        None => since + (UNKNOWN_MS << failed_tries.min(8)).min(LONGEST_MS),
    }
}

/// When a waiting run may continue. After other faults the run itself decides how long it waits.
pub fn due(row: &RunRow, failed_tries: u32) -> i64 {
    let status = &row.summary.status;
    let limited = matches!(status, RunStatus::Waiting { why: FaultKind::Limit, .. });
    let failed_tries = if limited { failed_tries } else { 0 };
    due_ms(row.summary.ended_ms.unwrap_or(row.created_ms), status.waits_until(), failed_tries)
}

/// Waits until a run that this process owns may continue. A signal leaves it waiting.
pub fn until_due(
    taken: TakenRun,
    store: &mut Store,
    id: &RunId,
    failed_tries: u32,
    output: &OutputOptions,
) -> Result<TakenRun, CommandError> {
    let Some(row) = store.run(id)?.filter(RunRow::waits) else {
        return Ok(taken);
    };
    signals::block();
    let cancel = store.run_directory(id).join("cancel");
    forget_request(&cancel)?;
    let due = due(&row, failed_tries);
    let mut shown = Countdown::new(&row, due, output);
    loop {
        let left = due - now_ms();
        if left <= 0 {
            shown.clear();
            return Ok(taken);
        }
        shown.draw(left);
        let pause = Duration::from_millis(left.unsigned_abs().min(1_000));
        match signals::next(pause) {
            None => {}
            Some(libc::SIGTSTP) => {
                shown.clear();
                signals::stop_here();
            }
            Some(libc::SIGTERM) if cancel.exists() => {
                shown.clear();
                cancel_owned(store, id, LIMITS, taken.into_lock(), &|_| None)?;
                let message = format!("run {id} was cancelled while it waited");
                out::note(&message);
                return Err(already_shown(Exit::Terminated, ErrorKind::Cancelled, message));
            }
            Some(signal) => {
                shown.clear();
                let message = format!("run {id} is left waiting; to resume: towpath resume {id}");
                out::note(&message);
                let exit = Exit::of_signal(signal);
                return Err(already_shown(exit, ErrorKind::LeftWaiting, message));
            }
        }
    }
}

fn already_shown(exit: Exit, kind: ErrorKind, message: String) -> CommandError {
    CommandError { shown: true, ..CommandError::new(exit, kind, message) }
}

/// What is shown while the run waits: a line that counts down on a terminal, else one line once.
struct Countdown {
    what: String,
    width: Option<usize>,
    drawn: bool,
}

impl Countdown {
    fn new(row: &RunRow, due: i64, output: &OutputOptions) -> Countdown {
        let now = now_ms();
        let name = clean(&row.recipe);
        let next = local_time(due, now);
        let what = match &row.summary.status {
            RunStatus::Waiting { why: FaultKind::Limit, until_ms: Some(until) } => {
                format!("{name} waits for the agent's rate limit until {}", local_time(*until, now))
            }
            RunStatus::Waiting { why: FaultKind::Limit, until_ms: None } => {
                format!("{name} waits for the agent's rate limit; next try at {next}")
            }
            status => format!("{name} waits (agent: {}); next try at {next}", status.waits_for()),
        };
        let terminal = output.terminal && !output.quiet;
        if !terminal && !output.quiet {
            out::note(format!("{what}, then continues (run {})", row.id));
        }
        Countdown { what, width: terminal.then(columns), drawn: false }
    }

    fn draw(&mut self, left: i64) {
        let Some(width) = self.width else { return };
        // Rounded up: the last second is still one.
        let left = duration((left + 999) / 1000 * 1000).replace(".0 s", " s");
        let line = format!("? {}, {left} left · Ctrl-C to leave it waiting", self.what);
        // Room for the `^C` that the terminal writes.
        let line = cut(&line, width.saturating_sub(3));
        out::stderr(format!("\r\u{1b}[K{line}").as_bytes());
        self.drawn = true;
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            out::stderr(b"\r\x1b[K");
        }
    }
}

/// How a run with `--wait` continues where an agent lets it wait.
#[derive(Debug, Default)]
pub struct Waiting {
    agent: AgentFlags,
    /// The completed steps before this try, and the tries before it that completed none. None for a
    /// new run.
    before: Option<(usize, u32)>,
}

impl Waiting {
    /// For a run that is resumed, after so many failed tries.
    pub fn after(run: &Run, failed_tries: u32, agent: &AgentFlags) -> Waiting {
        Waiting { agent: agent.clone(), before: Some((census(run).completed, failed_tries)) }
    }

    /// Where the run waits, becomes `towpath resume RUN --wait`. Comes back where it does not wait, or
    /// where that is not possible: then the run waits as it would without `--wait`.
    pub fn resume(&self, end: &RunEnd, shared: &SharedFlags) {
        if !matches!(end.outcome, RunOutcome::Waiting { .. }) {
            return;
        }
        let why = match own_program() {
            Ok(program) => {
                let mut command = Command::new(program);
                command.args(words(&end.id, self.failed_tries(&end.run), &self.agent, shared));
                // A Ctrl-C that comes just now is kept for the process that waits.
                // SAFETY: it runs in this process, which is about to be replaced; it only sets a
                // mask.
                unsafe { command.pre_exec(signals::keep_blocked) };
                command.exec().to_string()
            }
            Err(error) => error.message,
        };
        out::note(format!("warning: this program cannot be started again to wait: {why}"));
    }

    /// The failed tries, this one included. A step that is done makes the rate limit a new one.
    fn failed_tries(&self, run: &Run) -> u32 {
        match self.before {
            Some((completed, failed_tries)) if completed == census(run).completed => {
                failed_tries + 1
            }
            _ => 0,
        }
    }
}

fn words(id: &RunId, failed_tries: u32, agent: &AgentFlags, shared: &SharedFlags) -> Vec<OsString> {
    let failed_tries = failed_tries.to_string();
    let mut words: Vec<OsString> =
        ["resume", id.as_str(), "--wait", "--in-vain", &failed_tries].map(Into::into).into();
    words.extend(continued(shared).iter().map(Into::into));
    let named = [
        ("--backend", agent.backend.as_ref().map(OsString::from)),
        ("--script", agent.script.clone().map(OsString::from)),
        ("--agent-path", agent.program.clone().map(OsString::from)),
        ("--calls", agent.calls.clone().map(OsString::from)),
        ("--events", shared.events.format.map(|format| format.as_str().into())),
        ("--events-file", shared.events.file.clone().map(OsString::from)),
    ];
    for (flag, value) in named {
        if let Some(value) = value {
            words.extend([flag.into(), value]);
        }
    }
    words
}

/// The flags of `run` and `resume` that are passed on to a process that continues the run.
pub fn continued(shared: &SharedFlags) -> Vec<String> {
    let all = [
        (shared.json, "--json"),
        (shared.with_context, "--with-context"),
        (shared.quiet, "--quiet"),
        (shared.verbose, "--verbose"),
    ];
    let set = all.into_iter().filter(|(set, _)| *set).map(|(_, flag)| flag.to_owned());
    set.chain(shared.times.words()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::time_flags::TimeFlags;
    use crate::terminal::report::EventFlags;
    use crate::terminal::report::events_for_programs::Format;

    const MINUTE: i64 = 60_000;

    #[test]
    fn a_known_end_is_waited_for_with_a_margin() {
        assert_eq!(due_ms(1_000, Some(50_000), 0), 51_000);
        assert_eq!(due_ms(1_000, Some(0), 0), 1_000, "over already: at once");
    }

    #[test]
    fn a_rate_limit_that_lasts_longer_than_announced_is_not_tried_in_a_hot_loop() {
        let waits: Vec<i64> =
            (1..9).map(|failed_tries| due_ms(0, Some(-5), failed_tries) / 1000).collect();
        assert_eq!(waits, [15, 30, 60, 120, 240, 480, 960, 960]);
        assert_eq!(due_ms(0, Some(99 * MINUTE), 3), 99 * MINUTE + MARGIN_MS);
    }

    #[test]
    fn an_unknown_end_is_tried_after_a_quarter_of_an_hour_and_then_more_rarely() {
        let waits: Vec<i64> =
            (0..4).map(|failed_tries| due_ms(0, None, failed_tries) / MINUTE).collect();
        assert_eq!(waits, [15, 30, 60, 60]);
        assert_eq!(due_ms(0, None, u32::MAX) / MINUTE, 60);
        assert_eq!(due_ms(0, Some(i64::MAX), u32::MAX), i64::MAX);
    }

    #[test]
    fn the_flags_are_passed_on() {
        let id = RunId::new("7f3k").expect("an id");
        let agent = AgentFlags { script: Some("s.jsonl".into()), ..AgentFlags::default() };
        let shared = SharedFlags {
            times: TimeFlags::default(),
            json: true,
            quiet: true,
            events: EventFlags { format: Some(Format::Json), file: None },
            ..SharedFlags::default()
        };
        let words = words(&id, 2, &agent, &shared);
        let expected = [
            "resume",
            "7f3k",
            "--wait",
            "--in-vain",
            "2",
            "--json",
            "--quiet",
            "--script",
            "s.jsonl",
            "--events",
            "json",
        ];
        assert_eq!(words, expected);
    }
}
