//! The journal: one SQLite database with every run's plan, facts and outputs, what a user has
//! trusted, and the correction rules with the calls and corrections that hooks recorded.
//!
//! It keeps text, bytes and times and gives them back as they were; it does not know what a fact
//! means, how a plan is read or when something happened: callers bring all of that. It prints
//! nothing and reads no environment. What is recorded is on disk before a call returns.

mod chain;
mod connection;
mod correction_rules;
mod damage_and_permissions;
mod delete_runs;
mod disk_space;
mod dismissed_suggestions;
mod error;
mod facts;
mod job_output;
mod keep_newest_rows;
mod outputs;
mod pause;
mod plans;
mod private_files;
mod read_dp_aliases;
mod recorded_corrections;
mod run_summary;
mod runs;
mod schema;
mod store;
mod telemetry_event;
mod tool_calls;
mod trust;
mod watch_changes;
mod where_clause;

pub use chain::Sum;
pub use correction_rules::{ProjectRuleRow, SetRule, StoredRule};
pub use disk_space::{Reclaimed, disk_usage};
pub use error::StoreError;
pub use facts::{NewFact, StoredFact};
pub use job_output::Output;
pub use outputs::{INLINE_LIMIT, OutputRef, StoredOutput, Stream, read_output, settle_output};
pub use pause::Pause;
pub use plans::StoredPlan;
pub use private_files::DATABASE;
pub use read_dp_aliases::{DpAliasRow, DpAliases, read_dp_aliases};
pub use recorded_corrections::{CorrectionFilter, CorrectionRow};
pub use run_summary::Summary;
pub use runs::{Found, NewRun, RunFilter, RunRow};
pub use schema::VERSION as SCHEMA_VERSION;
pub use store::Store;
pub use telemetry_event::TelemetryEvent;
pub use tool_calls::{CallCount, CountBy, Order, ToolCallFilter, ToolCallRow};
pub use trust::{PlanHash, TrustRecord};
pub use watch_changes::RunPosition;
