//! How durations, money, times and foreign text are written, the same everywhere.

use crate::environment::local_zone;
use jiff::{Timestamp, Zoned};

pub use towpath_view::amounts_and_times::{count, money};
pub use towpath_view::foreign_text::clean;

/// `0.3 s`, `3.2 s`, `58 s`, `1 m 12 s`, `2 h 5 m`.
pub fn duration(ms: i64) -> String {
    let ms = ms.max(0);
    let seconds = ms / 1000;
    match seconds {
        0..10 => format!("{}.{} s", seconds, ms % 1000 / 100),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} m {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// `0 B`, `812 B`, `3.4 kB`, `1.2 GB`.
pub fn bytes(number: u64) -> String {
    let mut amount = number as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if amount < 999.5 {
            return match unit == "B" || amount >= 99.5 {
                true => format!("{amount:.0} {unit}"),
                false => format!("{amount:.1} {unit}"),
            };
        }
        amount /= 1000.0;
    }
    format!("{amount:.1} TB")
}

/// `12 min ago`, `yesterday`, `3 d ago`.
pub fn ago(then_ms: i64, now_ms: i64) -> String {
    let seconds = (now_ms - then_ms).max(0) / 1000;
    match seconds {
        0..60 => "just now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        86_400..172_800 => "yesterday".to_owned(),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

/// Local time, with the date when it is not today.
pub fn local_time(ms: i64, now_ms: i64) -> String {
    let at = |ms| Timestamp::from_millisecond(ms).unwrap_or_default().to_zoned(local_zone());
    let (then, now): (Zoned, Zoned) = (at(ms), at(now_ms));
    let format = if then.date() == now.date() { "%H:%M" } else { "%Y-%m-%d %H:%M" };
    then.strftime(format).to_string()
}

/// RFC 3339 with the local offset, for JSON.
pub fn rfc3339(ms: i64) -> String {
    towpath_view::amounts_and_times::rfc3339(ms, &local_zone())
}

/// The last line with text.
pub fn last_line(text: &str) -> String {
    clean(text.lines().rfind(|l| !l.trim().is_empty()).unwrap_or("").trim())
}

pub fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        let rows = [(0, "0.0 s"), (320, "0.3 s"), (3250, "3.2 s"), (58_000, "58 s")];
        for (ms, text) in rows.into_iter().chain([(72_000, "1 m 12 s"), (7_500_000, "2 h 5 m")]) {
            assert_eq!(duration(ms), text);
        }
    }

    #[test]
    fn sizes_are_short() {
        let rows = [(0, "0 B"), (812, "812 B"), (3_400, "3.4 kB"), (812_000, "812 kB")];
        for (number, text) in rows.into_iter().chain([(999_999, "1.0 MB"), (1 << 50, "1125.9 TB")])
        {
            assert_eq!(bytes(number), text);
        }
    }

    #[test]
    fn the_last_line_is_one_with_text() {
        assert_eq!(last_line("one\n two \n\n"), "two");
    }
}
