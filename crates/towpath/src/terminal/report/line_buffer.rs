//! Output on its way to a reader: kept until the end of its line, so that the lines of steps
//! that run at the same time do not mix. What is kept is bounded, whatever a step prints.

use std::collections::BTreeMap;
use towpath_core::StepPath;
use towpath_engine::Stream;

/// A line longer than this is passed on in pieces.
pub const PIECE: usize = 64 * 1024;

#[derive(Debug, Default)]
pub struct LineBuffer {
    steps: BTreeMap<StepPath, [Open; 2]>,
}

/// A line that has not ended yet.
#[derive(Debug, Default)]
pub struct Open {
    pub bytes: Vec<u8>,
    /// When its first byte came.
    pub since_ms: i64,
}

impl LineBuffer {
    /// Takes new output and passes on what is whole lines by now.
    pub fn take(
        &mut self,
        step: &StepPath,
        stream: Stream,
        bytes: &[u8],
        now_ms: i64,
        mut pass: impl FnMut(&[u8]),
    ) {
        if !self.steps.contains_key(step) {
            self.steps.insert(step.clone(), Default::default());
        }
        let open = &mut self.steps.get_mut(step).expect("it was put there")[index(stream)];
        let end = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let (whole, rest) = bytes.split_at(end);
        if !whole.is_empty() {
            if open.bytes.is_empty() {
                pass(whole);
            } else {
                open.bytes.extend_from_slice(whole);
                pass(&open.bytes);
                open.bytes.clear();
            }
        }
        if rest.is_empty() {
            return;
        }
        if open.bytes.is_empty() {
            open.since_ms = now_ms;
        }
        open.bytes.extend_from_slice(rest);
        if open.bytes.len() >= PIECE {
            pass(&open.bytes);
            open.bytes.clear();
        }
    }

    /// What a step has left without an end of line.
    pub fn finish(&mut self, step: &StepPath) -> Vec<(Stream, Vec<u8>)> {
        let open = self.steps.remove(step).unwrap_or_default();
        let [out, err] = open.map(|line| line.bytes);
        let left = [(Stream::Stdout, out), (Stream::Stderr, err)];
        left.into_iter().filter(|(_, bytes)| !bytes.is_empty()).collect()
    }

    /// The steps of which something may be kept.
    pub fn steps(&self) -> Vec<StepPath> {
        self.steps.keys().cloned().collect()
    }

    pub fn open(&self) -> impl Iterator<Item = (&StepPath, Stream, &Open)> {
        let streams = [Stream::Stdout, Stream::Stderr];
        self.steps.iter().flat_map(move |(step, lines)| {
            let lines = streams.into_iter().zip(lines);
            lines.filter(|(_, line)| !line.bytes.is_empty()).map(move |(s, line)| (step, s, line))
        })
    }
}

fn index(stream: Stream) -> usize {
    match stream {
        Stream::Stdout => 0,
        Stream::Stderr => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn feed(buffer: &mut LineBuffer, step: &str, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut passed = Vec::new();
        let step = StepPath::new(step);
        buffer.take(&step, Stream::Stdout, bytes, 0, |b| passed.push(b.to_vec()));
        passed
    }

    #[test]
    fn only_whole_lines_are_passed_on() {
        let mut buffer = LineBuffer::default();
        assert_eq!(feed(&mut buffer, "a", b"one\ntw"), [b"one\n"]);
        assert_eq!(feed(&mut buffer, "b", b"b\n"), [b"b\n"]);
        assert_eq!(feed(&mut buffer, "a", b"o\nthree\nfo"), [b"two\nthree\n"]);
        let left = buffer.finish(&StepPath::new("a"));
        assert_eq!(left, [(Stream::Stdout, b"fo".to_vec())]);
        assert!(buffer.finish(&StepPath::new("a")).is_empty());
    }

    #[test]
    fn a_line_without_end_is_passed_on_in_pieces() {
        let mut buffer = LineBuffer::default();
        let chunk = [b'x'; 10_000];
        let passed: Vec<_> = (0..20).flat_map(|_| feed(&mut buffer, "a", &chunk)).collect();
        assert_eq!(passed.iter().map(Vec::len).collect::<Vec<_>>(), [70_000, 70_000]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_changed(
            chunks in prop::collection::vec("[ab\\n]{0,5}", 0..20),
        ) {
            let mut buffer = LineBuffer::default();
            let mut seen = Vec::new();
            for chunk in &chunks {
                for passed in feed(&mut buffer, "a", chunk.as_bytes()) {
                    prop_assert!(passed.ends_with(b"\n"));
                    seen.extend(passed);
                }
            }
            for (_, rest) in buffer.finish(&StepPath::new("a")) {
                seen.extend(rest);
            }
            prop_assert_eq!(seen, chunks.concat().into_bytes());
        }
    }
}
