//! Numbers by their text. Two integers compare exactly, however large; any other pair compares as
//! f64. A literal of the language is always an f64 and its text shows it (`42` is `42.0`), so that
//! only integers that came with the values are exact.

use std::cmp::Ordering;
use towpath_core::Number;

/// The order of two numbers; none if one of the texts is no number.
pub(super) fn order(a: &str, b: &str) -> Option<Ordering> {
    match (Integer::read(a), Integer::read(b)) {
        (Some(a), Some(b)) => Some(a.order(&b)),
        _ => float(a)?.partial_cmp(&float(b)?),
    }
}

/// A text as f64. The words for infinity and not-a-number are no numbers here; a number too large
/// for an f64 is infinite.
pub(super) fn float(text: &str) -> Option<f64> {
    let is_word = text.contains(['n', 'N']);
    if is_word { None } else { text.parse().ok() }
}

/// A finite f64 as a number whose text shows that it is one.
pub(super) fn from_float(value: f64) -> Option<Number> {
    Number::from_f64(value)
}

/// Why there is no 64-bit integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoInteger {
    NotWhole,
    TooLarge,
}

/// The integer that a text spells.
pub(super) fn integer_in(text: &str) -> Result<i64, NoInteger> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned.is_empty() || !unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return Err(NoInteger::NotWhole);
    }
    text.parse().map_err(|_| NoInteger::TooLarge)
}

/// A number without its fraction.
pub(super) fn truncated(number: &Number) -> Result<i64, NoInteger> {
    match integer_in(number.as_str()) {
        Err(NoInteger::NotWhole) => {
            let whole = float(number.as_str()).ok_or(NoInteger::NotWhole)?.trunc();
            let bound = -(i64::MIN as f64);
            // The upper bound itself is one more than the largest i64.
            let fits = (-bound..bound).contains(&whole);
            if fits { Ok(whole as i64) } else { Err(NoInteger::TooLarge) }
        }
        exact => exact,
    }
}

/// The digits of an integer without leading zeros; zero has none and is not negative.
struct Integer<'a> {
    negative: bool,
    digits: &'a str,
}

impl<'a> Integer<'a> {
    fn read(text: &'a str) -> Option<Integer<'a>> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        if unsigned.is_empty() || !unsigned.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let digits = unsigned.trim_start_matches('0');
        Some(Integer { negative: text.starts_with('-') && !digits.is_empty(), digits })
    }

    fn order(&self, other: &Integer) -> Ordering {
        let size = |n: &Integer<'a>, m: &Integer| {
            n.digits.len().cmp(&m.digits.len()).then_with(|| n.digits.cmp(m.digits))
        };
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => size(self, other),
            (true, true) => size(self, other).reverse(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_exact_and_the_rest_is_f64() {
        for (a, b, expected) in [
            ("9007199254740993", "9007199254740992", Some(Ordering::Greater)),
            ("9007199254740993", "9007199254740992.0", Some(Ordering::Equal)),
            ("-9007199254740993", "-9007199254740992", Some(Ordering::Less)),
            ("12345678901234567890123", "9", Some(Ordering::Greater)),
            ("-0", "0", Some(Ordering::Equal)),
            ("-1", "0", Some(Ordering::Less)),
            ("1", "-2", Some(Ordering::Greater)),
            ("007", "7", Some(Ordering::Equal)),
            ("1e3", "1000", Some(Ordering::Equal)),
            ("1e400", "1e300", Some(Ordering::Greater)),
            ("x", "1", None),
            ("nan", "1", None),
            ("inf", "1", None),
            ("", "1", None),
            ("-", "1", None),
        ] {
            assert_eq!(order(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn integers_beyond_64_bits_are_not_cut() {
        let at = |text: &str| truncated(&Number::from_string_unchecked(text.to_owned()));
        assert_eq!(at("3.9"), Ok(3));
        assert_eq!(at("-3.9"), Ok(-3));
        assert_eq!(at("-9223372036854775808"), Ok(i64::MIN));
        assert_eq!(at("9223372036854775807"), Ok(i64::MAX));
        assert_eq!(at("9223372036854775808"), Err(NoInteger::TooLarge));
        assert_eq!(at("9223372036854775808.0"), Err(NoInteger::TooLarge));
        assert_eq!(at("1e300"), Err(NoInteger::TooLarge));
    }
}
