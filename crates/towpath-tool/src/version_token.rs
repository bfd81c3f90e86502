//! What a version looks like: a number, usually with dots, sometimes with a suffix (`1.32.4-beta.1`,
//! `9.2p1`). Here are the token itself, its boundaries and when two spellings are the same version.

use std::ops::Range;

/// The end of the token that begins with the digit at `start`, without the punctuation after it.
fn token_end(text: &str, start: usize) -> usize {
    let inside = |b: &u8| b.is_ascii_alphanumeric() || b".+~-_".contains(b);
    let length = text.as_bytes()[start..].iter().take_while(|byte| inside(byte)).count();
    let token = &text[start..start + length];
    // `5.7Copyright`: a word that begins right behind the number is none of it.
    let glued = |w: &[u8]| matches!(w, [b'0'..=b'9', b'A'..=b'Z', b'a'..=b'z']);
    let end = token.as_bytes().windows(3).position(glued).map_or(length, |at| at + 1);
    start + token[..end].trim_end_matches(['.', '+', '~', '-', '_']).len()
}

/// Whether a version may begin here: not inside of a longer number or of a word with digits.
fn begins_token(text: &str, start: usize) -> bool {
    let before = &text.as_bytes()[..start];
    match before {
        [b'v' | b'V'] => true,
        // `go version go1.21.5`
        [.., b' ', b'g', b'o'] => true,
        [.., a, b'v' | b'V'] => !a.is_ascii_alphanumeric(),
        [.., b'0'..=b'9', b'.' | b',' | b':' | b'_'] => false,
        [.., last] => !last.is_ascii_alphanumeric() && *last != b'.',
        [] => true,
    }
}

/// All tokens of a line, in their order. `OpenSSH_9.2p1` and `iproute2-6.1.0` have one each.
pub(crate) fn tokens(line: &str) -> Vec<Range<usize>> {
    let bytes = line.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = bytes[at..].iter().position(u8::is_ascii_digit) {
        let start = at + offset;
        if !begins_token(line, start) {
            at = start + bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            continue;
        }
        at = token_end(line, start);
        if is_separate(line, at) {
            found.push(start..at);
        }
    }
    found
}

/// A token followed by `:` and a digit is a time or an address, by `/` a date or a path, by `%` or `@`
/// something else, but for `4.2.8p15@1.3728`.
fn is_separate(line: &str, end: usize) -> bool {
    match line.as_bytes()[end..] {
        [b':' | b'/', next, ..] => !next.is_ascii_digit(),
        [b'@', next, ..] => next.is_ascii_digit(),
        [b'%' | b'@', ..] => false,
        _ => true,
    }
}

/// Two numbers with a dot between them, at least.
pub(crate) fn is_dotted(token: &str) -> bool {
    let (first, rest) = token.split_once('.').unwrap_or((token, ""));
    !first.is_empty()
        && first.bytes().all(|byte| byte.is_ascii_digit())
        && first.len() <= 8
        && rest.starts_with(|c: char| c.is_ascii_digit())
        && !is_address(token)
}

/// `127.0.0.1`: four numbers that a version rarely has in this form.
fn is_address(token: &str) -> bool {
    let parts: Vec<&str> = token.split('.').collect();
    parts.len() == 4
        && parts.iter().all(|part| part.parse::<u8>().is_ok())
        && matches!(parts[0], "127" | "192" | "10" | "0" | "255" | "172" | "224")
        && (parts[0] != "10" && parts[0] != "0" || parts[1] == "0")
}

/// A whole number of at most nine digits: `590`, `20221122`.
pub(crate) fn is_integer(token: &str) -> bool {
    token.len() <= 9 && token.bytes().all(|byte| byte.is_ascii_digit())
}

/// `2022-01-14`
pub(crate) fn is_date(token: &str) -> bool {
    let parts: Vec<&str> = token.split('-').collect();
    parts.len() == 3
        && parts.iter().zip([4, 2, 2]).all(|(part, length)| part.len() == length)
        && parts.iter().all(|part| is_integer(part))
}

/// Whether a printed version is the expected one: the same, or the same with a suffix on either side.
pub(crate) fn same_version(printed: &str, expected: &str) -> bool {
    let printed = printed.trim_start_matches(['v', 'V']);
    expected_spellings(expected).iter().any(|expected| {
        printed.strip_prefix(expected.as_str()).is_some_and(|rest| !continues_number(rest))
    })
}

/// The spellings of an expected version that count: as it is, and without epoch and packaging suffix.
pub(crate) fn expected_spellings(expected: &str) -> Vec<String> {
    let plain = expected.trim().trim_start_matches(['v', 'V']);
    let no_epoch = plain.split_once(':').map_or(plain, |(_, rest)| rest);
    let upstream = no_epoch.split(['-', '+', '~']).next().unwrap_or(no_epoch);
    let mut spellings = vec![plain.to_owned()];
    for other in [no_epoch, upstream] {
        if !spellings.iter().any(|known| known == other) {
            spellings.push(other.to_owned());
        }
    }
    spellings.retain(|spelling| spelling.starts_with(|c: char| c.is_ascii_digit()));
    spellings
}

/// Whether a number would be continued: by a digit, or by a dot and a digit.
fn continues_number(rest: &str) -> bool {
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    rest.starts_with(|c: char| c.is_ascii_digit())
}

/// Where the expected version is in a line, with boundaries on both sides.
pub(crate) fn find_expected(line: &str, expected: &str) -> Option<Range<usize>> {
    for spelling in expected_spellings(expected) {
        let mut matches = line.match_indices(spelling.as_str());
        let separate = |at: &(usize, &str)| {
            let before = &line.as_bytes()[..at.0];
            let number = matches!(before, [.., b'0'..=b'9'] | [.., b'0'..=b'9', b'.']);
            !number && !continues_number(&line[at.0 + spelling.len()..])
        };
        if let Some((start, text)) = matches.find(separate) {
            return Some(start..start + text.len());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<&str> {
        tokens(line).into_iter().map(|range| &line[range]).collect()
    }

    #[test]
    fn tokens_begin_at_numbers_of_their_own() {
        assert_eq!(texts("nstat utility, iproute2-6.1.0, libbpf 1.1.2"), ["6.1.0", "1.1.2"]);
        assert_eq!(texts("OpenSSH_9.2p1 Debian-2+deb12u6"), ["9.2p1", "2+deb12u6"]);
        assert_eq!(texts("v20.20.2"), ["20.20.2"]);
        assert_eq!(texts("Client Version: v1.32.4-dispatcher."), ["1.32.4-dispatcher"]);
        assert_eq!(texts("go version go1.21.5 linux/amd64"), ["1.21.5"]);
        assert_eq!(texts("version 5.7Copyright"), ["5.7"]);
        assert_eq!(texts("at 12:30:45 in x86_64"), Vec::<&str>::new());
    }

    #[test]
    fn a_version_is_the_same_with_a_suffix_and_not_inside_of_a_number() {
        assert!(same_version("1.2.3", "v1.2.3") && same_version("1.2.3-rc1", "1.2.3"));
        assert!(same_version("2.36", "1:2.36-9+deb12u14"));
        assert!(!same_version("1.2.30", "1.2.3") && !same_version("1.2.3.4", "1.2.3"));
        assert_eq!(find_expected("x 11.2.0 1.2", "1.2"), Some(9..12));
        assert_eq!(find_expected("x 11.2.0", "1.2"), None);
    }
}
