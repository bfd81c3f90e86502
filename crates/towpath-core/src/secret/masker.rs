//! Masks a stream that comes in pieces. What could be the beginning of a secret is held back until
//! it is known to be one or not, so that where the pieces are cut makes no difference. The leftmost
//! secret is taken, of several there the longest.

use super::{Known, MASK};
use std::sync::Arc;

/// What ends with this much of a secret's beginning was cut off while writing it.
const TELLING: usize = 8;

#[derive(Debug)]
pub struct Masker {
    known: Arc<Known>,
    /// Undecided: empty, or the beginning of a form.
    held: Vec<u8>,
    /// How much of `held` was given out although it was undecided.
    given: usize,
    out: Vec<u8>,
}

impl Masker {
    pub(super) fn new(known: Arc<Known>) -> Masker {
        Masker { known, held: Vec::new(), given: 0, out: Vec::new() }
    }

    /// Takes a piece, and gives what can be shown by now.
    pub fn push(&mut self, piece: &[u8]) -> &[u8] {
        self.held.extend_from_slice(piece);
        let decided = self.advance(false);
        self.held.drain(..decided);
        self.given = self.given.saturating_sub(decided);
        &self.out
    }

    /// Gives what is held back, because somebody wants all there is now; more may follow. A long
    /// beginning of a secret is masked.
    pub fn flush(&mut self) -> &[u8] {
        self.advance(true);
        self.given = self.held.len();
        &self.out
    }

    /// Gives what is held back, because nothing follows.
    pub fn finish(&mut self) -> &[u8] {
        self.advance(true);
        self.held.clear();
        self.given = 0;
        &self.out
    }

    /// Writes what can be decided into `out`, and says how much of `held` that was.
    fn advance(&mut self, ends: bool) -> usize {
        self.out.clear();
        let known = Arc::clone(&self.known);
        let (mut at, mut plain) = (0, 0);
        while at < self.held.len() {
            let rest = &self.held[at..];
            if !known.forms.begins(rest[0]) {
                at += 1;
                continue;
            }
            let open = known.forms.open(rest);
            if open && !ends {
                break;
            }
            let secret = match known.forms.whole(rest) {
                _ if open && rest.len() >= TELLING => rest.len(),
                Some(form) => form.bytes.len(),
                None => 0,
            };
            if secret > 0 {
                self.give(plain, at);
                if at + secret > self.given {
                    self.out.extend_from_slice(MASK.as_bytes());
                }
                plain = at + secret;
            }
            at += secret.max(1);
        }
        self.give(plain, at);
        at
    }

    fn give(&mut self, from: usize, to: usize) {
        let from = from.max(self.given);
        if from < to {
            self.out.extend_from_slice(&self.held[from..to]);
        }
    }
}
