//! How long something may take, as users write it: in seconds, fractions allowed, more than none.

use std::time::Duration;
use towpath_recipe::fields::LONGEST_TIME;

/// None: zero, negative, or longer than anything may take.
pub fn of_seconds(seconds: f64) -> Option<Duration> {
    let time = Duration::try_from_secs_f64(seconds).ok();
    time.filter(|time| !time.is_zero() && *time <= LONGEST_TIME)
}

/// The error for any other number.
pub fn no_time() -> String {
    format!("expected seconds, more than 0 and at most {}", LONGEST_TIME.as_secs())
}
