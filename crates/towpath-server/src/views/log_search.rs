//! A search in what a job printed, piece by piece, that counts every match: a text, or what looks like
//! the report of an error.

use super::log::ReadError;
use memchr::memmem::Finder;
use memchr::{memchr_iter, memrchr};
use serde_json::{Value, json};

const MOST_MATCHES: usize = 1000;
/// How much of a match's line is shown.
const LINE: usize = 400;
const PIECE: usize = 256 * 1024;

/// Words that report an error, also as the end of a name such as `TypeError`.
const ERRORS: [&str; 6] = ["error", "exception", "failed", "fatal", "panicked", "traceback"];
/// As many bytes before a word, and after it, decide whether it reports an error.
const AROUND: usize = 3;

pub(crate) struct Wanted {
    finders: Vec<Finder<'static>>,
    ignore_case: bool,
    errors: bool,
}

impl Wanted {
    pub fn text(text: &str, ignore_case: bool) -> Wanted {
        let text = if ignore_case { folded(text.as_bytes()) } else { text.as_bytes().to_vec() };
        Wanted { finders: vec![Finder::new(&text).into_owned()], ignore_case, errors: false }
    }

    pub fn errors() -> Wanted {
        let finders = ERRORS.iter().map(Finder::new).collect();
        Wanted { finders, ignore_case: true, errors: true }
    }

    /// The bytes that a match may need behind the first one.
    fn longest(&self) -> usize {
        let lengths = self.finders.iter().map(|finder| finder.needle().len());
        lengths.max().unwrap_or(0) + if self.errors { AROUND } else { 0 }
    }

    /// The begin and the end of each match, in their order.
    fn matches(&self, piece: &[u8]) -> Vec<(usize, usize)> {
        let folded = if self.ignore_case { folded(piece) } else { piece.to_vec() };
        let mut found = Vec::new();
        for finder in &self.finders {
            let length = finder.needle().len();
            let all = finder.find_iter(&folded).map(|at| (at, at + length));
            found.extend(all.filter(|(at, end)| !self.errors || is_report(piece, *at, *end)));
        }
        found.sort_unstable();
        found
    }
}

