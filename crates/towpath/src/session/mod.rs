//! From a request to a run that has ended: one path for `run`, `resume` and the other names.
//!
//! `request_flags.rs` (what is asked for) → `resolve_recipe.rs` (`ChosenRecipe`) → `trust.rs` (consent) →
//! `record_run.rs` or `resume_run.rs` (`RecordedRun`) → `drive_run.rs` (`DrivenRun`) → `conclude.rs` (the exit
//! code). `resume --due` starts a `towpath resume` for each run.

mod audit;
mod beads_database;
pub mod called_as;
pub mod choose_agent;
pub mod choose_recipe;
pub mod conclude;
mod demo_repository;
mod drive_run;
pub mod dry_run;
pub mod find_run;
mod map_model_tiers;
mod missing_programs;
mod other_runs;
pub mod project_scope;
pub mod project_settings;
pub mod read_test_file;
pub mod recipe_list;
pub mod recipe_search_path;
mod record_run;
pub mod request_flags;
pub mod required_programs;
pub mod resolve_recipe;
pub mod result_json;
pub mod resume_run;
pub mod run_status;
mod sandbox_for_steps;
pub mod secret_flag;
pub mod signals;
pub mod state_machine_flags;
pub mod time_flags;
pub mod tools_meeting_requirement;
pub mod trust;
pub mod waiting;
mod worktree;

pub use drive_run::DrivenRun;

use crate::environment::Environment;
use crate::exit::CommandError;
use crate::terminal::report::{OutputOptions, ReporterKind};
use audit::Audit;
use request_flags::SharedFlags;
use towpath_store::Store;

/// What a run is recorded and driven with.
#[derive(Debug)]
pub struct Session<'a> {
    pub env: &'a Environment,
    pub store: Store,
    pub flags: &'a SharedFlags,
    pub output: OutputOptions,
    audit: Option<Audit>,
}

impl<'a> Session<'a> {
    /// Checks that all files that were asked for can be written.
    pub fn new(
        env: &'a Environment,
        store: Store,
        flags: &'a SharedFlags,
        reporter: ReporterKind,
    ) -> Result<Session<'a>, CommandError> {
        let SharedFlags { quiet, verbose, json, .. } = *flags;
        let output = OutputOptions { quiet, verbose, json, reporter, ..OutputOptions::new(env) };
        let audit = Audit::in_directory(env, flags.audit_dir.as_deref())?;
        flags.events.check()?;
        Ok(Session { env, store, flags, output, audit })
    }
}
