//! What a version looks like: a number, usually with dots, sometimes with a suffix (`1.32.4-beta.1`,
//! `9.2p1`). Here are the token itself, its boundaries and when two spellings are the same version.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_same_with_a_suffix_and_not_inside_of_a_number() {
        assert!(same_version("1.2.3", "v1.2.3") && same_version("1.2.3-rc1", "1.2.3"));
        assert!(same_version("2.36", "1:2.36-9+deb12u14"));
        assert!(!same_version("1.2.30", "1.2.3") && !same_version("1.2.3.4", "1.2.3"));
    }
}
