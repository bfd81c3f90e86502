//! The flags for how long a call of a step may take.

use crate::duration_arguments::{no_time, of_seconds};
use std::time::Duration;
use towpath_run::Limits;

const STEP_TIMEOUT: &str = "--step-timeout";

/// The limits of a run unless the settings change them. Messages of timeouts name our flag.
pub const LIMITS: Limits = Limits { step_timeout_name: STEP_TIMEOUT, ..Limits::DEFAULT };

#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub struct TimeFlags {
    /// End a command or agent call after this time if its step has no `timeout`: seconds, or a number
    /// with its unit, as in 5m.
    #[arg(long, value_name = "TIME", value_parser = parsed, help_heading = "Time")]
    pub step_timeout: Option<Duration>,
    /// End a command or agent call that prints nothing for this time: seconds, or a number with its
    /// unit, as in 5m.
    #[arg(long, value_name = "TIME", value_parser = parsed, help_heading = "Time")]
    pub idle_timeout: Option<Duration>,
}

impl TimeFlags {
    /// The flags as they are typed.
    pub fn words(&self) -> Vec<String> {
        let named = [(STEP_TIMEOUT, self.step_timeout), ("--idle-timeout", self.idle_timeout)];
        let given = named.into_iter().filter_map(|(flag, time)| Some((flag, time?)));
        given.flat_map(|(flag, time)| [flag.to_owned(), time.as_secs_f64().to_string()]).collect()
    }
}

pub fn parsed(text: &str) -> Result<Duration, String> {
    let units = [("s", 1.0), ("m", 60.0), ("h", 3600.0), ("", 1.0)];
    let in_unit = |(unit, seconds): (&str, f64)| {
        let number: f64 = text.strip_suffix(unit)?.parse().ok()?;
        of_seconds(number * seconds)
    };
    units.into_iter().find_map(in_unit).ok_or_else(no_time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_above_zero() {
        for (text, ms) in [("1", 1000), ("0.25", 250), ("1e3", 1_000_000)] {
            assert_eq!(parsed(text), Ok(Duration::from_millis(ms)));
        }
        for (text, seconds) in [("5m", 300), ("90s", 90), ("1.5h", 5400)] {
            assert_eq!(parsed(text), Ok(Duration::from_secs(seconds)));
        }
        for text in ["0", "-1", "", "5d", "m", "0m", "-1m", "inf", "NaN", "1e99", "0.0000000001"] {
            assert!(parsed(text).is_err(), "{text}");
        }
    }

    #[test]
    fn flags_are_typed_as_they_were() {
        let flags = TimeFlags { step_timeout: None, idle_timeout: of_seconds(0.5) };
        assert_eq!(flags.words(), ["--idle-timeout", "0.5"]);
    }
}
