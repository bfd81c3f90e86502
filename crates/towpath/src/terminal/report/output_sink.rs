//! Where a reporter writes, and the little it asks of the outside: how large the terminal is, and
//! what time it is.

use crate::terminal::report::writer::Writer;
use rustix::stdio;
use std::time::{Duration, Instant};
use towpath_engine::Stream;

pub trait Sink {
    fn stdout(&mut self, bytes: &[u8]);
    fn stderr(&mut self, bytes: &[u8]);
    /// Whether more output can be taken now without waiting for a reader.
    fn ready(&self) -> bool {
        true
    }
    /// Waits a little until what was written can be seen.
    fn settle(&mut self) {}
    /// Columns and rows of the terminal.
    fn size(&self) -> (usize, usize);
    /// Milliseconds on a clock that never goes back.
    fn now_ms(&self) -> i64;
}

/// The process's own streams.
#[derive(Debug)]
pub struct Standard {
    began: Instant,
    writer: Writer,
}

impl Standard {
    pub fn new() -> Standard {
        Standard { began: Instant::now(), writer: Writer::new() }
    }
}

impl Sink for Standard {
    fn stdout(&mut self, bytes: &[u8]) {
        self.writer.write(Stream::Stdout, bytes);
    }

    fn stderr(&mut self, bytes: &[u8]) {
        self.writer.write(Stream::Stderr, bytes);
    }

    fn ready(&self) -> bool {
        self.writer.ready()
    }

    fn settle(&mut self) {
        self.writer.flush(Duration::from_millis(300));
    }

    fn size(&self) -> (usize, usize) {
        size()
    }

    fn now_ms(&self) -> i64 {
        i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX)
    }
}

/// Columns and rows of the terminal on stderr; a terminal that does not report its size has 80 by 24.
pub fn size() -> (usize, usize) {
    match rustix::termios::tcgetwinsize(stdio::stderr()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
            (usize::from(size.ws_col), usize::from(size.ws_row))
        }
        _ => (80, 24),
    }
}

/// Whether stdout and stderr lead to the same file, pipe or terminal.
pub fn joined() -> bool {
    let (Ok(out), Ok(err)) =
        (rustix::fs::fstat(stdio::stdout()), rustix::fs::fstat(stdio::stderr()))
    else {
        return false;
    };
    (out.st_dev, out.st_ino, out.st_rdev) == (err.st_dev, err.st_ino, err.st_rdev)
}
