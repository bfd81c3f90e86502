//! The language between engine and warden: frames of a little-endian length and JSON. Both ends
//! are always the same build, so there is no version; a frame that cannot be read means the other
//! side is broken, and each side then behaves as if it were gone.

use crate::child_spec::WireSpec;
use crate::process_marker::Marker;
use crate::terminal_text::TerminalText;
use crate::warden_event::Event;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use towpath_core::Secrets;
use towpath_core::os_text::OsText;

/// Far above what a system takes as arguments and environment; a larger length is garbage.
pub(crate) const MAX_FRAME: usize = 64 << 20;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Command {
    /// First word to a warden that was executed rather than forked.
    Hello {
        marker: Marker,
        lock: bool,
    },
    /// What the warden masks in jobs that start from now on.
    Hide {
        secrets: WireSecrets,
    },
    /// What the warden writes when the engine is gone.
    WriteWhenGone(TerminalText),
    Start(Box<WireSpec>),
    Stop {
        id: u64,
        grace_ms: u64,
    },
    PauseAll,
    ContinueAll,
    Sweep {
        grace_ms: u64,
    },
}

/// Secrets as they travel: from memory to memory, by a socket that nobody else has.
#[derive(Serialize, Deserialize)]
pub(crate) struct WireSecrets(Vec<(String, OsText)>);

impl std::fmt::Debug for WireSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

impl From<&Secrets> for WireSecrets {
    fn from(secrets: &Secrets) -> WireSecrets {
        let text = |value: &[u8]| OsText(OsStr::from_bytes(value).to_owned());
        WireSecrets(secrets.revealed().map(|(name, v)| (name.to_owned(), text(v))).collect())
    }
}

impl From<WireSecrets> for Secrets {
    fn from(wire: WireSecrets) -> Secrets {
        let values = wire.0.into_iter().map(|(name, value)| (name, value.0.into_vec()));
        Secrets::new(values.collect()).expect("they were long enough on the other side")
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// To `Hello`.
    Ready,
    Event(Event),
}

pub(crate) fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)
        .expect("messages have text keys and writing to memory cannot fail");
    let length = u32::try_from(frame.len() - 4).unwrap_or(u32::MAX);
    frame[..4].copy_from_slice(&length.to_le_bytes());
    frame
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Garbled;

/// Bytes as they arrive, in any pieces; whole messages come out.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    bytes: Vec<u8>,
    taken: usize,
}

impl Frames {
    pub fn push(&mut self, bytes: &[u8]) {
        if self.taken == self.bytes.len() {
            self.bytes.clear();
            self.taken = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    pub fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Garbled> {
        let rest = &self.bytes[self.taken..];
        let Some((head, body)) = rest.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*head) as usize;
        if length > MAX_FRAME {
            return Err(Garbled);
        }
        let Some(body) = body.get(..length) else {
            self.compact();
            return Ok(None);
        };
        let message = serde_json::from_slice(body).map_err(|_| Garbled)?;
        self.taken += 4 + length;
        Ok(Some(message))
    }

    /// Drops what was taken before a large frame grows the buffer.
    fn compact(&mut self) {
        self.bytes.drain(..self.taken);
        self.taken = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    #[test]
    fn frames_survive_any_cutting() {
        let sent =
            [OsText("a".into()), OsText("é\u{0}\n".into()), OsText(OsString::from_vec(vec![255]))];
        let stream: Vec<u8> = sent.iter().flat_map(encode).collect();
        for piece in 1..=stream.len() {
            let (mut frames, mut got) = (Frames::default(), Vec::new());
            for bytes in stream.chunks(piece) {
                frames.push(bytes);
                while let Some(text) = frames.next::<OsText>().expect("whole frames") {
                    got.push(text);
                }
            }
            assert_eq!(got, sent, "in pieces of {piece}");
        }
    }

    #[test]
    fn an_impossible_length_is_garbage_and_not_awaited() {
        let mut frames = Frames::default();
        frames.push(&[0xff; 5]);
        assert_eq!(frames.next::<OsText>(), Err(Garbled));
    }
}
