//! The language between a sandbox and its owner. Requests are frames of the warden's kind. An answer is
//! one byte for its kind, a little-endian length, and so many bytes: output as it came, or JSON. The
//! owner takes no answer that is larger than `MAX_ANSWER`.

use super::confinement::Confinement;
use super::policy::Policy;
use super::sandbox_command::EndStatus;
use serde::{Deserialize, Serialize};
use towpath_core::Stream;
use towpath_core::os_text::OsText;

pub(super) const MAX_ANSWER: usize = 64 << 10;
/// Kind and length.
const HEAD: usize = 5;

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// First.
    Begin(Begin),
    Run(WireCommand),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Begin {
    pub confinement: Confinement,
    pub policy: Policy,
    /// Where fresh directories are made.
    pub scratch: OsText,
}

/// A command as it travels.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WireCommand {
    /// Files to try in this order.
    pub programs: Vec<OsText>,
    /// With the program's name.
    pub arguments: Vec<OsText>,
    pub environment: Vec<(OsText, OsText)>,
    /// `None`: a fresh one.
    pub directory: Option<OsText>,
    pub io: CommandIo,
    pub time_limit_ms: Option<u64>,
    pub output_limit: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum CommandIo {
    Pipes,
    Terminal,
    /// The server's own.
    Inherited,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Output(Stream, Vec<u8>),
    Message(Message),
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Message {
    /// To `Begin`: commands can be run.
    Ready,
    /// To `Begin`: why there is no sandbox.
    Failed { reason: String },
    /// To `Run`: why nothing was run.
    Refused { reason: String },
    /// To `Run`.
    Ended { status: EndStatus, took_us: u64 },
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Garbled;

mod kind {
    pub const MESSAGE: u8 = 0;
    pub const STDOUT: u8 = 1;
    pub const STDERR: u8 = 2;
}

/// At most `MAX_ANSWER` bytes.
pub(super) fn encode_output(stream: Stream, bytes: &[u8]) -> Vec<u8> {
    let kind = match stream {
        Stream::Stdout => kind::STDOUT,
        Stream::Stderr => kind::STDERR,
    };
    frame(kind, bytes)
}

pub(super) fn encode_message(message: &Message) -> Vec<u8> {
    let body = serde_json::to_vec(message).expect("a message has text keys");
    frame(kind::MESSAGE, &body)
}

fn frame(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes();
    [&[kind][..], &length, body].concat()
}

/// Bytes as they arrive, in any pieces; whole answers come out.
#[derive(Debug, Default)]
pub(super) struct Answers(Vec<u8>);

impl Answers {
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub fn next(&mut self) -> Result<Option<Answer>, Garbled> {
        let Some((head, body)) = self.0.split_first_chunk::<HEAD>() else { return Ok(None) };
        let [kind, length @ ..] = *head;
        let length = u32::from_le_bytes(length) as usize;
        if length > MAX_ANSWER {
            return Err(Garbled);
        }
        let Some(body) = body.get(..length) else { return Ok(None) };
        let answer = match kind {
            kind::STDOUT => Answer::Output(Stream::Stdout, body.to_vec()),
            kind::STDERR => Answer::Output(Stream::Stderr, body.to_vec()),
            kind::MESSAGE => Answer::Message(serde_json::from_slice(body).map_err(|_| Garbled)?),
            _ => return Err(Garbled),
        };
        self.0.drain(..HEAD + length);
        Ok(Some(answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn answers_survive_any_cutting() {
        let ended = || Message::Ended { status: EndStatus::Signaled(9), took_us: 7 };
        let stream = [
            encode_output(Stream::Stdout, b"a\0\xff"),
            encode_output(Stream::Stderr, b""),
            encode_message(&ended()),
        ]
        .concat();
        for piece in 1..=stream.len() {
            let (mut answers, mut got) = (Answers::default(), Vec::new());
            for bytes in stream.chunks(piece) {
                answers.push(bytes);
                while let Some(answer) = answers.next().expect("whole answers") {
                    got.push(answer);
                }
            }
            let expected = [
                Answer::Output(Stream::Stdout, b"a\0\xff".to_vec()),
                Answer::Output(Stream::Stderr, Vec::new()),
                Answer::Message(ended()),
            ];
            assert_eq!(got, expected, "in pieces of {piece}");
        }
    }

    #[test]
    fn what_is_too_large_or_unknown_is_garbled_at_once() {
        for bytes in [&[1, 1, 0, 1, 0][..], &[0xff; 5], &[9, 0, 0, 0, 0], &[0, 1, 0, 0, 0, b'x']] {
            let mut answers = Answers::default();
            answers.push(bytes);
            assert_eq!(answers.next(), Err(Garbled), "{bytes:?}");
        }
    }

    fn all(pieces: &[&[u8]]) -> Result<Vec<Answer>, Garbled> {
        let (mut answers, mut got) = (Answers::default(), Vec::new());
        for bytes in pieces {
            answers.push(bytes);
            while let Some(answer) = answers.next()? {
                got.push(answer);
            }
        }
        Ok(got)
    }

    proptest! {
        /// Bytes that nobody has checked: whatever they are, they are read the same way in any pieces.
        #[test]
        fn any_bytes_are_answers_or_garbled(
            frames in vec((0_u8..4, vec(any::<u8>(), 0..20), 0_u32..30), 0..6),
            cut in 1_usize..40,
        ) {
            let bytes: Vec<u8> = frames
                .iter()
                .flat_map(|(kind, body, length)| {
                    [&[*kind][..], &length.to_le_bytes(), body].concat()
                })
                .collect();
            let pieces: Vec<&[u8]> = bytes.chunks(cut).collect();
            prop_assert_eq!(all(&[&bytes]), all(&pieces));
        }

        #[test]
        fn output_arrives_as_it_was_sent(body in vec(any::<u8>(), 0..2000)) {
            let sent = encode_output(Stream::Stderr, &body);
            prop_assert_eq!(all(&[&sent]), Ok(vec![Answer::Output(Stream::Stderr, body)]));
        }
    }
}
