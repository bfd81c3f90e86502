//! Writes to stdout and stderr from a thread of its own, in order, so that a reader that does not
//! read (a pager left open) never delays the run: its deadlines and signals continue. What is
//! waiting is bounded by whoever asks [`Writer::ready`] before bringing more.

use crate::terminal::out;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use towpath_engine::Stream;

/// More than this waiting, and the reporter is not ready for more output.
const ENOUGH: usize = 1 << 20;

#[derive(Debug, Default)]
struct Queue {
    items: VecDeque<(Stream, Vec<u8>)>,
    /// Bytes that are not written yet.
    waiting: usize,
    closed: bool,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug)]
pub struct Writer {
    shared: Arc<Shared>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Writer {
    /// The thread starts with the first text, because the warden must be forked before it.
    pub fn new() -> Writer {
        Writer { shared: Arc::default(), thread: None }
    }

    pub fn write(&mut self, stream: Stream, bytes: &[u8]) {
        if self.thread.is_none() {
            let shared = Arc::clone(&self.shared);
            self.thread = std::thread::Builder::new().spawn(move || work(&shared)).ok();
        }
        if self.thread.is_none() {
            // The machine has no more threads: a slow reader is waited for.
            return print(stream, bytes);
        }
        let mut queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.waiting += bytes.len();
        match queue.items.back_mut() {
            Some((last, text)) if *last == stream && text.len() < 4096 => {
                text.extend_from_slice(bytes);
            }
            _ => queue.items.push_back((stream, bytes.to_owned())),
        }
        self.shared.changed.notify_all();
    }

    pub fn ready(&self) -> bool {
        let queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.waiting < ENOUGH
    }

    /// Waits until everything is written, at most this long.
    pub fn flush(&self, patience: Duration) {
        let end = Instant::now() + patience;
        let mut queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        while queue.waiting > 0 && Instant::now() < end {
            let left = end.saturating_duration_since(Instant::now());
            let waited = self.shared.changed.wait_timeout(queue, left);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Writer {
    /// Everything is written before anything else is printed.
    fn drop(&mut self) {
        self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn print(stream: Stream, bytes: &[u8]) {
    match stream {
        Stream::Stdout => out::stdout(bytes),
        Stream::Stderr => out::stderr(bytes),
    }
}

fn work(shared: &Shared) {
    loop {
        let mut queue = shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        while queue.items.is_empty() && !queue.closed {
            queue = shared.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        let Some((stream, bytes)) = queue.items.pop_front() else { return };
        drop(queue);
        print(stream, &bytes);
        let mut queue = shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.waiting -= bytes.len();
        shared.changed.notify_all();
    }
}
