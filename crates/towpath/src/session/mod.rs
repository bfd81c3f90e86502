//! From a request to a run that has ended: one path for `run`, `resume` and the other names.
//!
//! `request.rs` (what is asked for) → `resolve.rs` (`ChosenRecipe`) → `trust.rs` (consent) →
//! `record.rs` or `resume.rs` (`RecordedRun`) → `drive.rs` (`DrivenRun`) → `conclude.rs` (the exit
//! code). `resume --due` starts a `towpath resume` for each run.

pub mod agents;
mod audit;
mod beads;
pub mod conclude;
mod demo;
mod drive;
pub mod dry_run;
pub mod find_run;
pub mod machine_flags;
mod missing_programs;
mod models;
mod other_runs;
pub mod recipe_list;
mod record;
pub mod request;
pub mod resolve;
pub mod result;
pub mod resume;
pub mod run_status;
pub mod search_path;
pub mod secrets;
pub mod signals;
pub mod time_flags;
pub mod trust;
pub mod wait;
mod worktree;

pub use drive::DrivenRun;

use crate::environment::Environment;
use crate::exit::CommandError;
use crate::terminal::report::{OutputOptions, ReporterKind};
use audit::Audit;
use request::SharedFlags;
use towpath_store::Store;

/// What a run is recorded and driven with.
#[derive(Debug)]
pub struct Session<'a> {
    pub env: &'a Environment,
    pub store: Store,
    pub flags: &'a SharedFlags,
    pub look: OutputOptions,
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
        let look = OutputOptions { quiet, verbose, json, reporter, ..OutputOptions::new(env) };
        let audit = Audit::in_directory(env, flags.audit_dir.as_deref())?;
        flags.events.check()?;
        Ok(Session { env, store, flags, look, audit })
    }
}
