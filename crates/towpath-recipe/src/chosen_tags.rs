//! The tags that a user chose, and the steps that they leave out.

use crate::recipe::Step;
use serde::{Deserialize, Serialize};

/// The tags that the user asked for, and those that they ruled out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tags {
    #[serde(default)]
    pub include: Vec<String>,
    #[serde(default)]
    pub exclude: Vec<String>,
}

impl Tags {
    pub fn is_empty(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty()
    }

    /// Why a step does not run with these tags. Untagged steps always do; a tag that is ruled out
    /// wins over one that is asked for.
    pub fn against(&self, step: &Step) -> Option<String> {
        self.against_tags(&step.when_tags)
    }

    pub(crate) fn against_tags(&self, tags: &[String]) -> Option<String> {
        if tags.is_empty() {
            return None;
        }
        if let Some(out) = tags.iter().find(|tag| self.exclude.contains(tag)) {
            return Some(format!("excluded by tag {out}"));
        }
        let asked = tags.iter().any(|tag| self.include.contains(tag));
        let open = self.include.is_empty() && !self.exclude.is_empty();
        (!asked && !open).then(|| format!("needs tag {}", tags.join(" or ")))
    }
}
