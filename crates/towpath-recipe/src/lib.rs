//! Recipes: what a user wrote, read and checked.
//!
//! The way of a text through this crate: `yaml` makes a tree with spans out of YAML or JSON,
//! `read` makes a [`Recipe`] out of the tree by the one table in [`field_table`],
//! `check_across_steps` looks at its steps together, `recipe_search` finds what names mean, and
//! [`resolve`] in `resolver` joins every reachable recipe into a [`Plan`] that is stored with the
//! run. Nothing here runs, prints, or knows the environment.

mod across_steps;
mod builtin_recipes;
mod call_cycles;
pub mod condition;
mod condition_warning;
mod context_rule;
mod dialect;
pub mod directory_manifest;
mod draft;
mod edited;
pub mod field_table;
mod find_agent;
mod hidden_failures;
mod include_files;
mod inputs;
mod lints;
mod loaded;
mod machine_analysis;
mod other_tools;
mod other_words;
mod plan;
mod plan_requirement;
mod project_root;
mod read;
mod recipe;
mod recipe_file;
mod recipe_search;
mod request;
mod resolver;
mod schema;
mod standalone;
mod step_options;
mod stray_braces;
mod text_map;
mod unset_variables;
mod variable_flow;
mod variable_shapes;
mod yaml;

pub use builtin_recipes::{DEMO_ANSWERS, builtin, builtin_names};
pub use condition_warning::{ConditionWarning, condition_warnings};
pub use dialect::Dialect;
pub use edited::{Edit, EditedRecipe, edited};
pub use field_table::{StepKind, TIERS};
pub use find_agent::{PlannedAgent, builtin_agents};
pub use inputs::missing;
pub use machine_analysis::{
    Analysis, Bounds, End, EndPath, GuardrailExit, ReachableSteps, Restarts, analyse,
    dry_run_layout, machine_findings,
};
pub use plan::{Plan, PlannedRecipe, Program, plan_hash};
pub use plan_requirement::{PlanRequirement, RequiredBy};
pub use project_root::{is_project, project_root};
pub use read::{FileProvider, Read, ReadContext, is_kebab_case, read, read_in_context};
pub use recipe::{
    AgentWork, Effect, Ending, Flow, Guardrails, Hooks, Machine, Named, OTHER, Outcome, ParseJson,
    PromptDocument, Recipe, RecipeFields, Recursion, RequiredProgram, Step, StepFields, Transition,
    ValueTemplate, VariableUse, Work,
};
pub use recipe_search::{
    Installed, Listed, Origin, SearchDir, SearchPath, list, list_in, list_in_working_directory,
    names, verify_installation,
};
pub use request::{MachineOptions, Request, RunOptions, Tags};
pub use resolver::{Resolved, ShadowedBuiltIn, is_file_reference, resolve};
pub use schema::{machine_schema, schema_head, steps_schema};
pub use standalone::{builtin_alone, standalone};
pub use step_options::{CommandOptions, StepOptions};
pub use towpath_shell::FailFast;
pub use yaml::{MAX_BYTES, parse as parse_yaml};
