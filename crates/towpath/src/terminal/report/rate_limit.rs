//! What is reported of a rate limit that a run waits for: at which step, what the agent's program
//! reported, and until when. The same words everywhere; only the way to write a time differs.

use super::fit_text::one_line;
use crate::terminal::format::{local_time, now_ms};
use towpath_core::{FaultKind, StepPath};
use towpath_engine::RunEnd;
use towpath_run::{RunOutcome, StepState, StepView};

/// A step whose call met a limit.
#[derive(Debug, PartialEq, Eq)]
pub struct Limit {
    pub step: StepPath,
    /// What it is: `limit`, or another fault that may pass.
    pub why: &'static str,
    /// The program's own message; empty where it had none.
    pub message: String,
}

impl Limit {
    /// `limit until 23:00: You have hit your limit`
    pub fn words(&self, until: Option<&str>) -> String {
        let until = until.map_or(String::new(), |until| format!(" until {until}"));
        let message = one_line(&self.message);
        let colon = if message.is_empty() { "" } else { ": " };
        format!("{}{until}{colon}{message}", self.why)
    }
}

/// The limits that the steps of a run wait for, those of called recipes included.
pub fn met(steps: &[StepView]) -> Vec<Limit> {
    let mut found = Vec::new();
    for step in steps {
        let below = met(&step.children);
        if below.is_empty() && step.state == StepState::Waiting {
            let last = step.ended_calls().last().map(|(_, end)| end);
            let message = last.map_or(String::new(), |end| end.detail.clone());
            let why = last.and_then(|end| end.fault).unwrap_or(FaultKind::Limit).as_str();
            found.push(Limit { step: step.path.clone(), why, message });
        }
        found.extend(below);
    }
    found
}

/// What a run waits for, a line for each step.
pub fn notes(end: &RunEnd) -> Vec<String> {
    let RunOutcome::Waiting { until_ms, .. } = end.outcome else { return Vec::new() };
    let until = until_ms.map(|until| local_time(until, now_ms()));
    let limits = met(&end.run.view());
    limits
        .iter()
        .map(|limit| format!("{}: {}", limit.step, limit.words(until.as_deref())))
        .collect()
}

/// All of them in one line; a single one is not named, since its step is beside it.
pub fn in_a_line(limits: &[Limit], until: Option<&str>) -> String {
    match limits {
        [] => until.map_or("limit".to_owned(), |until| format!("limit until {until}")),
        [one] => one.words(until),
        many => {
            let named = many.iter().map(|l| format!("{}: {}", l.step, l.words(until)));
            named.collect::<Vec<_>>().join("; ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_limit_is_reported_with_what_is_known_of_it() {
        let limit = |step: &str, message: &str| Limit {
            step: StepPath::new(step),
            why: "limit",
            message: message.into(),
        };
        let full = limit("edit", "You have hit\nyour limit");
        assert_eq!(full.words(Some("23:00")), "limit until 23:00: You have hit your limit");
        assert_eq!(full.words(None), "limit: You have hit your limit");
        assert_eq!(limit("edit", "").words(None), "limit");
        assert_eq!(
            in_a_line(&[full, limit("b", "")], None),
            "edit: limit: You have hit your limit; b: limit"
        );
    }
}
