//! The journal: one SQLite database with every run's plan, facts and outputs, and what a user
//! has trusted.
//!
//! It keeps text, bytes and times and gives them back as they were; it does not know what a fact
//! means, how a plan is read or when something happened: callers bring all of that. It prints
//! nothing and reads no environment. What is recorded is on disk before a call returns.

mod connection;
mod error;
mod facts;
mod files;
mod integrity;
mod outputs;
mod plans;
mod prune;
mod runs;
mod schema;
mod store;
mod summary;
mod trust;

pub use error::StoreError;
pub use facts::{NewFact, StoredFact};
pub use outputs::{INLINE_LIMIT, Output, OutputRef, StoredOutput, Stream, settle_output};
pub use plans::StoredPlan;
pub use prune::{Reclaimed, disk_usage};
pub use runs::{Found, NewRun, RunFilter, RunRow};
pub use schema::VERSION as SCHEMA_VERSION;
pub use store::Store;
pub use summary::Summary;
pub use trust::{PlanHash, TrustRecord};
