//! What the user asked for: a recipe with its variables, and how it is to be run. A part of it is stored
//! with the run.

use crate::dialect::Dialect;
use crate::recipe::Step;
use crate::recipe_search::SearchPath;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;
use towpath_core::{Map, SessionId};

/// The request of a user.
#[derive(Debug, Clone)]
pub struct Request {
    /// A path or a name.
    pub reference: String,
    pub working_dir: PathBuf,
    pub search: SearchPath,
    /// The values that the user set.
    pub inputs: Map,
    pub run_options: RunOptions,
}

/// Options beyond the recipe and its variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunOptions {
    pub tags: Tags,
    pub no_auto_stage: bool,
    pub machine: MachineOptions,
    pub step_timeout: Option<Duration>,
    /// By whose rules the recipes are read.
    pub dialect: Dialect,
    /// The user's home directory, for the documents of prompts.
    pub home: Option<String>,
    /// The plan is made to be run, so that its required variables must have values.
    pub to_run: bool,
}

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

/// Options for machines. Limits win over the recipe's own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_visits: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_restarts: Option<u32>,
    /// The tier of steps that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The first session is this one, which exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The id that others know the run's conversation by. A session that is opened for it gets
    /// this id, where the agent's program takes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<SessionId>,
    /// Comes before the first prompt of every session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Instructions above the prompts of every session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
}

impl MachineOptions {
    pub fn is_empty(&self) -> bool {
        *self == MachineOptions::default()
    }
}
