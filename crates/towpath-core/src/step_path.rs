//! The path of a step in a run, through the recipe steps that lead to it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a step is in a run: the recipe steps that lead to its frame, then its own id. A
/// step's second visit to the same frame is written `id#2`. This is what `show` prints and what
/// `--done` and `--again` take.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StepPath(String);

impl StepPath {
    pub fn new(text: impl Into<String>) -> StepPath {
        StepPath(text.into())
    }

    /// The path of a step in the frame that `frame` opened; `None` is the run's own recipe.
    pub fn in_frame(frame: Option<&StepPath>, step: &str, visit: u32) -> StepPath {
        let mut text = frame.map_or(String::new(), |f| format!("{}/", f.0));
        text.push_str(step);
        if visit > 1 {
            text.push_str(&format!("#{visit}"));
        }
        StepPath(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of the recipe step whose frame it is in; none in the run's own recipe.
    pub fn frame(&self) -> Option<StepPath> {
        self.split().0
    }

    pub(crate) fn split(&self) -> (Option<StepPath>, &str) {
        match self.0.rsplit_once('/') {
            Some((frame, own)) => (Some(StepPath(frame.to_owned())), own),
            None => (None, &self.0),
        }
    }

    /// The path as a user knows it, whichever visit it is.
    pub fn without_visits(&self) -> String {
        let plain = |segment: &str| segment.split('#').next().unwrap_or(segment).to_owned();
        self.0.split('/').map(plain).collect::<Vec<_>>().join("/")
    }
}

impl fmt::Display for StepPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
