//! What a host's hook runs. It always succeeds: whatever goes wrong in here, a panic included, lets
//! the call run as the agent wrote it, and leaves one line in the log of errors.
//!
//! It is dispatched on the raw arguments and starts nothing. On the way to an answer it opens no
//! database: rules come from the snapshot, what happened goes to a log.

mod after_batch;
mod after_call;
mod append_call_to_log;
mod before_call;
mod deadline;
mod dp_before_call;
mod record_call_from_stdin;

pub use dp_before_call::{PaveCheck, pave_check};
pub use record_call_from_stdin::ingest;

use super::canonical_rule_directories::resolved;
use super::hook_errors;
use super::hook_rules_snapshot::{HookRules, rules_for};
use super::hooks_directory::HooksDirectory;
use crate::environment::{Environment, Invocation};
use crate::exit_codes_and_errors::{CommandError, Ended, Exit};
use crate::terminal::format::now_ms;
use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Mutex;
use towpath_corrections::ToolCall;
use towpath_corrections::host::{Answer, HookEvent, HookPayload, Host};

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

/// One call of a hook, with what is needed to answer it.
#[derive(Debug)]
struct HookCall<'a> {
    env: &'a Environment,
    directory: HooksDirectory,
    payload: HookPayload,
    /// The host's version, where the payload or the environment has it.
    version: Option<String>,
    at_ms: i64,
}

impl<'a> HookCall<'a> {
    fn new(env: &'a Environment, mut payload: HookPayload) -> HookCall<'a> {
        // A host that names no directory calls its hooks in it.
        let current = || env.current.to_str().map(str::to_owned);
        let directory = payload.call.directory.or_else(current);
        payload.call.directory = directory.as_deref().map(resolved);
        for one in &mut payload.batch {
            one.call.directory = one.call.directory.as_deref().map(resolved);
        }
        let variable = |name: &str| env.text(name);
        let version = payload.version.clone();
        HookCall {
            env,
            directory: HooksDirectory::of(&env.directories.state),
            version: version.or_else(|| payload.host.version_of_environment(&variable)),
            payload,
            at_ms: now_ms(),
        }
    }

    /// The rules that a call may need.
    fn rules(&self, call: &ToolCall) -> Result<HookRules, CommandError> {
        let mut rules = rules_for(self.env, call)?;
        self.note(rules.problem.take().map_or(Ok(()), Err));
        Ok(rules)
    }

    /// Reports what went wrong beside the answer.
    fn note<T, E: std::fmt::Display>(&self, result: Result<T, E>) -> Option<T> {
        let what = HookArguments { event: self.payload.event, host: self.payload.host };
        result
            .map_err(|e| hook_errors::record(&self.directory, &what.to_string(), &e.to_string()))
            .ok()
    }
}

fn hook(event: HookEvent, host: Host, invocation: &Invocation) -> Result<Answer, CommandError> {
    let payload = read_stdin()?;
    if is_off(invocation) {
        return Ok(Answer::none(Some(host.dialect())));
    }
    deadline::watch(&payload, HookArguments { event, host }.to_string(), invocation);
    let payload = parse(event, host, &payload)?;
    let call = HookCall::new(invocation.environment()?, payload);
    match event {
        HookEvent::Pre => before_call::answer(&call),
        HookEvent::Post | HookEvent::Failure => after_call::answer(&call),
        HookEvent::Batch => after_batch::answer(&call),
    }
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
