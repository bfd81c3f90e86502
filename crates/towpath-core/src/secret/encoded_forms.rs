//! What is looked for of a secret: its text, each longer line of it, its base64 in all alignments and
//! its hexadecimal digits. How the characters of a form may be written is in `escaped_spellings.rs`. A step can
//! always invent an encoding that is not here: this is against accidents.

use super::SHORTEST_SECRET;
use super::escaped_spellings::Thread;
use std::collections::BTreeSet;

/// A line of a longer secret, or a piece of an encoding, is masked from this length on. A text of
/// this length may also have line breaks inside.
const SHORTEST_PIECE: usize = 8;
/// Where `base64` breaks its lines.
const BASE64_LINE: usize = 76;

/// All forms of all secrets, with what a first and a second byte can begin.
pub(super) struct Forms {
    forms: Vec<Form>,
    /// By the first byte: the threads that have read it.
    starts: Vec<Vec<Thread>>,
    /// By the first byte, 256 bits: the second bytes that leave a thread alive.
    seconds: Box<[[u64; 4]; 256]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Alphabet {
    Text,
    /// Standard and URL-safe characters are the same.
    Base64,
    /// Upper and lower case are the same.
    Hexadecimal,
}

pub(super) struct Form {
    pub bytes: Vec<u8>,
    pub alphabet: Alphabet,
    /// Whose form it is, by its position in the list.
    pub secret: usize,
}

impl Forms {
    pub fn of<'a>(values: impl Iterator<Item = &'a [u8]>) -> Forms {
        let mut forms = Vec::new();
        for (secret, value) in values.enumerate() {
            let of_value = forms_of(value).into_iter();
            forms.extend(of_value.map(|(alphabet, bytes)| Form { bytes, alphabet, secret }));
        }
        let mut all = Forms { forms, starts: Vec::new(), seconds: Box::new([[0; 4]; 256]) };
        for byte in 0..=u8::MAX {
            let (starts, seconds) = all.beginnings(byte);
            all.starts.push(starts);
            all.seconds[usize::from(byte)] = seconds;
        }
        all
    }

    fn beginnings(&self, first: u8) -> (Vec<Thread>, [u64; 4]) {
        let (mut starts, mut seconds) = (Vec::new(), [0; 4]);
        for form in 0..self.forms.len() {
            Thread::new(form).read(self, first, 0, &mut |thread| starts.push(thread));
        }
        for second in 0..=u8::MAX {
            let mut alive = false;
            for thread in &starts {
                thread.read(self, second, 1, &mut |_| alive = true);
            }
            seconds[usize::from(second) / 64] |= u64::from(alive) << (second % 64);
        }
        (starts, seconds)
    }

    pub fn form(&self, index: usize) -> &Form {
        &self.forms[index]
    }

    /// The next byte from here on that can begin a form.
    pub fn next_start(&self, text: &[u8], from: usize) -> usize {
        let continues = |pair: &[u8]| self.continues(pair[0], pair[1]);
        let found = text[from..].windows(2).position(continues);
        // Of the last byte it is not known what follows.
        found.map_or(from.max(text.len() - 1), |at| from + at)
    }

    fn continues(&self, first: u8, second: u8) -> bool {
        self.seconds[usize::from(first)][usize::from(second) / 64] >> (second % 64) & 1 == 1
    }

    /// The threads that begin with this byte, unless the next one would end them all.
    pub fn starting(&self, first: u8, second: Option<u8>) -> &[Thread] {
        let alive = second.is_none_or(|second| self.continues(first, second));
        if alive { &self.starts[usize::from(first)] } else { &[] }
    }
}

impl Form {
    /// Whether a byte is the one at this position.
    pub fn is(&self, at: usize, byte: u8) -> bool {
        let byte = match (self.alphabet, byte) {
            (Alphabet::Base64, b'-') => b'+',
            (Alphabet::Base64, b'_') => b'/',
            (Alphabet::Hexadecimal, byte) => byte.to_ascii_lowercase(),
            (_, byte) => byte,
        };
        self.bytes[at] == byte
    }

    /// The character that begins at this position.
    pub fn character(&self, at: usize) -> Option<char> {
        let bytes = &self.bytes[at..self.bytes.len().min(at + 4)];
        bytes.utf8_chunks().next()?.valid().chars().next()
    }

    /// Whether its characters may be on several lines. Few characters in a row of lines are an
    /// accident.
    pub fn breaks(&self) -> bool {
        self.alphabet != Alphabet::Text || self.bytes.len() >= SHORTEST_PIECE
    }
}

fn forms_of(value: &[u8]) -> BTreeSet<(Alphabet, Vec<u8>)> {
    let mut forms = BTreeSet::new();
    // Programs that print JSON replace what is no UTF-8.
    forms.insert((Alphabet::Text, String::from_utf8_lossy(value).into_owned().into_bytes()));
    // `$(…)` and many programs drop the space around a value.
    for text in [value, value.trim_ascii()] {
        forms.insert((Alphabet::Text, text.to_owned()));
        let hexadecimal: String = text.iter().map(|byte| format!("{byte:02x}")).collect();
        forms.insert((Alphabet::Hexadecimal, hexadecimal.into_bytes()));
        for text in [text, &[text, b"\n"].concat()] {
            forms.extend(base64_forms(text).into_iter().map(|form| (Alphabet::Base64, form)));
        }
    }
    let lines = value.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
    let long = lines.filter(|line| line.len() >= SHORTEST_PIECE);
    forms.extend(long.map(|line| (Alphabet::Text, line.to_owned())));
    forms.retain(|(_, form)| form.len() >= SHORTEST_SECRET);
    forms
}

/// As data, whole or inside of more.
fn base64_forms(value: &[u8]) -> Vec<Vec<u8>> {
    let whole = base64(value);
    let padded = whole.clone() + &"=".repeat((4 - whole.len() % 4) % 4);
    let lines = padded.as_bytes().chunks(BASE64_LINE).filter(|line| line.len() >= SHORTEST_PIECE);
    let mut forms: Vec<Vec<u8>> = lines.map(<[u8]>::to_vec).collect();
    forms.push(padded.clone().into_bytes());
    // After `user:` or other bytes the characters are others, for each of the three ways in
    // which a value can lie in groups of three bytes.
    for (before, start) in [(0, 0), (1, 2), (2, 3)] {
        let shifted = base64(&[&b"\0\0"[..before], value].concat());
        let end = (before + value.len()) * 8 / 6;
        let inner = shifted.as_bytes().get(start..end).unwrap_or_default();
        forms.extend((inner.len() >= SHORTEST_PIECE).then(|| inner.to_owned()));
    }
    forms
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Without padding.
fn base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..=group.len() {
            out.push(char::from(BASE64[(bits >> (18 - 6 * at)) as usize & 63]));
        }
    }
    out
}
