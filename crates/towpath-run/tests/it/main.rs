//! The pure run: its rules as tables, its preview, and the outcomes that it reads from answers.
#![allow(clippy::disallowed_methods, reason = "only the run itself is pure")]

mod events_as_json;
mod outcome_report_cases;
mod preview;
mod step_execution_tables;
