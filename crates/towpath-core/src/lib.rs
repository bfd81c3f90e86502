//! What every other crate uses: values, placeholders in text, diagnostics, reading fields, names
//! and ids.
//!
//! Nothing here prints, looks at the environment or asks the time, and only `files` touches a disk.

mod agent_call_usage;
mod context_values;
mod data_rows;
mod diagnostic;
mod did_you_mean;
mod extract_json;
mod fault_kind;
pub mod fields;
pub mod files;
mod guarded_git;
mod job_key;
mod job_kind;
pub mod os_text;
mod parse_json;
mod parse_toml;
mod placeholder_syntax;
mod program_requirement;
mod program_version;
mod run_id;
mod run_status;
mod safe_name;
mod secret;
mod session_id;
mod set_argument;
pub mod spanned_tree;
mod step_path;
mod stream;
mod template;
mod variable_path;

pub use agent_call_usage::Usage;
pub use context_values::{Map, Number, Value, lookup, number, text_of};
pub use data_rows::{data_rows, data_section};
pub use diagnostic::{Diagnostic, Hint, Label, Severity, Source, Span};
pub use did_you_mean::{nearest, quoted_list};
pub use extract_json::extract_json;
pub use fault_kind::FaultKind;
pub use guarded_git::{GIT_FOREIGN, GIT_GUARDS, guarded_git};
pub use job_key::{JobKey, ParseKeyError};
pub use job_kind::JobKind;
pub use parse_json::parse_json;
pub use parse_toml::parse_toml;
pub use placeholder_syntax::PlaceholderSyntax;
pub use program_requirement::{Requirement, RequirementError, VersionConstraint};
pub use program_version::{NotAVersion, Version};
pub use run_id::RunId;
pub use run_status::{RunStatus, StatusKind};
pub use safe_name::{is_safe_name, is_safe_segment};
pub use secret::{MASK, Masker, SECRETS_VARIABLE, SHORTEST_SECRET, Secrets, TooShort};
pub use session_id::SessionId;
pub use set_argument::{SetError, parse_set, parse_set_value};
pub use step_path::StepPath;
pub use stream::Stream;
pub use template::{Part, Placeholder, Template};
pub use variable_path::VarPath;
