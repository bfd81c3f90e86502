//! When a usage limit of Codex is over. The program writes it at the end of its sentence as a local
//! time, `try again at 10:24 PM.`, with a date when that is not today:
//! `try again at Mar 17th, 2030 5:46 PM.`. The seconds are missing, so the whole minute is waited for.

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan as _};

/// The time that `message` names, in milliseconds since 1970.
pub(super) fn reset_time(message: &str, at_ms: i64, zone: &TimeZone) -> Option<i64> {
    let (_, time_text) = message.rsplit_once("ry again at ")?;
    let time_text = without_ordinal(time_text.trim().trim_end_matches('.'));
    let minute: Span = 1.minute();
    if let Ok(time) = DateTime::strptime("%b %d, %Y %I:%M %p", &time_text) {
        return milliseconds(time.checked_add(minute).ok()?, zone);
    }
    let time = Time::strptime("%I:%M %p", &time_text).ok()?;
    let now = Timestamp::from_millisecond(at_ms).ok()?.to_zoned(zone.clone()).datetime();
    let mut over = now.date().to_datetime(time).checked_add(minute).ok()?;
    if over < now {
        over = over.checked_add(1.day()).ok()?;
    }
    milliseconds(over, zone)
}

fn milliseconds(time: DateTime, zone: &TimeZone) -> Option<i64> {
    Some(zone.to_zoned(time).ok()?.timestamp().as_millisecond())
}

/// `Mar 17th, 2030` as `Mar 17, 2030`.
fn without_ordinal(text: &str) -> String {
    let Some((day, rest)) = text.split_once(',') else { return text.to_owned() };
    format!("{},{rest}", day.trim_end_matches(|c: char| c.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minute_after_the_time_in_the_message() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap().as_millisecond();
        let now = at("2026-11-16T20:00:30Z");
        let berlin = TimeZone::fixed(jiff::tz::offset(1));
        for (message, zone, expected) in [
            ("try again at 10:24 PM.", &TimeZone::UTC, Some("2026-11-16T22:25:00Z")),
            ("Try again at 8:00 PM.", &TimeZone::UTC, Some("2026-11-16T20:01:00Z")),
            ("try again at 7:59 PM.", &TimeZone::UTC, Some("2026-11-17T20:00:00Z")),
            ("try again at 12:05 AM.", &berlin, Some("2026-11-16T23:06:00Z")),
            ("or try again at Mar 17th, 2030 5:46 PM.", &berlin, Some("2030-03-17T16:47:00Z")),
            ("try again at Mar 1st, 2030 5:46 PM.", &TimeZone::UTC, Some("2030-03-01T17:47:00Z")),
            ("Try again later.", &TimeZone::UTC, None),
            ("try again at noon.", &TimeZone::UTC, None),
            ("try again at 25:61 PM.", &TimeZone::UTC, None),
            ("try again at Feb 31st, 2030 5:46 PM.", &TimeZone::UTC, None),
        ] {
            assert_eq!(reset_time(message, now, zone), expected.map(at), "{message}");
        }
        assert_eq!(reset_time("try again at 10:24 PM.", i64::MAX, &TimeZone::UTC), None);
    }
}
