//! Times as `dp` reads them after `--since`, and as it writes them.

use crate::environment::local_zone;
use crate::terminal::format::now_ms;
use jiff::civil::Date;
use jiff::{Span, SpanRelativeTo, Timestamp};

/// The time of `--since`: how long ago (`30m`, `24h`, `7d`), a date, or a time.
pub fn since(text: &str) -> Result<i64, String> {
    let time = text.parse::<Timestamp>().ok();
    let date = || {
        let start = text.parse::<Date>().ok()?.to_zoned(local_zone()).ok()?;
        Some(start.timestamp())
    };
    let ago = || {
        let span = text.parse::<Span>().ok()?;
        let length = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
        let length = i64::try_from(length.as_millis()).ok().filter(|ms| *ms >= 0)?;
        Some(now_ms().saturating_sub(length))
    };
    let found = time.or_else(date).map(Timestamp::as_millisecond).or_else(ago);
    found.ok_or_else(|| {
        format!("invalid --since value {text:?}: write 30m, 24h, 7d, 2026-02-01 or a time")
    })
}

/// `2026-02-10 19:00:00`
pub fn date_time(ms: i64) -> String {
    let time = Timestamp::from_millisecond(ms).unwrap_or_default().to_zoned(local_zone());
    time.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// `2026-02-10T19:00:00Z`
pub fn utc(ms: i64) -> String {
    let time = Timestamp::from_millisecond(ms).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// `2026-02-10`
pub fn date(ms: i64) -> String {
    date_time(ms).chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_is_an_age_a_date_or_a_time() {
        let day = 24 * 60 * 60 * 1000;
        for (text, ago) in [("7d", 7 * day), ("24h", day), ("30m", 30 * 60 * 1000)] {
            let found = since(text).expect("a time");
            assert!((now_ms() - ago - found).abs() < 60_000, "{text}");
        }
        assert_eq!(since("2026-02-01T00:00:00Z"), Ok(1_769_904_000_000));
        assert!(since("2026-02-01").is_ok_and(|ms| (ms - 1_769_904_000_000).abs() <= day));
        for wrong in ["", "soon", "-1d", "7"] {
            assert!(since(wrong).is_err(), "{wrong}");
        }
    }
}
