//! What the user asked for: a recipe with its variables, and how it is to be run.

use crate::chosen_tags::Tags;
use crate::dialect::Dialect;
use crate::machine_options::MachineOptions;
use crate::recipe_search::SearchPath;
use std::path::PathBuf;
use towpath_core::Map;

/// What the user asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// A path or a name.
    pub reference: String,
    pub working_dir: PathBuf,
    pub search: SearchPath,
    /// What the user set.
    pub inputs: Map,
    pub run_options: RunOptions,
}

/// What the user asked for beyond the recipe and its variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunOptions {
    pub tags: Tags,
    pub no_auto_stage: bool,
    pub machine: MachineOptions,
    pub step_timeout: Option<std::time::Duration>,
    /// By whose rules the recipes are read.
    pub dialect: Dialect,
    /// The user's home directory, for the documents of prompts.
    pub home: Option<String>,
    /// The plan is made to be run, so that its required variables must have values.
    pub to_run: bool,
}
