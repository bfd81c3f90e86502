//! The key of a job. It identifies what the job is, never when or in which order it ran.

use crate::{JobKind, StepPath};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// `frame/step#visit.attempt.call:kind`. `visit` counts the step's entries in its frame over the
/// whole run, `attempt` the tries of one visit, `call` the agent calls of one attempt, or the line of a
/// document.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobKey {
    /// Path of the recipe step that opened the frame; `None` for the run's own recipe.
    pub frame: Option<StepPath>,
    pub step: String,
    pub visit: u32,
    pub attempt: u32,
    pub call: u32,
    pub kind: JobKind,
}

impl JobKey {
    /// The first call of an attempt of a step.
    pub fn of_step(step: &StepPath, attempt: u32, kind: JobKind) -> JobKey {
        let (frame, own) = step.split();
        let (id, visit) = own.split_once('#').unwrap_or((own, "1"));
        let visit = visit.parse().unwrap_or(1);
        JobKey { frame, step: id.to_owned(), visit, attempt, call: 0, kind }
    }

    pub fn step_path(&self) -> StepPath {
        StepPath::in_frame(self.frame.as_ref(), &self.step, self.visit)
    }
}

impl fmt::Display for JobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(frame) = &self.frame {
            write!(f, "{frame}/")?;
        }
        let JobKey { step, visit, attempt, call, kind, .. } = self;
        write!(f, "{step}#{visit}.{attempt}.{call}:{}", kind.as_str())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a job key")]
pub struct ParseKeyError(String);

impl FromStr for JobKey {
    type Err = ParseKeyError;

    fn from_str(text: &str) -> Result<JobKey, ParseKeyError> {
        parse_key(text).ok_or_else(|| ParseKeyError(text.to_owned()))
    }
}

fn parse_key(text: &str) -> Option<JobKey> {
    let (rest, kind) = text.rsplit_once(':')?;
    let kind = JobKind::ALL.iter().find(|known| known.as_str() == kind)?;
    let (rest, numbers) = rest.rsplit_once('#')?;
    let mut numbers = numbers.split('.').map(|n| n.parse::<u32>().ok());
    let (visit, attempt, call) = (numbers.next()??, numbers.next()??, numbers.next()??);
    let path = StepPath::new(rest);
    let (frame, step) = path.split();
    let step = step.to_owned();
    numbers.next().is_none().then_some(JobKey { frame, step, visit, attempt, call, kind: *kind })
}

impl Serialize for JobKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for JobKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<JobKey, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_written_and_read_back() {
        for text in [
            "build#1.0.0:bash",
            "ci/build#2/test#1.3.1:agent",
            "a#1.0.0:on_error",
            "a#1.0.12:document",
        ] {
            assert_eq!(text.parse::<JobKey>().unwrap().to_string(), text);
        }
        for text in ["", "a", "a#1:bash", "a#1.0.0:nope", "a#x.0.0:bash", "a#1.0.0.0:bash"] {
            assert!(text.parse::<JobKey>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_key_of_a_step_is_found_by_its_path() {
        for text in ["build#1.0.0:bash", "ci/build#2/test#1.3.0:agent", "ci/a-b#12.0.0:bash"] {
            let key: JobKey = text.parse().unwrap();
            assert_eq!(JobKey::of_step(&key.step_path(), key.attempt, key.kind), key);
        }
    }
}
