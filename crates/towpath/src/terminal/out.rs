//! Our one way to stdout and stderr. A closed pipe is the reader's way of saying "enough": it ends
//! our output, never with an error or a panic. What we say ourselves is without secrets; the output
//! of steps is passed on as it is, for it was masked where it was taken.

use std::io::{self, Write as _};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use towpath_core::Secrets;

static CLOSED: AtomicBool = AtomicBool::new(false);
static FAILED: AtomicBool = AtomicBool::new(false);
static SECRETS: OnceLock<Secrets> = OnceLock::new();

/// Masks these in what we say from now on. A process has one set of them.
pub fn hide(secrets: &Secrets) {
    let _ = SECRETS.set(secrets.clone());
}

fn secrets() -> Secrets {
    SECRETS.get().cloned().unwrap_or_default()
}

/// Whether something that should be on stdout is lost, other than by a closed pipe.
pub fn failed() -> bool {
    FAILED.load(Ordering::Relaxed)
}

/// Writes to stdout; silent once the reader has gone. A full disk is remembered.
pub fn stdout(bytes: &[u8]) {
    if CLOSED.load(Ordering::Relaxed) {
        return;
    }
    let mut out = io::stdout().lock();
    if let Err(error) = out.write_all(bytes).and_then(|()| out.flush()) {
        CLOSED.store(true, Ordering::Relaxed);
        if error.kind() != io::ErrorKind::BrokenPipe {
            FAILED.store(true, Ordering::Relaxed);
            stderr(format!("error: cannot write to stdout: {error}\n").as_bytes());
        }
    }
}

pub fn stderr(bytes: &[u8]) {
    // There is nowhere left to complain to.
    let _ = io::stderr().lock().write_all(bytes);
}

pub fn line(text: impl AsRef<str>) {
    stdout(format!("{}\n", secrets().mask(text.as_ref())).as_bytes());
}

pub fn note(text: impl AsRef<str>) {
    say(&format!("{}\n", text.as_ref()));
}

/// Our own words, as they are, to stderr.
pub fn say(text: &str) {
    stderr(secrets().mask(text).as_bytes());
}

/// Our own words without secrets, for whoever writes them elsewhere.
pub fn masked(text: &str) -> String {
    secrets().mask(text).into_owned()
}

/// One JSON object, alone on stdout.
pub fn json(value: &serde_json::Value) {
    let mut value = value.clone();
    secrets().mask_value(&mut value);
    let text = serde_json::to_string_pretty(&value).expect("a JSON value can be written");
    stdout(format!("{text}\n").as_bytes());
}
