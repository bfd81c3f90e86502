//! The loop by itself: a real plan and a real SQLite journal, and an executor that starts nothing. So
//! every moment of a run can be met exactly, also those that no process would reliably produce.

mod agent_call_sessions_and_faults;
mod failing_journal_writes;
mod fake_executor;
mod job_ends;
mod loop_setup;
mod lost_executor;
mod random_runs_followed;
mod recipe_step_timeouts;
mod recovered_calls;
mod reported_output;
mod stops_and_pauses;

use loop_setup::{Events, Setup};
