//! All that is written to stdout and stderr. A closed pipe means that the reader has read enough: it
//! ends our output, never with an error or a panic. Secrets are masked in our own text; the output of
//! steps is passed on as it is, because it was masked where it was captured.

use crate::terminal::wrap::wrap;
use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use towpath_core::{RunId, Secrets};

static CLOSED: AtomicBool = AtomicBool::new(false);
static FAILED: AtomicBool = AtomicBool::new(false);
static SECRETS: OnceLock<Secrets> = OnceLock::new();
static PAGE: OnceLock<PageAddress> = OnceLock::new();

/// The address of a run's page.
pub type PageAddress = Box<dyn Fn(&RunId) -> String + Send + Sync>;

/// Names the page of a run where the run is announced. A process has one server of the page.
pub fn name_page(address: PageAddress) {
    let _ = PAGE.set(address);
}

/// The page of a run; none where no server of it is up.
pub fn page_address(run: &RunId) -> Option<String> {
    PAGE.get().map(|address| address(run))
}

/// Masks these in our own text from now on. A process has one set of them.
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
    // There is no other stream to report this on.
    let _ = io::stderr().lock().write_all(bytes);
}

pub fn line(text: impl AsRef<str>) {
    stdout(format!("{}\n", secrets().mask(text.as_ref())).as_bytes());
}

/// A message on stderr, wrapped at the width of a terminal.
pub fn note(text: impl AsRef<str>) {
    let text = match stderr_width() {
        Some(width) => wrap(text.as_ref(), width),
        None => text.as_ref().to_owned(),
    };
    message(&format!("{text}\n"));
}

/// The columns of stderr, where that is a terminal.
fn stderr_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Prints a note on stderr, each once: a command may ask for the same settings several times.
pub fn note_once(text: String) {
    static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    if !printed.contains(&text) {
        note(&text);
        printed.insert(text);
    }
}

/// Our own text to stderr, with its line ends as they are.
pub fn message(text: &str) {
    stderr(secrets().mask(text).as_bytes());
}

/// Our own text without secrets, to be written elsewhere.
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
