//! The log for finding faults: one line per decision, where `TOWPATH_LOG` asks for it. Without that
//! variable nothing subscribes, and a log line costs one comparison.

use crate::environment::Invocation;
use crate::terminal::out;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::layer::SubscriberExt as _;

/// Starts the log that the environment asks for. A bad request is reported and changes nothing else.
pub fn start(invocation: &Invocation) {
    let given = |name: &str| invocation.variable(name).filter(|value| !value.is_empty());
    if let Some(wanted) = given("TOWPATH_LOG")
        && let Err(why) = subscribe(&wanted.to_string_lossy(), given("TOWPATH_LOG_FILE"))
    {
        out::note(format!("warning: {why}; nothing is logged"));
    }
}

fn subscribe(wanted: &str, path: Option<&OsString>) -> Result<(), String> {
    let targets: Targets = wanted.parse().map_err(|_| {
        format!("TOWPATH_LOG={wanted}: write a level such as `debug`, or `CRATE=LEVEL,…`")
    })?;
    let file = path.map(|path| open(Path::new(path))).transpose()?.map(Arc::new);
    let lines = layer().with_ansi(false).with_writer(move || LogWriter { file: file.clone() });
    let log = tracing_subscriber::registry().with(lines).with(targets);
    tracing::subscriber::set_global_default(log).map_err(|error| error.to_string())
}

fn open(path: &Path) -> Result<File, String> {
    let opened = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    opened.map_err(|error| format!("TOWPATH_LOG_FILE={}: {error}", path.display()))
}

/// Writes whole lines to the file, or to stderr where there is none, without secrets.
struct LogWriter {
    file: Option<Arc<File>>,
}

impl Write for LogWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let masked = out::masked(&String::from_utf8_lossy(line));
        match &self.file {
            Some(file) => file.as_ref().write_all(masked.as_bytes())?,
            None => out::stderr(masked.as_bytes()),
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
