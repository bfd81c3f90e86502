//! Masks a stream that comes in pieces. What could be the beginning of a secret is kept back until
//! it is known to be one or not, so that where the pieces are cut makes no difference. Every byte is
//! read once. Occurrences that overlap become one mask.

use super::escaped_spellings::Thread;
use super::{Known, MASK};
use std::sync::Arc;

/// What ends with this much of a secret's beginning was interrupted while writing it.
const RECOGNIZABLE: usize = 8;

#[derive(Debug)]
pub struct Masker {
    known: Arc<Known>,
    /// What the last bytes may be the beginning of.
    threads: Vec<Thread>,
    /// Secrets that were read to their end, in their order, by start and by end.
    hits: Vec<Hit>,
    /// Not given out yet.
    kept_back: Vec<u8>,
    /// The offset of `kept_back` in the stream.
    offset: u64,
    /// Where the last mask that was given ends.
    covered: u64,
    out: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Hit {
    start: u64,
    end: u64,
    secret: usize,
}

impl Masker {
    pub(super) fn new(known: Arc<Known>) -> Masker {
        let (threads, hits, kept_back, out) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Masker { known, threads, hits, kept_back, offset: 0, covered: 0, out }
    }

    /// Takes a piece, and gives what can be shown by now.
    pub fn push(&mut self, piece: &[u8]) -> &[u8] {
        self.read(piece);
        let undecided = self.threads.iter().map(|thread| thread.start).min();
        self.give(undecided.unwrap_or(self.end()));
        &self.out
    }

    /// Gives what is kept back only because a line ended with the first character of a secret: the
    /// writer pauses, and a reader waits for the line.
    pub fn pause(&mut self) -> &[u8] {
        self.threads.retain(|thread| !(thread.length() == 1 && thread.in_break()));
        self.push(b"")
    }

    /// Gives what is kept back, because the caller wants all there is now; more may follow. A long
    /// beginning of a secret is masked.
    pub fn flush(&mut self) -> &[u8] {
        let begun: Vec<Thread> =
            self.threads.iter().filter(|t| t.length() >= RECOGNIZABLE).copied().collect();
        for thread in begun {
            // What follows may be the first part of an escape; a line's end is no part of the secret.
            let end = if thread.in_break() { thread.reach } else { self.end() };
            // Which secret it is does not matter any more.
            self.hit(Hit { start: thread.start, end, secret: 0 });
        }
        self.give(self.end());
        &self.out
    }

    /// Gives what is kept back, because nothing follows.
    pub fn finish(&mut self) -> &[u8] {
        self.flush();
        self.threads.clear();
        &self.out
    }

    /// The secret that was found first.
    pub(super) fn found(mut self, bytes: &[u8]) -> Option<usize> {
        self.read(bytes);
        self.hits.first().map(|hit| hit.secret)
    }

    fn end(&self) -> u64 {
        self.offset + self.kept_back.len() as u64
    }

    fn read(&mut self, piece: &[u8]) {
        let known = Arc::clone(&self.known);
        let base = self.end();
        let (mut at, mut next) = (0, Vec::new());
        while at < piece.len() {
            if self.threads.is_empty() {
                at = known.forms.next_start(piece, at);
            }
            let Some(byte) = piece.get(at) else { break };
            let offset = base + at as u64;
            for thread in &self.threads {
                thread.read(&known.forms, *byte, offset, &mut |thread| next.push(thread));
            }
            let starting = known.forms.starting(*byte, piece.get(at + 1).copied());
            next.extend(starting.iter().map(|thread| thread.begun(offset)));
            self.settle(&mut next, offset + 1);
            at += 1;
        }
        self.kept_back.extend_from_slice(piece);
    }

    /// Takes the threads of one byte: the complete ones as hits, of equal ones the first.
    fn settle(&mut self, next: &mut Vec<Thread>, end: u64) {
        if next.len() > 1 {
            next.sort_unstable();
            next.dedup_by(|later, first| first.same(later));
        }
        self.threads.clear();
        for thread in next.drain(..) {
            match thread.complete(&self.known.forms) {
                None => self.threads.push(thread),
                Some(secret) => self.hit(Hit { start: thread.start, end, secret }),
            }
        }
    }

    /// Hits come by their end.
    fn hit(&mut self, hit: Hit) {
        while self.hits.last().is_some_and(|last| last.start >= hit.start) {
            self.hits.pop();
        }
        self.hits.push(hit);
    }

    /// Writes what is before `end` into `out`.
    fn give(&mut self, end: u64) {
        self.out.clear();
        let mut hits = std::mem::take(&mut self.hits).into_iter().peekable();
        while let Some(hit) = hits.next_if(|hit| hit.start < end) {
            if hit.start >= self.covered {
                self.give_plain(hit.start);
                self.out.extend_from_slice(MASK.as_bytes());
            }
            self.covered = self.covered.max(hit.end);
        }
        self.hits = hits.collect();
        self.give_plain(end);
    }

    /// Moves what is kept before `end` to `out`, but for what a mask covers.
    fn give_plain(&mut self, end: u64) {
        let length = end.saturating_sub(self.offset) as usize;
        let covered = (self.covered.saturating_sub(self.offset) as usize).min(length);
        self.out.extend_from_slice(&self.kept_back[covered..length]);
        self.kept_back.drain(..length);
        self.offset += length as u64;
    }
}
