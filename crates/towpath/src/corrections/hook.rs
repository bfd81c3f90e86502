//! What a host's hook runs. It always succeeds: whatever goes wrong in here, a panic included, lets
//! the call run as the agent wrote it, and leaves one line in the log of errors.
//!
//! It is dispatched on the raw arguments and starts nothing.

use super::hook_errors;
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, Ended, Exit};
use serde_json::Value;
use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;
use towpath_corrections::hook::{HookCall, PaveCheck, any_payload};
use towpath_corrections::hooks_directory::HooksDirectory;
use towpath_corrections::host::{Answer, HookEvent, HookPayload, Host};
use towpath_store::ToolCallRow;

/// A larger payload is not read.
const MOST_PAYLOAD: u64 = 16 << 20;
/// Set to `off`, `0`, `false` or `no`, in any case, hooks do nothing at all.
pub const VARIABLE: &str = "TOWPATH_CORRECTIONS";

/// Answers `towpath hook …`; its help is left to the parser.
pub fn answer(invocation: &Invocation) -> Option<Ended> {
    let (first, arguments) = invocation.rest().split_first()?;
    let help = arguments.iter().any(|argument| argument == "--help" || argument == "-h");
    if first != "hook" || help {
        return None;
    }
    run(arguments, invocation);
    Some(Ok(Exit::Done).into())
}

/// Answers one call of a hook on stdout.
pub fn run(arguments: &[OsString], invocation: &Invocation) {
    let called = HookArguments::parse(arguments);
    let answered = guarded(|| {
        let HookArguments { event, host } = called.clone()?;
        hook(event, host, invocation).map_err(|error| error.message)
    });
    let answer = answered.unwrap_or_else(|message| {
        let what = called.as_ref().map_or_else(|_| "hook".to_owned(), HookArguments::to_string);
        report(invocation, &what, &message);
        Answer::none(called.ok().map(|called| called.host.dialect()))
    });
    // A host that does not read the answer does not use it either.
    let _ = std::io::stdout().lock().write_all(answer.stdout.as_bytes());
}

/// Records a failure where `doctor` finds it.
fn report(invocation: &Invocation, what: &str, message: &str) {
    if let Ok(env) = invocation.environment() {
        hook_errors::record(&HooksDirectory::of(&env.directories.state), what, message);
        // Typed by a user, who waits for an answer.
        if env.stderr_terminal {
            let _ = writeln!(std::io::stderr(), "towpath hook {what}: {message}");
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HookArguments {
    event: HookEvent,
    host: Host,
}

impl std::fmt::Display for HookArguments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.event.name(), self.host.name())
    }
}

impl HookArguments {
    /// `EVENT --host NAME`, in any order.
    fn parse(arguments: &[OsString]) -> Result<HookArguments, String> {
        let mut event = None;
        let mut host = None;
        let mut words = arguments.iter().map(|argument| argument.to_string_lossy());
        while let Some(word) = words.next() {
            let named = match word.strip_prefix("--host") {
                Some("") => Some(words.next().unwrap_or_default().into_owned()),
                Some(rest) => rest.strip_prefix('=').map(str::to_owned),
                None => None,
            };
            match (named, HookEvent::from_name(&word)) {
                (Some(name), _) => {
                    host = Some(Host::from_name(&name).ok_or(format!("no host {name:?}"))?);
                }
                (None, Some(found)) => event = Some(found),
                (None, None) => return Err(format!("no hook {word:?}")),
            }
        }
        match (event, host) {
            (Some(event), Some(host)) => Ok(HookArguments { event, host }),
            (None, _) => Err("the event is missing".to_owned()),
            (_, None) => Err("the host is missing".to_owned()),
        }
    }
}

/// Runs work that may panic. What the panic reports is the error.
fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    static PANIC: Mutex<String> = Mutex::new(String::new());
    set_hook(Box::new(|panic| {
        if let Ok(mut message) = PANIC.lock() {
            *message = panic.to_string();
        }
    }));
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let message = PANIC.lock().map(|message| message.clone()).unwrap_or_default();
        Err(format!("a fault in towpath: {message}"))
    })
}

fn hook(event: HookEvent, host: Host, invocation: &Invocation) -> Result<Answer, CommandError> {
    let payload = read_stdin()?;
    if is_off(invocation) {
        return Ok(Answer::none(Some(host.dialect())));
    }
    watch(&payload, HookArguments { event, host }.to_string(), invocation);
    let payload = parse(event, host, &payload)?;
    with_call(invocation.environment()?, payload, |call| Ok(call.answer()?))
}

