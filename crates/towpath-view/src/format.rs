//! How amounts, times, paths and foreign text are written.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::path::Path;

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

/// Foreign text inside a line of ours: no control characters, so that it cannot move the cursor, and
/// none that let text run the other way.
pub fn clean(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let moves = |c: char| c.is_control() && c != '\t';
    text.chars().map(|c| if moves(c) || turns(c) { '\u{fffd}' } else { c }).collect()
}

/// The first line of foreign text that is not empty, with `…` where more follow.
pub fn first_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
    let first = lines.next().unwrap_or("");
    let more = if lines.next().is_some() { " …" } else { "" };
    clean(&first.replace('\t', " ")) + more
}

/// A path in full, with what is no text escaped.
pub fn escaped(path: &Path) -> String {
    match path.to_str() {
        Some(text) if !text.chars().any(char::is_control) => text.to_owned(),
        Some(text) => text.escape_debug().to_string(),
        None => path.as_os_str().as_encoded_bytes().escape_ascii().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_cannot_move_the_cursor() {
        assert_eq!(clean("a\u{1b}[2Jb\r"), "a\u{fffd}[2Jb\u{fffd}");
        assert_eq!(first_line("\n a\tb \nc"), "a b …");
    }

    #[test]
    fn a_time_has_the_offset_of_its_zone() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(rfc3339(1_500, &zone), "1970-01-01T02:00:01.500+02:00");
    }
}
