#![doc = include_str!("../../../docs/library.md")]
//!
//! # Below the front
//!
//! [`create`] and [`take_over`] take a run, [`Prepared::drive`] drives it: the loop in `driver.rs` is all
//! of it. Decisions are made by the pure run; jobs are run by an executor (`towpath-executor`), here by
//! children of the run's warden, or by any other that [`Prepared::drive_on`] is given. A fact is on disk
//! before anything that depends on it starts. Everything that a user may see goes to one [`Reporter`] as
//! owned [`Event`]s; this crate prints nothing and reads neither environment nor home directory.

mod agents;
mod calls;
mod cancel;
mod clock;
mod config;
mod control;
mod drive;
mod driver;
mod error;
mod event;
mod follower;
mod job_end;
mod journal;
mod listener;
mod models;
mod observed;
mod open;
mod outputs;
mod recipes;
mod recovery;
mod result;
mod runner;
mod script_lines;
mod secrets;
mod sessions;
mod substitutes;
mod summary;
mod text;
mod warden;

pub use agents::Agents;
pub use cancel::{cancel_owned, cancel_unowned};
pub use config::{Config, DriverConfig, Options, Worktree};
pub use control::Controller;
pub use driver::RunEnd;
pub use error::EngineError;
pub use event::Reporter;
pub use follower::{FollowedJob, JobNews, NewsSink, RunFollower};
pub use journal::{Recorded, recorded, recorded_options};
pub use listener::{Listener, NullListener, StderrListener, WriterListener};
pub use models::Models;
pub use open::{
    Changes, Prepared, ResumeAnswers, TakenRun, continue_holders, create, end_holders, is_owned,
    lock_run, owner_of, take_over,
};
pub use outputs::step_output;
pub use recipes::{
    SearchedDirectory, discover_recipes, find_recipe, list_recipes, verify_installation,
};
pub use result::{RecipeResult, StepReport};
pub use runner::{Decision, Error, Runner};
pub use substitutes::Substitutes;
pub use summary::{Census, census, summary};
pub use text::{EvaluateError, Problems, evaluate, parse_recipe, render, validate};
pub use warden::init;

pub use jiff::tz::TimeZone;
pub use towpath_core::{
    Diagnostic, FaultKind, JobKey, Map, RunId, SessionId, Severity, StepPath, Stream, Value,
    extract_json,
};
pub use towpath_executor::{
    Adapter, AdapterError, AgentCall, BashCall, DirectoryVariables, SessionTree, Sign, Variables,
    WardenStart, new_session, warden_main,
};
pub use towpath_recipe::{Listed, Origin, Recipe, SearchDir, SearchPath, Step, Tags};
pub use towpath_run::{
    CallEnded, CallStarted, EndedWith, Event, EventKind, Failure, FailureKind, Limits, Movement,
    Reported, RunOutcome, StepResult, StepState, StepStatus, StepView, StopReason,
};
pub use towpath_store::Store;
