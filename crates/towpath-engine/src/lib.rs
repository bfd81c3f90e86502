#![doc = include_str!("../../../docs/library.md")]
//!
//! # Below the front
//!
//! [`create`] and [`take_over`] take a run, [`Prepared::drive`] drives it: the loop in `run_loop.rs` is all
//! of it. Decisions are made by the pure run; jobs are run by an executor (`towpath-executor`), here by
//! children of the run's warden, or by any other that [`Prepared::drive_on`] is given. A fact is on disk
//! before anything that depends on it starts. Everything that a user may see goes to one [`Reporter`] as
//! owned [`Event`]s; this crate prints nothing and reads neither environment nor home directory.

mod agent_calls;
mod agent_sessions;
mod cancel_run;
mod chosen_agents;
mod clock;
mod config;
mod controller;
mod create_or_take_over;
mod drive_prepared_run;
mod embedded_warden;
mod error;
mod event;
mod find_recipes;
mod job_end;
mod journal;
mod listener;
mod loop_observer;
mod model_names;
mod parse_render_evaluate;
mod recipe_result;
mod recover_agent_calls;
mod render_document;
mod run_follower;
mod run_loop;
mod runner;
mod script_lines_taken;
mod secrets_in_record;
mod step_census;
mod step_output;
mod substitute_commands;

pub use cancel_run::{cancel_owned, cancel_unowned};
pub use chosen_agents::Agents;
pub use config::{Config, DriverConfig, Options, Worktree};
pub use controller::Controller;
pub use create_or_take_over::{
    Changes, Prepared, ResumeAnswers, TakenRun, continue_holders, create, end_holders, is_owned,
    lock_run, owner_of, take_over,
};
pub use embedded_warden::init;
pub use error::EngineError;
pub use event::Reporter;
pub use find_recipes::{
    SearchedDirectory, discover_recipes, find_recipe, list_recipes, verify_installation,
};
pub use journal::{Recorded, recorded, recorded_options};
pub use listener::{Listener, NullListener, StderrListener, WriterListener};
pub use model_names::Models;
pub use parse_render_evaluate::{
    EvaluateError, Problems, evaluate, parse_recipe, render, validate,
};
pub use recipe_result::{RecipeResult, StepReport};
pub use render_document::{DocumentRunner, RenderConfig, RenderEnd, RenderReporter};
pub use run_follower::{FollowedJob, JobNews, NewsSink, RunFollower};
pub use run_loop::RunEnd;
pub use runner::{Decision, Error, Runner};
pub use step_census::{Census, census, summary};
pub use step_output::step_output;
pub use substitute_commands::Substitutes;

pub use jiff::tz::TimeZone;
pub use towpath_core::{
    Diagnostic, FaultKind, JobKey, Map, RunId, SessionId, Severity, StepPath, Stream, Value,
    extract_json,
};
pub use towpath_executor::{
    Adapter, AdapterError, AgentCall, BashCall, CallProgress, DirectoryVariables, SessionTree,
    Variables, WardenStart, new_session, warden_main,
};
pub use towpath_recipe::{Listed, Origin, Recipe, SearchDir, SearchPath, Step, Tags};
pub use towpath_run::{
    CallEnded, CallStarted, EndedWith, Event, EventKind, Failure, FailureKind, Limits, Movement,
    Reported, RunOutcome, StepResult, StepState, StepStatus, StepView, StopReason,
};
pub use towpath_store::Store;