/// Works on one call, and records what went wrong beside the answer.
fn with_call<T>(
    env: &Environment,
    payload: HookPayload,
    work: impl FnOnce(&HookCall<'_>) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let call = HookCall::new(env, payload);
    let done = work(&call);
    let directory = HooksDirectory::of(&env.directories.state);
    for problem in call.problems() {
        hook_errors::record(&directory, &problem.what, &problem.message);
    }
    done
}

/// Answers one call as `dp pave-check` does, from the rules of the user or from those in another
/// database. What fails lets the call run.
pub fn pave_check(invocation: &Invocation, database: Option<&Path>) -> PaveCheck {
    let check = || {
        let payload = read_stdin()?;
        if is_off(invocation) {
            return Ok(PaveCheck::default());
        }
        watch(&payload, "pave-check".to_owned(), invocation);
        let payload = parse(HookEvent::Pre, Host::ClaudeCode, &payload)?;
        with_call(invocation.environment()?, payload, |call| Ok(call.pave_check(database)?))
    };
    let checked = guarded(|| check().map_err(|error: CommandError| error.message));
    checked.unwrap_or_else(|message| {
        report(invocation, "pave-check", &message);
        PaveCheck::default()
    })
}

/// Records one call from its description on stdin, in the log of hooks or in another journal.
pub fn ingest(
    env: &Environment,
    host: Host,
    database: Option<&Path>,
) -> Result<ToolCallRow, CommandError> {
    let failed = |error: &dyn std::fmt::Display| {
        CommandError::bad_input(format!("extracting fields: {error}"))
    };
    let payload: Value = serde_json::from_slice(&read_stdin()?).map_err(|error| failed(&error))?;
    let payload = any_payload(host, &payload).map_err(|error| failed(&error))?;
    with_call(env, payload, |call| Ok(call.ingest(database)?))
}

/// A shorter payload is always read in time, and needs no thread that watches.
const LONG: usize = 4 << 10;
/// A user notices a tool call that begins later than this.
const MOST_TIME: Duration = Duration::from_secs(2);

/// Ends this process after a time, as if there were no rules. Most lines take a fraction of a
/// millisecond, but there are texts below the limit of 64 kB that take the parser of bash minutes.
fn watch(payload: &[u8], what: String, invocation: &Invocation) {
    let Ok(env) = invocation.environment() else { return };
    if payload.len() <= LONG {
        return;
    }
    let directory = HooksDirectory::of(&env.directories.state);
    let give_up = move || {
        std::thread::sleep(MOST_TIME);
        let message = format!("no answer after {} s: the call runs as it is", MOST_TIME.as_secs());
        hook_errors::record(&directory, &what, &message);
        std::process::exit(0);
    };
    // Without a thread there is no deadline; the host has its own.
    let _ = std::thread::Builder::new().spawn(give_up);
}

fn is_off(invocation: &Invocation) -> bool {
    switch(invocation.variable(VARIABLE)) == Switch::Off
}

/// What the variable of an agent's environment means for corrections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Switch {
    On,
    Off,
    /// A value without a meaning: corrections are on.
    Unknown(String),
}

pub fn switch(value: Option<&OsString>) -> Switch {
    let value = value.map(|value| value.to_string_lossy().into_owned()).unwrap_or_default();
    match value.trim().to_ascii_lowercase().as_str() {
        "off" | "0" | "false" | "no" => Switch::Off,
        "" | "on" | "1" | "true" | "yes" => Switch::On,
        _ => Switch::Unknown(value),
    }
}

fn parse(event: HookEvent, host: Host, payload: &[u8]) -> Result<HookPayload, CommandError> {
    let payload = serde_json::from_slice(payload)
        .map_err(|error| CommandError::bad_input(format!("the payload is no JSON: {error}")))?;
    host.read(event, &payload).map_err(|error| CommandError::bad_input(error.to_string()))
}

fn read_stdin() -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MOST_PAYLOAD + 1).read_to_end(&mut bytes);
    match read {
        Ok(read) if read as u64 > MOST_PAYLOAD => {
            Err(CommandError::bad_input("the payload is larger than 16 MiB"))
        }
        Ok(_) => Ok(bytes),
        Err(error) => Err(CommandError::bad_input(format!("the payload cannot be read: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_an_event_and_a_host() {
        let parse = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            HookArguments::parse(&words)
        };
        let gemini = Ok(HookArguments { event: HookEvent::Pre, host: Host::Gemini });
        assert_eq!(parse(&["pre", "--host", "gemini"]), gemini);
        assert_eq!(parse(&["--host=gemini", "pre"]), gemini);
        for wrong in [
            &["pre"][..],
            &["--host", "gemini"],
            &["pre", "--host"],
            &["pre", "--host", "vim"],
            &["pre", "--hosts", "gemini"],
            &["now", "--host", "gemini"],
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn corrections_are_turned_off_in_every_usual_spelling() {
        let of = |value: &str| switch(Some(&OsString::from(value)));
        for off in ["off", "OFF", "Off", "0", "false", "False", "no", "NO", " off "] {
            assert_eq!(of(off), Switch::Off, "{off}");
        }
        for on in ["", "on", "1", "TRUE", "yes"] {
            assert_eq!(of(on), Switch::On, "{on}");
        }
        assert_eq!((of("of"), switch(None)), (Switch::Unknown("of".to_owned()), Switch::On));
    }

    #[test]
    fn a_panic_is_an_error() {
        let failed = guarded(|| -> Result<(), String> { panic!("oh no") });
        assert!(failed.as_ref().is_err_and(|message| message.contains("oh no")), "{failed:?}");
        assert_eq!(guarded(|| Ok(1)), Ok(1));
        let _ = std::panic::take_hook();
    }
}