/// In small letters, each where it was: one whose small letter has another length stays as it is.
fn folded(bytes: &[u8]) -> Vec<u8> {
    let mut small = bytes.to_ascii_lowercase();
    let mut at = 0;
    for chunk in bytes.utf8_chunks().filter(|_| !bytes.is_ascii()) {
        for c in chunk.valid().chars() {
            let mut lower = c.to_lowercase();
            if let (false, Some(lower), None) = (c.is_ascii(), lower.next(), lower.next())
                && lower.len_utf8() == c.len_utf8()
            {
                lower.encode_utf8(&mut small[at..]);
            }
            at += c.len_utf8();
        }
        at += chunk.invalid().len();
    }
    small
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Where the name begins that ends with the word at a byte, such as `TypeError`.
fn name_start(bytes: &[u8], at: usize) -> usize {
    at - bytes[..at].iter().rev().take_while(|byte| is_part(**byte)).count()
}

/// Whether the word between these bytes reports an error, as `0 failed` and `errors.rs` do not.
fn is_report(bytes: &[u8], at: usize, end: usize) -> bool {
    let ends = bytes.get(end).is_none_or(|next| !is_part(*next));
    let begins = at == 0 || !is_part(bytes[at - 1]) || bytes[at].is_ascii_uppercase();
    let counted = bytes[..at].strip_suffix(b"0 ");
    let none = counted.is_some_and(|before| before.last().is_none_or(|b| !b.is_ascii_digit()));
    begins && ends && !none
}

/// Every match is counted; some, after those that are skipped, are listed with their line.
pub(crate) fn search(
    wanted: &Wanted,
    size: u64,
    skip: u64,
    read: &dyn Fn(u64, u64) -> Result<Vec<u8>, ReadError>,
) -> Result<Value, ReadError> {
    let (mut count, mut matches) = (0_u64, Vec::new());
    let (mut start, mut line) = (0_u64, 1_u64);
    let around = if wanted.errors { AROUND as u64 } else { 0 };
    while start < size {
        // Pieces overlap, so that no match is cut in two.
        let from = start.saturating_sub(around);
        let piece = read(from, size.min(start + (PIECE + wanted.longest()) as u64))?;
        let first = (start - from) as usize;
        let own = piece.len().min(first + PIECE);
        let (mut seen, mut free) = (first, first);
        for (at, end) in wanted.matches(&piece) {
            if at < first || at >= own {
                continue;
            }
            count += 1;
            free = end;
            if count > skip && matches.len() < MOST_MATCHES {
                line += memchr_iter(b'\n', &piece[seen..at]).count() as u64;
                seen = at;
                let text = line_around(&piece, at);
                let shown = if wanted.errors { name_start(&piece, at) } else { at };
                matches.push(json!({ "offset": from + shown as u64, "line": line, "text": text }));
            }
        }
        // A match that reaches into the next piece is not looked at again.
        let next = own.max(free).max(first + 1).min(piece.len());
        if next <= first {
            break;
        }
        line += memchr_iter(b'\n', &piece[seen..next]).count() as u64;
        start = from + next as u64;
    }
    Ok(json!({ "schema": 1, "count": count, "size": size, "matches": matches }))
}

/// The line of a match, as far as it is near.
fn line_around(bytes: &[u8], at: usize) -> String {
    let nearest = at.saturating_sub(LINE / 2);
    let from = memrchr(b'\n', &bytes[nearest..at]).map_or(nearest, |newline| nearest + newline + 1);
    let far = bytes.len().min(from + LINE);
    let to = memchr::memchr(b'\n', &bytes[at..far]).map_or(far, |newline| at + newline);
    String::from_utf8_lossy(&bytes[from..to]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(bytes: &[u8], wanted: &Wanted) -> Value {
        let read = |from: u64, to: u64| Ok(bytes[from as usize..to as usize].to_vec());
        search(wanted, bytes.len() as u64, 0, &read).ok().expect("bytes in memory can be read")
    }

    fn exactly(bytes: &[u8], text: &str) -> Value {
        found(bytes, &Wanted::text(text, false))
    }

    #[test]
    fn matches_have_their_offset_and_their_line() {
        let value = exactly(b"one error\ntwo\nERROR three\n", "error");
        assert_eq!(value["count"], 1);
        assert_eq!(value["matches"][0], json!({ "offset": 4, "line": 1, "text": "one error" }));
        let value = found(b"one error\ntwo\nERROR three\n", &Wanted::text("Error", true));
        assert_eq!(value["count"], 2);
        assert_eq!(value["matches"][1], json!({ "offset": 14, "line": 3, "text": "ERROR three" }));
        assert_eq!(exactly(b"", "x")["count"], 0);
        assert_eq!(exactly(b"short", "longer than all of it")["count"], 0);
    }

    #[test]
    fn a_match_between_two_pieces_is_counted_once() {
        for shift in 0..4 {
            let mut bytes = vec![b'.'; PIECE - shift];
            bytes.extend(b"\nabc\nabc\n");
            bytes.extend(vec![b'.'; PIECE]);
            bytes.extend(b"\nabc");
            let value = exactly(&bytes, "abc");
            assert_eq!(value["count"], 3, "{shift}");
            let lines: Vec<&Value> = (0..3).map(|at| &value["matches"][at]["line"]).collect();
            assert_eq!(lines, [2, 3, 5], "{shift}");
        }
        let many = b"aa\n".repeat(PIECE);
        let value = exactly(&many, "a");
        assert_eq!(value["count"], 2 * PIECE as u64);
        assert_eq!(value["matches"].as_array().map(Vec::len), Some(MOST_MATCHES));
    }

    #[test]
    fn lines_that_report_an_error_are_found() {
        for line in [
            "error[E0382]: use of moved value",
            "Error: no such file",
            "TypeError: x is undefined",
            "java.lang.NullPointerException",
            "thread 'main' panicked at src/main.rs:3",
            "Traceback (most recent call last):",
            "test it::works ... FAILED",
            "10 failed, 2 passed",
            "make: *** [all] Error 2",
        ] {
            let text = format!("before\n{line}\nafter\n");
            let value = found(text.as_bytes(), &Wanted::errors());
            assert_eq!(
                (&value["count"], &value["matches"][0]["line"]),
                (&json!(1), &json!(2)),
                "{line}"
            );
        }
        for line in ["0 failed", "0 errors, 0 error", "errors.rs compiled", "terror", "failed_once"]
        {
            assert_eq!(found(line.as_bytes(), &Wanted::errors())["count"], 0, "{line}");
        }
    }

    #[test]
    fn matches_after_the_first_thousand_are_listed_on_demand() {
        let bytes = b"ab\n".repeat(2180);
        let read = |from: u64, to: u64| Ok(bytes[from as usize..to as usize].to_vec());
        let wanted = Wanted::text("ab", false);
        let value = search(&wanted, bytes.len() as u64, 2000, &read).ok().expect("bytes");
        assert_eq!(value["count"], 2180);
        assert_eq!(value["matches"].as_array().map(Vec::len), Some(180));
        let last = json!({ "offset": 3 * 2179, "line": 2180, "text": "ab" });
        assert_eq!(value["matches"][179], last);
    }

    #[test]
    fn capital_letters_of_every_alphabet_are_found() {
        for (text, wanted) in [("MÜLLER", "Müller"), ("straße", "STRAßE"), ("ΑΒΓ", "αβγ")]
        {
            let mut bytes = b"\xff\xfe ".to_vec();
            bytes.extend(text.as_bytes());
            let value = found(&bytes, &Wanted::text(wanted, true));
            assert_eq!(value["matches"][0]["offset"], 3, "{text}");
        }
        // The small letter of İ has another length: nothing moves.
        assert_eq!(found("İx".as_bytes(), &Wanted::text("X", true))["matches"][0]["offset"], 2);
    }

    #[test]
    fn an_error_begins_with_its_name() {
        let value = found(b"at x\nTypeError: x\n", &Wanted::errors());
        assert_eq!(value["matches"][0]["offset"], 5);
    }

    #[test]
    fn a_report_between_two_pieces_is_found_once() {
        for (text, count) in [("\n3 failed\n", 1), ("\n0 failed\n", 0), (" terror ", 0)] {
            for shift in 0..text.len() {
                let mut bytes = vec![b'.'; PIECE - shift];
                bytes.extend(text.as_bytes());
                bytes.extend(vec![b'.'; PIECE]);
                let value = found(&bytes, &Wanted::errors());
                assert_eq!(value["count"], count, "{text:?} {shift}");
            }
        }
    }
}
