//! Recipes: what a user wrote, read and checked.
//!
//! The way of a text through this crate: `yaml` makes a tree with spans out of YAML or JSON,
//! `read` makes a [`Recipe`] out of the tree by the one table in [`field_table`],
//! `check_across_steps` looks at its steps together, `recipe_search` finds what names mean, and
//! [`resolve`] in `build_plan` joins every reachable recipe into a [`Plan`] that is stored with the
//! run. Nothing here runs, prints, or knows the environment.

mod build_plan;
mod builtin_recipes;
mod call_cycles;
mod check_across_steps;
mod chosen_tags;
pub mod condition;
mod condition_warnings;
mod context_validation;
mod dialect;
pub mod directory_manifest;
mod edited_since_planned;
mod extends;
pub mod field_table;
mod find_agent;
mod foreign_fields;
mod hidden_failures;
mod include_files;
mod loaded_recipe;
mod machine_analysis;
mod machine_options;
mod other_tools_files;
mod parallel_step_batches;
mod plan;
mod plan_requirements;
mod printed_word_for_no;
mod read;
mod recipe;
mod recipe_files_on_disk;
mod recipe_lints;
mod recipe_outline_for_checks;
mod recipe_search;
mod request;
mod required_inputs;
mod schema;
mod search_directory_status;
mod standalone_yaml;
mod stray_braces;
mod unknown_step_tags;
mod unread_inputs;
mod unset_variables;
mod variable_flow;
mod variable_shapes;
mod yaml;
mod yaml_text_map;

pub use build_plan::{Resolved, ShadowedBuiltIn, is_file_reference, resolve};
pub use builtin_recipes::{DEMO_ANSWERS, builtin, builtin_names};
pub use chosen_tags::Tags;
pub use condition_warnings::{ConditionWarning, condition_warnings};
pub use dialect::Dialect;
pub use edited_since_planned::{Edit, EditedRecipe, edited};
pub use find_agent::{PlannedAgent, builtin_agents};
pub use machine_analysis::{
    Analysis, Bounds, End, EndPath, GuardrailExit, ReachableSteps, Restarts, analyse,
    dry_run_layout, machine_findings,
};
pub use machine_options::MachineOptions;
pub use plan::{Plan, PlannedRecipe, Program, plan_hash};
pub use plan_requirements::{PlanRequirement, RequiredBy};
pub use read::{
    FileProvider, PROMPT_ROOT, Read, ReadContext, is_kebab_case, read, read_in_context,
};
pub use recipe::{
    AgentReference, AgentWork, Effect, Extends, Flow, Guardrails, Hooks, Machine, Mode, OTHER,
    Outcome, ParseJson, PromptDocument, Recipe, Recursion, RequiredProgram, Step, StepKind, TIERS,
    Transition, ValueTemplate, VariableUse, Work,
};
pub use recipe_search::{Listed, Origin, SearchDir, SearchPath, list, list_in, names};
pub use request::{Request, RunOptions};
pub use required_inputs::missing;
pub use schema::{machine_schema, schema_head, steps_schema};
pub use search_directory_status::{Installed, verify_installation};
pub use standalone_yaml::{builtin_alone, standalone};
pub use yaml::{MAX_BYTES, parse as parse_yaml};
