#![doc = include_str!("../README.md")]
//!
//! # Below the front
//!
//! [`create`] and [`take_over`] take a run, [`Prepared::drive`] drives it: the loop in `driver.rs` is all
//! of it. Decisions are made by the pure run; jobs are run by an executor (`towpath-executor`), here by
//! children of the run's warden, or by any other that [`Prepared::drive_on`] is given. A fact is on disk
//! before anything that depends on it starts. Everything that a user may see goes to one [`Reporter`] as
//! owned [`Event`]s; this crate prints nothing and reads neither environment nor home directory.

mod agents;
mod as_value;
mod calls;
mod cancel_unowned;
mod census;
mod clock;
mod config;
mod controller;
mod drive;
mod driver;
mod error;
mod evaluate_condition;
mod event_reporter;
mod find_recipes;
mod jobs;
mod journal;
mod masked;
mod models;
mod outputs_read;
mod own_warden;
mod parse_recipe;
mod plan_record;
mod prepared;
mod recipe_manifests;
mod recipe_result;
mod recorded_jobs;
mod recover_agent_calls;
mod render_document;
mod render_template;
mod replay_run;
mod reports;
mod required_programs;
mod resume_answers;
mod run_event_listener;
mod run_follower;
mod run_owner;
mod run_summary;
mod runner_for_embedders;
mod sandboxed_steps;
mod script_lines;
mod session_locks;
mod sessions;
mod settle;
mod started_jobs;
mod step_output;
mod stored_facts;
mod stored_run_options;
mod substitutes;

pub use agents::Agents;
pub use cancel_unowned::{cancel_owned, cancel_unowned};
pub use census::{Census, census};
pub use config::{Config, DriverConfig, GRACE};
pub use controller::Controller;
pub use driver::RunEnd;
pub use error::EngineError;
pub use evaluate_condition::{EvaluateError, evaluate};
pub use event_reporter::Reporter;
pub use find_recipes::{
    SearchedDirectory, discover_recipes, find_recipe, list_recipes, verify_installation,
    verify_installation as verify_global_installation,
};
pub use models::Models;
pub use own_warden::init;
pub use parse_recipe::{Problems, parse_recipe, validate};
pub use prepared::{Changes, Prepared, TakenRun, create, take_over};
pub use recipe_manifests::{check_upstream_changes, sync_upstream, update_manifest};
pub use recipe_result::{RecipeResult, StepReport};
pub use recorded_jobs::{RecordedJob, recorded_jobs};
pub use render_document::{
    DocumentRunner, RenderConfig, RenderEnd, RenderLocation, RenderReporter,
};
pub use render_template::{RenderShellError, render, render_shell};
pub use replay_run::{Recorded, recorded, recorded_machine_options, recorded_options};
pub use required_programs::{
    FoundProgram, MetRequirement, MetRequirements, ProgramsOnPath, RequirementChecker, Unmet,
    UnmetRequirement, UnmetRequirements, check_requirements,
};
pub use resume_answers::ResumeAnswers;
pub use run_event_listener::{
    Listener, Listener as ExecutionListener, NullListener, StderrListener, WriterListener,
};
pub use run_follower::{FollowedJob, JobNews, NewsSink, RunFollower, is_reported};
pub use run_owner::{
    continue_holders, end_holders, has_processes, is_owned, last_owner_of, lock_run, owner_of,
};
pub use run_summary::summary;
pub use runner_for_embedders::{Decision, Error, Runner};
pub use sandboxed_steps::{find_sandbox, not_enforced};
pub use started_jobs::{StartedJob, started_jobs};
pub use step_output::step_output;
pub use stored_run_options::{Options, Worktree};
pub use substitutes::Substitutes;

pub use jiff::tz::TimeZone;
pub use towpath_core::{
    Diagnostic, FaultKind, JobKey, Map, RunId, SessionId, Severity, StepPath, Stream, Value,
    Version, VersionConstraint, extract_json,
};
pub use towpath_executor::{
    Adapter, AdapterError, AgentCall, BashCall, CallProgress, Confinement, DirectoryVariables,
    SessionTree, TerminalText, Variables, WardenStart, new_session, warden_main,
};
pub use towpath_recipe::directory_manifest::{Changes as ManifestChanges, Compared, ManifestError};
pub use towpath_recipe::{
    Listed, Origin, PlanRequirement, Recipe, RequiredBy, SearchDir, SearchPath, Step, Tags,
};
pub use towpath_run::{
    CallEnded, CallStarted, EndedWith, Event, EventKind, Failure, FailureKind, Limits, Movement,
    Reported, RunOutcome, StepResult, StepState, StepStatus, StepView, StopReason,
};
pub use towpath_store::Store;
