//! The JSON in a text that may contain more: the whole text, else a fenced block, else the first
//! bracketed block. A block is taken whole or not at all, never a piece of it. One pass: the time
//! grows with the text, whatever is in it.

use crate::context_values::Value;

/// The first JSON in a step's output, by the three ways in their order.
pub fn extract_json(text: &str) -> Option<Value> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return None;
    }
    serde_json::from_str(text).ok().or_else(|| fenced(text)).or_else(|| bracketed(text))
}

/// The first fence marked `json`, or not marked, whose content is JSON.
fn fenced(text: &str) -> Option<Value> {
    let mut at = 0;
    while let Some(open) = find(text, "```", at) {
        let mut start = open + 3;
        let label = text[start..].chars().take_while(|c| c.is_alphanumeric()).collect::<String>();
        start += label.len();
        if !label.is_empty() && !label.eq_ignore_ascii_case("json") {
            // Another language: its fence ends at the next mark.
            at = find(text, "```", start)? + 3;
            continue;
        }
        match scan(text.as_bytes(), blank_until(text, start)) {
            Scan::Value(end) if text[blank_until(text, end)..].starts_with("```") => {
                let found = serde_json::from_str(text[start..end].trim_start());
                match found {
                    Ok(value) => return Some(value),
                    Err(_) => at = end,
                }
            }
            Scan::Value(end) | Scan::Bad(end) => {
                at = find(text, "```", end.max(start)).map_or(text.len(), |close| close + 3);
            }
            Scan::Incomplete => return None,
        }
    }
    None
}

/// The first block that begins with a bracket and is JSON.
fn bracketed(text: &str) -> Option<Value> {
    let bytes = text.as_bytes();
    // Looking for the end of what is no JSON may read far ahead; all of it together is bounded.
    let mut patience = bytes.len().saturating_mul(4);
    let mut at = 0;
    loop {
        at += bytes[at..].iter().position(|b| matches!(b, b'{' | b'['))?;
        match scan(bytes, at) {
            Scan::Value(end) => match serde_json::from_str(&text[at..end]) {
                Ok(value) => return Some(value),
                // Sound brackets, yet no value: nested deeper than is read, or a broken escape.
                Err(_) => at = end,
            },
            Scan::Incomplete => return None,
            // Up to the fault it looked like JSON: what is in there is a piece of it.
            Scan::Bad(fault) => {
                at = balanced(bytes, at, &mut patience).unwrap_or(fault.max(at + 1));
            }
        }
    }
}

fn find(text: &str, what: &str, from: usize) -> Option<usize> {
    text.get(from..)?.find(what).map(|at| from + at)
}

fn blank_until(text: &str, from: usize) -> usize {
    let rest = &text[from..];
    from + (rest.len() - rest.trim_start().len())
}

/// Past the bracket that closes the one at `start`, with strings passed over.
fn balanced(bytes: &[u8], start: usize, patience: &mut usize) -> Option<usize> {
    let mut open = Vec::new();
    let (mut in_string, mut escaped) = (false, false);
    for (offset, byte) in bytes[start..].iter().enumerate() {
        *patience = patience.checked_sub(1)?;
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            // No JSON string goes over a line's end: this was prose.
            b'\n' => in_string = false,
            _ if in_string => {}
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' => {
                if open.pop() != Some(*byte) {
                    return None;
                }
                if open.is_empty() {
                    return Some(start + offset + 1);
                }
            }
            _ => {}
        }
    }
    None
}

enum Scan {
    /// A value ends before this offset.
    Value(usize),
    /// The text ended within a value.
    Incomplete,
    /// No JSON from this offset on.
    Bad(usize),
}

/// What may come next.
#[derive(Clone, Copy, PartialEq)]
enum Want {
    Value,
    ValueOrClose,
    Key,
    KeyOrClose,
    Colon,
    CommaOrClose,
}

/// Reads one JSON value without recursion and without building it.
fn scan(bytes: &[u8], start: usize) -> Scan {
    let mut open: Vec<u8> = Vec::new();
    let mut want = Want::Value;
    let mut at = start;
    loop {
        while bytes.get(at).is_some_and(|b| matches!(b, b' ' | b'\n' | b'\r' | b'\t')) {
            at += 1;
        }
        let Some(byte) = bytes.get(at) else { return Scan::Incomplete };
        let close = open.last().copied();
        let mut done = false;
        match (want, byte) {
            (Want::Value | Want::ValueOrClose, b'{') => {
                open.push(b'}');
                want = Want::KeyOrClose;
                at += 1;
            }
            (Want::Value | Want::ValueOrClose, b'[') => {
                open.push(b']');
                want = Want::ValueOrClose;
                at += 1;
            }
            (Want::Key | Want::KeyOrClose, b'"') => match string(bytes, at) {
                Scan::Value(end) => (at, want) = (end, Want::Colon),
                other => return other,
            },
            (Want::Colon, b':') => (at, want) = (at + 1, Want::Value),
            (Want::CommaOrClose, b',') => {
                want = if close == Some(b'}') { Want::Key } else { Want::Value };
                at += 1;
            }
            (Want::ValueOrClose | Want::KeyOrClose | Want::CommaOrClose, byte)
                if close == Some(*byte) =>
            {
                open.pop();
                at += 1;
                done = true;
            }
            (Want::Value | Want::ValueOrClose, _) => match scalar(bytes, at) {
                Scan::Value(end) => (at, done) = (end, true),
                other => return other,
            },
            _ => return Scan::Bad(at),
        }
        if done {
            if open.is_empty() {
                return Scan::Value(at);
            }
            want = Want::CommaOrClose;
        }
    }
}

fn string(bytes: &[u8], start: usize) -> Scan {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return Scan::Value(at + 1),
            b'\\' => at += 2,
            0..0x20 => return Scan::Bad(at),
            _ => at += 1,
        }
    }
    Scan::Incomplete
}

fn scalar(bytes: &[u8], start: usize) -> Scan {
    if bytes[start] == b'"' {
        return string(bytes, start);
    }
    let in_word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
    let len = bytes[start..].iter().take_while(|b| in_word(b)).count();
    let word = &bytes[start..start + len];
    let whole = serde_json::from_slice::<Value>(word).is_ok();
    if start + len == bytes.len() && (whole || begins_literal(word)) {
        // It could continue: a number, or the rest of a literal.
        return Scan::Incomplete;
    }
    if len > 0 && whole { Scan::Value(start + len) } else { Scan::Bad(start) }
}

fn begins_literal(word: &[u8]) -> bool {
    [&b"true"[..], b"false", b"null"].iter().any(|literal| literal.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_incomplete_or_faulty_block_gives_no_piece_of_itself() {
        for text in
            ["[{\"a\":1},{\"b\":", "x [1, tru", "{\"a\":[1,2],\"b\":oops", "[1", "{\"a\": \"x"]
        {
            assert_eq!(extract_json(text), None, "{text}");
        }
        assert_eq!(extract_json("{\"a\": [1], oops} [2]"), Some(json!([2])));
    }

    #[test]
    fn a_scalar_in_prose_is_no_json() {
        assert_eq!(extract_json("the answer is 42"), None);
        assert_eq!(extract_json("```\n42\n```"), Some(json!(42)));
    }

    #[test]
    fn nesting_beyond_what_is_read_is_a_failure() {
        let deep = format!("x {}1{} {{\"a\":1}}", "[".repeat(5000), "]".repeat(5000));
        assert_eq!(extract_json(&deep), Some(json!({"a": 1})));
    }
}
