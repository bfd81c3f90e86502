//! How money, counts and times are written.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// `$0.31`; small amounts keep two figures.
pub fn money(usd: f64) -> String {
    if usd > 0.0 && usd < 0.01 { format!("${usd:.4}") } else { format!("${usd:.2}") }
}

/// `1 step`, `2 steps`.
pub fn count(number: usize, word: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {word}{s}")
}

/// RFC 3339 with the offset of a time zone, for JSON.
pub fn rfc3339(ms: i64, zone: &TimeZone) -> String {
    let time = Timestamp::from_millisecond(ms).unwrap_or_default().to_zoned(zone.clone());
    time.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string()
}

pub fn seconds(ms: i64) -> f64 {
    ms as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_the_offset_of_its_zone() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(rfc3339(1_500, &zone), "1970-01-01T02:00:01.500+02:00");
    }
}
