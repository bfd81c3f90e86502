//! How long something may take, as users write it: in seconds, fractions allowed, more than none; or
//! a number with its unit.

use std::time::Duration;
use towpath_recipe::field_table::LONGEST_TIME;

/// None: zero, negative, or longer than anything may take.
pub fn of_seconds(seconds: f64) -> Option<Duration> {
    let time = Duration::try_from_secs_f64(seconds).ok();
    time.filter(|time| !time.is_zero() && *time <= LONGEST_TIME)
}

/// The error for any other number.
pub fn no_time() -> String {
    let longest = LONGEST_TIME.as_secs();
    format!(
        "expected seconds, more than 0 and at most {longest}, or a number with its unit, such as 5m"
    )
}

/// The milliseconds of an age or a time with its unit.
pub fn milliseconds(text: &str) -> Result<i64, String> {
    let wrong = || "write a number and its unit, such as 90m, 12h, 30d or 2w".to_owned();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: i64 = text[..digits].parse().map_err(|_| wrong())?;
    let unit = match &text[digits..] {
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 7 * 86_400_000,
        _ => return Err(wrong()),
    };
    number.checked_mul(unit).ok_or_else(|| "the time is too long".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_a_unit() {
        assert_eq!(milliseconds("90m"), Ok(5_400_000));
        assert_eq!(milliseconds("90s"), Ok(90_000));
        assert_eq!(milliseconds("0d"), Ok(0));
        assert_eq!(milliseconds("2w"), milliseconds("14d"));
        for wrong in ["", "30", "d", "-1d", "1.5d", "30 d", "30days", "٣d"] {
            assert!(milliseconds(wrong).is_err(), "{wrong}");
        }
        assert_eq!(milliseconds("99999999999999999d").unwrap_err(), "the time is too long");
    }
}
