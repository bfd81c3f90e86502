//! Recipes: what a user wrote, read and checked.
//!
//! The way of a text through this crate: `yaml` makes a tree with spans out of YAML or JSON,
//! `read` makes a [`Recipe`] out of the tree by the one table in [`fields`], `check` looks across
//! its steps, `discover` finds what names mean, and [`resolve`] joins every reachable recipe into a
//! [`Plan`] that is stored with the run. Nothing here runs, prints, or knows the environment.

mod agent;
mod builtin;
mod call_cycles;
mod check;
pub mod condition;
mod discover;
mod edited;
mod extends;
pub mod fields;
mod files;
mod include_files;
mod lints;
mod loaded;
mod machine;
pub mod manifest;
mod model;
mod outline;
mod plan;
mod printed_false;
mod read;
mod request;
mod required_inputs;
mod resolve;
mod schema;
mod scope;
mod standalone;
mod stray_braces;
mod tags;
mod text_map;
mod variables;
mod yaml;

pub use agent::{PlannedAgent, builtin_agents};
pub use builtin::{DEMO_ANSWERS, builtin, builtin_names};
pub use discover::{Listed, Origin, SearchDir, SearchPath, list, names};
pub use edited::{Edit, EditedRecipe, edited};
pub use machine::{
    Analysis, Bounds, End, EndPath, GuardrailExit, Restarts, Ways, analyse, dry_run_layout,
    machine_findings,
};
pub use model::{
    AgentReference, AgentWork, Effect, Extends, Flow, Guardrails, Hooks, Machine, Mode, OTHER,
    Outcome, ParseJson, Recipe, Recursion, Step, StepKind, TIERS, Transition, ValueTemplate,
    VariableUse, Work,
};
pub use plan::{MachineWishes, Plan, PlannedRecipe, Program, Tags, plan_hash};
pub use read::{Beside, FileProvider, Read, is_kebab_case, read, read_beside};
pub use request::{Request, Wishes};
pub use required_inputs::missing;
pub use resolve::{Resolved, ShadowedBuiltIn, is_file_reference, resolve};
pub use schema::{machine_schema, steps_schema};
pub use standalone::{builtin_alone, standalone};
pub use yaml::{MAX_BYTES, parse as parse_yaml};
